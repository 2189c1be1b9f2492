import { expect, test } from "bun:test";
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temp.ts";

const script = resolve(import.meta.dir, "install.sh");

function install(temp: TemporaryDirectory, env: Readonly<Record<string, string>>) {
  const run = Bun.spawnSync([script], { env: { PATH: "/usr/bin:/bin", HOME: temp.path, MG_TEAM_TEST_MASSGEN: temp.join("venv"), ...env } });
  return { code: run.exitCode, stdout: run.stdout.toString(), stderr: run.stderr.toString() };
}

/** A Python that passes the version check and whose `-m venv` does what the shell line says. */
function pretendPython(temp: TemporaryDirectory, venv: string): string {
  const path = temp.write("python", `#!/bin/sh\ncase "$1" in -m) ${venv} ;; --version) echo Python 3.11.0 ;; esac\n`);
  chmodSync(path, 0o755);
  return path;
}

test("the lock file pins every package and names no index", () => {
  const lines = readFileSync(resolve(import.meta.dir, "requirements.txt"), "utf8")
    .trim()
    .split("\n");
  expect(lines).toContain("massgen==0.1.97");
  expect(lines).toContain("mcp==1.27.2");
  expect(lines.filter((line) => !/^[A-Za-z0-9._-]+==[^\s@]+$/.test(line))).toEqual([]);
});

test("without a recent Python it names the Debian packages", async () => {
  await using temp = temporaryDirectory();
  const { code, stderr } = install(temp, { PYTHON: "/bin/false" });
  expect(code).toBe(1);
  expect(stderr).toContain("apt-get install python3 python3-venv");
});

test("when venv is missing it names the Debian package", async () => {
  await using temp = temporaryDirectory();
  const { code, stderr } = install(temp, { PYTHON: pretendPython(temp, "exit 1") });
  expect(code).toBe(1);
  expect(stderr).toContain("apt-get install python3-venv");
});

test("a directory that is no virtual environment is left alone", async () => {
  await using temp = temporaryDirectory();
  temp.write("venv/thesis.txt", "precious");
  const { code, stderr } = install(temp, { PYTHON: pretendPython(temp, "exit 0") });
  expect(code).toBe(1);
  expect(stderr).toContain("is not a virtual environment");
  expect(existsSync(temp.join("venv/thesis.txt"))).toBe(true);
});

test("an installation that was interrupted is made anew", async () => {
  await using temp = temporaryDirectory();
  temp.write("venv/pyvenv.cfg", "home = /usr/bin\n");
  temp.write("venv/bin/half", "");
  const { code, stderr } = install(temp, { PYTHON: pretendPython(temp, "exit 1") });
  expect(code).toBe(1);
  expect(stderr).toContain("installing 263 packages");
  expect(existsSync(temp.join("venv/bin/half"))).toBe(false);
});
