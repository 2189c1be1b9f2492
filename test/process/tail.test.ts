import { describe, expect, test } from "bun:test";
import { appendFileSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { LogTail } from "../../src/process/tail.ts";
import { temporaryDirectory } from "../support/temp.ts";

function follow(path: string, cap = 1 << 20) {
  const lines: string[] = [];
  return { lines, tail: new LogTail(path, cap, (line) => lines.push(line)) };
}

describe("following a log", () => {
  test("delivers what is appended, in order, and a last line without newline only at the end", async () => {
    await using temp = temporaryDirectory();
    const path = temp.write("log", "");
    const { lines, tail } = follow(path);
    expect(tail.poll()).toBe("idle");
    appendFileSync(path, "one\ntw");
    expect(tail.poll()).toBe("read");
    expect(lines).toEqual(["one"]);
    appendFileSync(path, "o\nlast");
    tail.poll();
    expect(lines).toEqual(["one", "two"]);
    await tail.finish();
    expect(lines).toEqual(["one", "two", "last"]);
  });

  test("leaves out what an earlier start has written", async () => {
    await using temp = temporaryDirectory();
    const path = temp.write("log", "old\nold without end");
    const { lines, tail } = follow(path);
    appendFileSync(path, "new\n");
    await tail.finish();
    expect(lines).toEqual(["new"]);
  });

  test("goes on with the new text when the log was emptied (> /dev/stderr), even when it has grown past the old end", async () => {
    await using temp = temporaryDirectory();
    const path = temp.write("log", "");
    const { lines, tail } = follow(path);
    appendFileSync(path, "before\n");
    tail.poll();
    truncateSync(path, 0);
    appendFileSync(path, "a\n");
    tail.poll();
    writeFileSync(path, "much longer than before\n");
    await tail.finish();
    expect(lines).toEqual(["before", "a", "much longer than before"]);
  });
});

describe("a log that outgrows its cap (fault 9)", () => {
  const cap = 64 * 1024;

  test("keeps its first half and its newest lines, with the cut marked", async () => {
    await using temp = temporaryDirectory();
    const path = temp.write("log", "");
    const { lines, tail } = follow(path, cap);
    appendFileSync(path, `first line\n${`${"x".repeat(99)}\n`.repeat(10_000)}ACTION: vote\n`);
    await tail.finish();
    const log = readFileSync(path, "utf8");
    expect(log.length).toBeLessThanOrEqual(cap);
    expect(log.startsWith("first line\n")).toBe(true);
    expect(log.endsWith("x\nACTION: vote\n")).toBe(true);
    expect(log.match(/\n\[mg-team: about \d+ bytes were cut here, the log had outgrown 65536 bytes\]\n/g)?.length).toBe(1);
    expect(lines[0]).toBe("first line");
    expect(lines.at(-1)).toBe("ACTION: vote");
    expect(lines.filter((line) => line.startsWith("[mg-team: about")).length).toBe(1);
  });

  test("stays below it however long a writer in append mode goes on, and every line that was read before stays read once", async () => {
    await using temp = temporaryDirectory();
    const path = temp.write("log", "");
    const { lines, tail } = follow(path, cap);
    for (let block = 0; block < 200; block++) {
      appendFileSync(path, Array.from({ length: 100 }, (_, at) => `line ${block * 100 + at}\n`).join(""));
      tail.poll();
      expect(statSync(path).size).toBeLessThan(cap + 2000);
    }
    await tail.finish();
    expect(lines.filter((line) => line.startsWith("line"))).toEqual(Array.from({ length: 20_000 }, (_, at) => `line ${at}`));
  });

  test("does not touch what an earlier start has written", async () => {
    await using temp = temporaryDirectory();
    const old = `${"old".repeat(1000)}\n`.repeat(100);
    const path = temp.write("log", old);
    const { tail } = follow(path, cap);
    appendFileSync(path, "y\n".repeat(cap));
    await tail.finish();
    const log = readFileSync(path, "utf8");
    expect(log.startsWith(old)).toBe(true);
    expect(log.length).toBeLessThanOrEqual(old.length + cap);
  });
});
