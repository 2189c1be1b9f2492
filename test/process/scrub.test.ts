import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { scrubLogs } from "../../src/process/scrub.ts";
import { createRedactor } from "../../src/session/redact.ts";
import { temporaryDirectory } from "../support/temp.ts";
import { testGround } from "./support.ts";

setDefaultTimeout(60_000); // a busy machine is no fault

const key = "my-very-secret-key-é";
const redact = createRedactor([key]);

describe("a key that a child prints", () => {
  test("is neither in its logs nor in its lines", async () => {
    await using ground = testGround();
    const child = ground.sh(`echo "using ${key}"; echo "bad key: ${key}" >&2; printf '\\351\\n' >&2; exit 2`, { redact });
    expect(await child.exited).toMatchObject({ code: 2 });
    expect(child.lines.stdout).toEqual(["using [redacted]"]);
    expect(readFileSync(ground.join("stdout.log"), "utf8")).toBe("using [redacted]\n");
    expect(readFileSync(ground.join("stderr.log")).includes(key)).toBe(false);
    expect(readFileSync(ground.join("stderr.log"), "latin1")).toEndWith("\xe9\n");
    expect(statSync(ground.join("stderr.log")).mode & 0o777).toBe(0o600);
  });

  test("is taken out of a log of many megabytes, wherever it stands", async () => {
    await using temp = temporaryDirectory();
    const line = `${"x".repeat(1000)}\n`;
    temp.write("stdout.log", `${key}\n${line.repeat(3000)}in the middle ${key}\n${line.repeat(3000)}end ${key}`);
    expect(await scrubLogs(temp.path, redact)).toEqual([]);
    const clean = readFileSync(temp.join("stdout.log"), "utf8");
    expect(clean.includes(key)).toBe(false);
    expect(clean.match(/\[redacted\]/g)?.length).toBe(3);
    expect(clean.length).toBe(6000 * line.length + "[redacted]\nin the middle [redacted]\nend [redacted]".length);
  });
});

describe("scrubbing", () => {
  test("leaves a clean log as it is, to the byte and the inode", async () => {
    await using temp = temporaryDirectory();
    const path = temp.write("stderr.log", Buffer.from([0, 255, 10, 13, 0xe9]));
    const inode = statSync(path).ino;
    expect(await scrubLogs(temp.path, redact)).toEqual([]);
    expect(statSync(path).ino).toBe(inode);
    expect([...readFileSync(path)]).toEqual([0, 255, 10, 13, 0xe9]);
  });

  test("keeps bytes that are not UTF-8 around what it takes out", async () => {
    await using temp = temporaryDirectory();
    temp.write("stderr.log", Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("plain-secret"), Buffer.from([0xe9])]));
    await scrubLogs(temp.path, createRedactor(["plain-secret"]));
    expect(readFileSync(temp.join("stderr.log"))).toEqual(
      Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("[redacted]"), Buffer.from([0xe9])]),
    );
  });

  test("neither follows a link that a step put in the place of its log, nor waits on a pipe, and says so", async () => {
    await using temp = temporaryDirectory();
    const precious = temp.write("precious", `mine: ${key}`);
    mkdirSync(temp.join("run"));
    symlinkSync(precious, temp.join("run/stdout.log"));
    Bun.spawnSync(["mkfifo", temp.join("run/stderr.log")]);
    const problems = await scrubLogs(temp.join("run"), redact);
    expect(problems.length).toBe(2);
    expect(problems[0]).toContain("is a link that leaves its directory");
    expect(problems[1]).toContain("is no regular file");
    expect(readFileSync(precious, "utf8")).toBe(`mine: ${key}`);
  });
});
