import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { childEnvironment } from "../../src/process/environment.ts";
import { readExitRecord } from "../../src/process/exit.ts";
import { testGround } from "./support.ts";

setDefaultTimeout(60_000); // a busy machine is no fault

describe("a child", () => {
  test("delivers both streams, ends with its exit code, and leaves logs and an exit record", async () => {
    await using ground = testGround();
    const before = Date.now();
    const child = ground.sh("echo out; echo err >&2; printf 'no newline'; exit 3");
    const exit = await child.exited;
    expect(exit).toMatchObject({ code: 3, signal: null, stopCause: null, spawnError: null });
    expect(exit.warnings).toBeUndefined();
    expect(exit.seconds).toBeGreaterThan(0);
    expect(child.lines).toEqual({ stdout: ["out", "no newline"], stderr: ["err"] });
    expect(readFileSync(ground.join("stdout.log"), "utf8")).toBe("out\nno newline");
    expect(readFileSync(ground.join("stderr.log"), "utf8")).toBe("err\n");
    const record = readExitRecord(ground.path);
    expect(record).toMatchObject({ code: 3, signal: null });
    expect(record?.startedAt).toBeGreaterThanOrEqual(before);
    for (const name of ["stdout.log", "stderr.log", "exit.json"]) expect(statSync(ground.join(name)).mode & 0o777).toBe(0o600);
  });

  test("delivers lines while it runs", async () => {
    await using ground = testGround();
    const child = ground.sh("echo ready; read -r line; sleep 60");
    await child.saw("ready");
    expect((await child.stop("test", { now: true })).stopCause).toBe("test");
  });

  test("that a signal ended says which", async () => {
    await using ground = testGround();
    expect(await ground.sh("kill -SEGV $$").exited).toMatchObject({ code: null, signal: "SIGSEGV", stopCause: null });
    expect(readExitRecord(ground.path)).toMatchObject({ code: null, signal: "SIGSEGV" });
  });

  test("reads an empty stdin, and has no other descriptor of ours", async () => {
    await using ground = testGround();
    const child = ground.sh("cat; ls /proc/$$/fd");
    expect((await child.exited).code).toBe(0);
    expect(child.lines.stdout).toEqual(["0", "1", "2"]);
  });

  test("gets the bytes of its arguments untouched", async () => {
    await using ground = testGround();
    const nasty = ["-n", "--", "", " ", "a\nb\r\n", "'\"`$(id)$HOME\\", "*?[a]~", "é€😀\u0081\u0088\u2028", "\x01\x1b\x7f", "@types/node"];
    const child = ground.start(["python3", "-c", "import json, sys; print(json.dumps(sys.argv[1:]))", ...nasty]);
    await child.exited;
    expect(JSON.parse(child.lines.stdout.join("\n"))).toEqual(nasty);
  });

  test("is started by its path even when its name is one of the shell's own words", async () => {
    await using ground = testGround();
    ground.write("bin/export", "#!/bin/sh\necho mine\n");
    Bun.spawnSync(["chmod", "+x", ground.join("bin/export")]);
    const child = ground.start(["export"], { env: { ...childEnvironment(), PATH: `${ground.join("bin")}:${process.env.PATH}` } });
    await child.exited;
    expect(child.lines.stdout).toEqual(["mine"]);
  });

  test("works in directories with spaces, accents, quotes and a newline in their names", async () => {
    await using ground = testGround("a b'c\"é\n$(x) \\");
    const child = ground.sh('pwd; printf "%s\\n" "$PWD"');
    expect((await child.exited).code).toBe(0);
    expect(child.lines.stdout.join("\n")).toBe(`${ground.path}\n${ground.path}`);
    expect(readExitRecord(ground.path)?.code).toBe(0);
  });

  test("has default signal handling: Ctrl-C is not ignored in it", async () => {
    await using ground = testGround();
    const child = ground.sh("grep SigIgn /proc/self/status; grep SigIgn /proc/$$/status");
    await child.exited;
    const ignored = child.lines.stdout.map((line) => Number.parseInt(line.split("\t")[1] ?? "", 16) & 0b100000000000110); // INT, QUIT, TERM
    expect(ignored).toEqual([0, 0]);
  });

  test("runs though PATH leads to no system program", async () => {
    await using ground = testGround();
    const child = ground.start([process.execPath, "-e", "console.log(process.env.PATH)"], { env: { PATH: "/nowhere" } });
    expect((await child.exited).code).toBe(0);
    expect(child.lines.stdout).toEqual(["/nowhere"]);
    expect(readExitRecord(ground.path)?.code).toBe(0);
  });

  test("in a directory of an earlier start appends to its logs and replaces its exit record", async () => {
    await using ground = testGround();
    await ground.sh("echo one; exit 1").exited;
    const again = ground.sh("test -e exit.json && echo stale; echo two");
    await again.exited;
    expect(again.lines.stdout).toEqual(["two"]);
    expect(readFileSync(ground.join("stdout.log"), "utf8")).toBe("one\ntwo\n");
    expect(readExitRecord(ground.path)?.code).toBe(0);
  });

  test("that exits 126 or 127 by itself did start", async () => {
    await using ground = testGround();
    for (const code of [126, 127]) expect(await ground.sh(`exit ${code}`).exited).toMatchObject({ code, spawnError: null });
    expect(await ground.sh("nonesuch-program").exited).toMatchObject({ code: 127, spawnError: null });
  });

  test("whose run directory was removed still has a known end, with a warning", async () => {
    await using ground = testGround();
    const logDir = ground.join("logs");
    mkdirSync(logDir);
    const child = ground.sh("echo on; while [ -e ../run/logs ]; do sleep 0.02; done; exit 5", { logDir });
    await child.saw("on");
    rmSync(logDir, { recursive: true });
    const exit = await child.exited;
    expect(exit.code).toBe(5);
    expect(exit.warnings?.join()).toContain("exit.json");
  });
});

test("five children start within 100 ms of each other", async () => {
  await using ground = testGround();
  let least = Number.POSITIVE_INFINITY;
  // On a busy machine any one of them may be late: what counts is what starting them costs.
  for (let attempt = 0; attempt < 5 && least >= 100; attempt++) {
    const children = [1, 2, 3, 4, 5].map((n) => ground.sh("date +%s%N", { logDir: ground.join(String(attempt * 5 + n)) }));
    await Promise.all(children.map((child) => child.exited));
    const starts = children.map((child) => Number(child.lines.stdout[0]) / 1e6);
    least = Math.min(least, Math.max(...starts) - Math.min(...starts));
  }
  expect(least).toBeLessThan(100);
});

test("1 MB on stderr holds nobody up and is all there", async () => {
  await using ground = testGround();
  const child = ground.sh("head -c 1000000 /dev/zero | tr '\\0' 'e' >&2; echo answered");
  expect((await child.exited).code).toBe(0);
  expect(child.lines.stdout).toEqual(["answered"]);
  expect(child.lines.stderr.join("").length).toBe(1_000_000);
  expect(statSync(ground.join("stderr.log")).size).toBe(1_000_000);
});
