import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, copyFileSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { type ChildSpec, startChild } from "../../src/process/child.ts";
import { childEnvironment } from "../../src/process/environment.ts";
import { checkLaunch, execErrorOf } from "../../src/process/launch.ts";
import { type Ground, testGround } from "./support.ts";

setDefaultTimeout(60_000); // a busy machine is no fault

function program(ground: Ground, name: string, content: string | Uint8Array, mode = 0o755): string {
  const path = ground.write(name, content);
  chmodSync(path, mode);
  return path;
}

describe("what cannot be started is data with its true cause (fault 12)", () => {
  type Case = [title: string, code: string, message: RegExp, prepare: (ground: Ground) => Partial<ChildSpec> & { argv: readonly string[] }];
  const cases: Case[] = [
    ["a missing program", "ENOENT", /^program not found on PATH: nonesuch$/, () => ({ argv: ["nonesuch"] })],
    ["a missing path", "ENOENT", /^program not found: \/no\/such$/, () => ({ argv: ["/no/such"] })],
    ["an empty name", "ENOENT", /empty name/, () => ({ argv: [""] })],
    ["no command at all", "ENOENT", /empty name/, () => ({ argv: [] })],
    [
      "a missing working directory",
      "ENOENT",
      /^working directory does not exist: \/no\/such$/,
      () => ({ argv: ["true"], cwd: "/no/such" }),
    ],
    ["a file as working directory", "ENOTDIR", /^working directory is not a directory/, () => ({ argv: ["true"], cwd: "/etc/passwd" })],
    ["a directory as program", "EACCES", /is a directory, not a program$/, (ground) => ({ argv: [ground.path] })],
    [
      "a file without x",
      "EACCES",
      /is not executable \(chmod \+x\)$/,
      (ground) => ({ argv: [program(ground, "p", "#!/bin/sh\n", 0o644)] }),
    ],
    [
      "a dangling link",
      "ENOENT",
      /^program not found/,
      (ground) => {
        symlinkSync("/no/such", ground.join("link"));
        return { argv: [ground.join("link")] };
      },
    ],
    [
      "a missing interpreter",
      "ENOENT",
      /^interpreter \/no\/python3 not found \(first line of /,
      (ground) => ({ argv: [program(ground, "p", "#!/no/python3 -u\n")] }),
    ],
    [
      "an interpreter with Windows line ends",
      "ENOENT",
      /^interpreter "\/bin\/sh\\r" not found .*Windows line ends$/,
      (ground) => ({ argv: [program(ground, "p", "#!/bin/sh\r\necho\r\n")] }),
    ],
    [
      "an interpreter that may not run",
      "EACCES",
      /^interpreter .* is not executable/,
      (ground) => ({ argv: [program(ground, "p", `#!${program(ground, "i", "x", 0o644)}\n`)] }),
    ],
    [
      "an interpreter missing on PATH",
      "ENOENT",
      /^interpreter python9 not found on PATH/,
      (ground) => ({ argv: [program(ground, "p", "#!/usr/bin/env python9\n")] }),
    ],
    ["an empty #! line", "ENOEXEC", /has an empty #! line$/, (ground) => ({ argv: [program(ground, "p", "#!\n")] })],
    ["a script without #! line", "ENOEXEC", /has no #! line$/, (ground) => ({ argv: [program(ground, "p", "echo hello\n")] })],
    ["an empty file", "ENOEXEC", /is no program for this machine/, (ground) => ({ argv: [program(ground, "p", "")] })],
    [
      "garbage",
      "ENOEXEC",
      /is no program for this machine/,
      (ground) => ({ argv: [program(ground, "p", new Uint8Array([1, 0, 2, 0, 255]))] }),
    ],
    ["a program for another machine", "ENOEXEC", /is no program for this machine/, (ground) => ({ argv: [foreign(ground)] })],
    [
      "a program whose loader is missing",
      "ENOENT",
      /^the loader or interpreter of .* was not found$/,
      (ground) => ({ argv: [withoutLoader(ground)] }),
    ],
    ["an argument of 128 KiB", "E2BIG", /its longest argument has 131072 bytes/, () => ({ argv: ["true", "x".repeat(131072)] })],
    ["an argument with NUL", "EINVAL", /NUL byte/, () => ({ argv: ["true", "a\0b"] })],
    [
      "a name that PATH finds only without x",
      "EACCES",
      /is not executable/,
      (ground) => {
        program(ground, "bin/tool", "#!/bin/sh\n", 0o644);
        return { argv: ["tool"], env: { ...childEnvironment(), PATH: ground.join("bin") } };
      },
    ],
  ];
  for (const [title, code, message, prepare] of cases) {
    test(title, async () => {
      await using ground = testGround();
      const spec = prepare(ground);
      const child = ground.start(spec.argv, spec);
      const exit = await child.exited;
      expect(exit).toMatchObject({ code: null, signal: null, stopCause: null, spawnError: { code } });
      expect(exit.spawnError?.message).toMatch(message);
      expect(readFileSync(ground.join("stderr.log"), "utf8")).toMatch(/^mg-team(-start-\w+)?: .+\n$/); // ours, or the shell's that tried
      expect(await child.stop("late", { now: true })).toEqual(exit);
    });
  }

  test("a log directory that is missing", async () => {
    await using ground = testGround();
    const exit = await startChild({ argv: ["true"], cwd: ground.path, env: {}, cookie: ground.cookie, logDir: ground.join("no") }).exited;
    expect(exit.spawnError).toEqual({ code: "ENOENT", message: `cannot open the logs in ${ground.join("no")}: no such file or directory` });
  });

  test("one of several that fails leaves the others alone", async () => {
    await using ground = testGround();
    const children = [["true"], ["nonesuch"], ["true"]].map((argv, n) => ground.start(argv, { logDir: ground.join(String(n)) }));
    const exits = await Promise.all(children.map((child) => child.exited));
    expect(exits.map((exit) => exit.code)).toEqual([0, null, 0]);
    expect(exits.map((exit) => exit.spawnError?.code)).toEqual([undefined, "ENOENT", undefined]);
  });
});

describe("what can be started passes the check", () => {
  test("as execvp would find it", async () => {
    await using ground = testGround();
    program(ground, "first/tool", "#!/bin/sh\n", 0o644);
    const second = program(ground, "second/tool", "#!/usr/bin/env -S sh -e\n");
    const env = { PATH: `${ground.join("first")}:relative:${ground.join("second")}:/usr/bin:/bin` };
    expect(checkLaunch(["tool"], ground.path, env)).toEqual({ program: second });
    expect(checkLaunch(["./second/tool"], ground.path, env)).toEqual({ program: second });
    const relative = program(ground, "relative/other", "#! /bin/sh -e\n");
    expect(checkLaunch(["other"], ground.path, env)).toEqual({ program: relative });
  });
});

test("the shell's messages about a program that would not run are told apart, in dash, busybox and bash", () => {
  const code = (message: string) => execErrorOf(message, "/p").code;
  expect(code("1: exec: ./p: not found")).toBe("ENOENT");
  expect(code("line 1: /p: cannot execute: required file not found")).toBe("ENOENT");
  expect(code("line 1: /p: No such file or directory")).toBe("ENOENT");
  expect(code("exec: line 0: /p: Permission denied")).toBe("EACCES");
  expect(code("1: exec: /p: Exec format error")).toBe("ENOEXEC");
  expect(code("line 1: /p: cannot execute binary file: Exec format error")).toBe("ENOEXEC");
  expect(code("1: exec: /p: Argument list too long")).toBe("E2BIG");
  expect(code("1: exec: /p: Text file busy")).toBe("ETXTBSY");
  expect(code("1: exec: /p: Too many levels of symbolic links")).toBe("ENOEXEC");
});

function foreign(ground: Ground): string {
  const header = Buffer.alloc(64);
  header.write("\x7fELF\x02\x01\x01", "latin1");
  header.writeUInt16LE(2, 16);
  header.writeUInt16LE(process.arch === "arm64" ? 62 : 183, 18);
  return program(ground, "foreign", header);
}

function withoutLoader(ground: Ground): string {
  const path = ground.join("true");
  copyFileSync("/bin/true", path);
  const bytes = readFileSync(path);
  const at = bytes.indexOf("/lib64/ld-linux");
  const loader = at >= 0 ? at : bytes.indexOf("/lib/ld-linux");
  bytes.write("/nox", loader);
  writeFileSync(path, bytes);
  chmodSync(path, 0o755);
  return path;
}
