import { describe, expect, test } from "bun:test";
import { appendFileSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import type { Clock } from "../../src/clock.ts";
import type { EventBody } from "../../src/session/events.ts";
import { type Journal, openJournal, readJournal } from "../../src/session/journal.ts";
import { temporaryDirectory } from "../support/temp.ts";

const clock: Clock = { now: () => 0, date: () => Date.UTC(2026, 10, 29, 18, 15, 0, 7), sleep: async () => {} };
const warning = (message: string): EventBody => ({ type: "preflight.warning", message });

function open(path: string): Journal & Disposable {
  const journal = openJournal(path, { elapsed: () => 1.23456, clock });
  return Object.assign(journal, { [Symbol.dispose]: () => journal.close() });
}

const messages = (path: string) =>
  readJournal(path).events.map((event) => (event.type === "preflight.warning" ? event.message : event.type));

describe("the journal", () => {
  test("holds one event a line, with envelope, for the owner only", async () => {
    await using temp = temporaryDirectory();
    const path = temp.join("events.jsonl");
    using journal = open(path);
    const event = journal.append(warning("a\nb"));
    journal.append(warning("c"), { durable: true });
    expect(event).toEqual({ v: 1, seq: 1, ts: "2026-11-29T18:15:00.007Z", elapsed: 1.235, type: "preflight.warning", message: "a\nb" });
    expect(readFileSync(path, "utf8").split("\n").length).toBe(3);
    expect(readJournal(path)).toMatchObject({ torn: false, damaged: 0 });
    expect(readJournal(path).events[0]).toEqual(event);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test("numbers go on without a gap when it is opened again", async () => {
    await using temp = temporaryDirectory();
    const path = temp.join("events.jsonl");
    for (const message of ["a", "b", "c"]) {
      using journal = open(path);
      journal.append(warning(message));
    }
    expect(readJournal(path).events.map((event) => event.seq)).toEqual([1, 2, 3]);
  });

  test("numbers go on behind a last event of no use, which stays in the file", async () => {
    await using temp = temporaryDirectory();
    const path = temp.write(
      "events.jsonl",
      `${JSON.stringify({ v: 1, seq: 7, ts: "2026-11-30T00:00:00Z", elapsed: 1, type: "ballots" })}\n`,
    );
    using journal = open(path);
    expect(journal.append(warning("a")).seq).toBe(8);
    expect(readJournal(path)).toMatchObject({ events: [{ seq: 8 }], damaged: 1 });
  });

  test("that does not exist is empty", async () => {
    await using temp = temporaryDirectory();
    expect(readJournal(temp.join("none"))).toEqual({ events: [], torn: false, damaged: 0 });
  });

  test("cut anywhere in its last line loses that line only, and the next one is whole", async () => {
    await using temp = temporaryDirectory();
    const path = temp.join("events.jsonl");
    {
      using journal = open(path);
      for (const message of ["first", "second é€😀"]) journal.append(warning(message));
    }
    const whole = readFileSync(path);
    const begin = whole.indexOf(10) + 1;
    for (let cut = begin + 1; cut < whole.length; cut++) {
      writeFileSync(path, whole.subarray(0, cut));
      expect(readJournal(path)).toMatchObject({ torn: true, damaged: 0 });
      expect(messages(path)).toEqual(["first"]);
      using journal = open(path);
      expect(readJournal(path).torn).toBe(false);
      expect(journal.append(warning("next")).seq).toBe(2);
      expect(messages(path)).toEqual(["first", "next"]);
    }
  });

  test("with zeros at its end, as after a power cut, is cut there", async () => {
    await using temp = temporaryDirectory();
    const path = temp.join("events.jsonl");
    {
      using journal = open(path);
      journal.append(warning("first"));
    }
    appendFileSync(path, `${"\0".repeat(4096)}\n`);
    expect(readJournal(path).torn).toBe(true);
    using journal = open(path);
    journal.append(warning("next"));
    expect(messages(path)).toEqual(["first", "next"]);
    expect(readJournal(path)).toMatchObject({ torn: false, damaged: 0 });
  });

  test("with a damaged line in the middle is read around it, and says so", async () => {
    await using temp = temporaryDirectory();
    const path = temp.join("events.jsonl");
    {
      using journal = open(path);
      journal.append(warning("first"));
      appendFileSync(path, 'garbage\n{"v":2,"seq":9}\n[]\nnull\n');
      journal.append(warning("second"));
    }
    expect(messages(path)).toEqual(["first", "second"]);
    expect(readJournal(path)).toMatchObject({ torn: false, damaged: 4 });
  });

  test("refuses a durable line once it is removed, or another file is in its place", async () => {
    await using temp = temporaryDirectory();
    const spoils: ((path: string) => void)[] = [
      (path) => rmSync(path),
      (path) => renameSync(path, `${path}.moved`),
      (path) => {
        renameSync(path, `${path}.moved`);
        writeFileSync(path, "");
      },
    ];
    for (const [at, spoil] of spoils.entries()) {
      const path = temp.join(`events${at}.jsonl`);
      using journal = open(path);
      journal.append(warning("a"), { durable: true });
      spoil(path);
      const append = () => journal.append(warning("b"), { durable: true });
      expect(append).toThrow(expect.objectContaining({ code: "write", message: expect.stringContaining("no such file or directory") }));
    }
  });

  test("refuses events after its end", async () => {
    await using temp = temporaryDirectory();
    const journal = open(temp.join("events.jsonl"));
    journal.close();
    journal.close();
    expect(() => journal.append(warning("late"))).toThrow("the journal is closed");
  });

  test("that cannot be opened says why", async () => {
    await using temp = temporaryDirectory();
    expect(() => open(temp.path)).toThrow(/^cannot open the journal .*: a directory is in its place \(EISDIR\)$/);
  });
});

describe("a line of the journal is below 8 KiB:", () => {
  const size = (path: string) =>
    Math.max(
      ...readFileSync(path, "utf8")
        .split("\n")
        .map((line) => Buffer.byteLength(line) + 1),
    );

  test("long strings are shortened, with a mark of how much, between whole characters, and the caller sees it so too", async () => {
    await using temp = temporaryDirectory();
    const path = temp.join("events.jsonl");
    using journal = open(path);
    for (const text of ["x", "é", "😀", '"', "\u0001", "\\"]) {
      const long = text.repeat(20_000);
      const event = journal.append(warning(long));
      const [, kept = "", more] = (event.type === "preflight.warning" ? event.message : "").match(/^(.*)… \((\d+) bytes more\)$/s) ?? [];
      expect(long.startsWith(kept)).toBe(true);
      expect(kept.length % text.length).toBe(0);
      expect(Buffer.byteLength(kept) + Number(more)).toBe(Buffer.byteLength(long));
      expect(readJournal(path).events.at(-1)).toEqual(event);
    }
    expect(size(path)).toBeLessThan(8192);
  });

  test("wherever they are, the longest first; short ones stay", async () => {
    await using temp = temporaryDirectory();
    const path = temp.join("events.jsonl");
    using journal = open(path);
    const ballot = (reason: string) => ({
      voter: "agent_a",
      target: "agent_b",
      step: 1,
      round: 1,
      self: false,
      standing: "stale" as const,
      why: reason,
    });
    const event = journal.append({
      type: "ballots",
      round: 1,
      ballots: [ballot("y".repeat(50_000)), ballot("z".repeat(300))],
      tally: { agent_b: 2 },
    });
    if (event.type !== "ballots") throw new Error("another event");
    expect(event.ballots[0]?.why).toMatch(/^y{100,}… \(\d+ bytes more\)$/);
    expect(event.ballots[1]?.why).toBe("z".repeat(300));
    expect(size(path)).toBeLessThan(8192);
  });

  test("exactly fitting text stays as it is", async () => {
    await using temp = temporaryDirectory();
    const path = temp.join("events.jsonl");
    using journal = open(path);
    journal.append(warning(""));
    const envelope = statSync(path).size;
    const fitting = "x".repeat(8191 - envelope);
    const event = journal.append(warning(fitting));
    expect(event.type === "preflight.warning" && event.message).toBe(fitting);
    expect(size(path)).toBe(8191);
  });

  test("what cannot be made to fit is a bug, and is not written", async () => {
    await using temp = temporaryDirectory();
    const path = temp.join("events.jsonl");
    using journal = open(path);
    const agents = Array.from({ length: 2000 }, (_, at) => `agent_${at}`);
    expect(() => journal.append({ type: "round.started", round: 1, agents })).toThrow("does not fit into a line");
    expect(journal.append(warning("next")).seq).toBe(1);
  });
});
