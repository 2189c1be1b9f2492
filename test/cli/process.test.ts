import { describe, expect, test } from "bun:test";
import { resolve } from "node:path";
import { writeStep } from "../support/team-on-disk.ts";
import { temporaryDirectory } from "../support/temp.ts";

const cli = resolve(import.meta.dir, "../../src/cli.ts");
// The first "--" is Bun's own.
const start = [process.execPath, "--no-env-file", cli, "--"];

/** Runs a shell line in which "$@" is the program. */
function shell(line: string, cwd = "/", environment: Record<string, string> = {}) {
  const child = Bun.spawnSync(["bash", "-c", line, "bash", ...start], {
    cwd,
    env: { PATH: process.env.PATH ?? "", HOME: "/nowhere", ...environment },
    stdin: "ignore",
  });
  return { code: child.exitCode, stdout: child.stdout.toString(), stderr: child.stderr.toString() };
}

describe("as a process", () => {
  test("the result goes to stdout, messages to stderr, and the exit code is ours", () => {
    expect(shell('"$@" --version')).toEqual({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/), stderr: "" });
    expect(shell('"$@"')).toEqual({ code: 2, stdout: "", stderr: expect.stringContaining("mg-team --help") });
    expect(shell('"$@" trsut')).toEqual({ code: 2, stdout: "", stderr: expect.stringContaining("Did you mean trust?") });
  });

  test("a reader that stops reading is no error", () => {
    expect(shell('"$@" completion zsh | head -c 1; echo " $PIPESTATUS"')).toEqual({ code: 0, stdout: "# 0\n", stderr: "" });
    expect(shell('"$@" run --help | true; echo "$PIPESTATUS"').stdout).toBe("0\n");
  });

  test.each(["", "--json"])("what is watched %s ends when its reader has gone and something changes", async (option) => {
    await using temp = temporaryDirectory();
    writeStep(temp.path, "agent_a", 1, "An answer.");
    writeStep(temp.path, "agent_b", 1, "Another one.");
    // It is at work while the reader has seen its line and gone; then one answer is taken away.
    const line = `(timeout 30 "$@" status . --watch ${option}; echo $? > code) | (head -1; exec <&-; sleep 2; rm -r agents/agent_b); cat code`;
    const { stdout, stderr } = shell(line, temp.path);
    expect([stdout.split("\n").at(-2), stderr]).toEqual(["0", ""]);
  });

  test("a working directory that is gone is told, and keeps nobody from help and version", async () => {
    await using temp = temporaryDirectory();
    const gone = (words: string) => shell(`mkdir gone; cd gone; rmdir ../gone; "$@" ${words}`, temp.path);
    for (const words of ["status", "Q", "sessions", "doctor", "demo"]) {
      expect(gone(words)).toEqual({ code: 3, stdout: "", stderr: expect.stringContaining("Change to a directory that exists") });
    }
    expect(JSON.parse(gone("status --json").stdout).error.code).toBe("preflight");
    expect([gone("--version").code, gone("--help").code]).toEqual([0, 0]);
  });

  test("a full disk is an error with exit code 7", () => {
    const { code, stderr } = shell('"$@" run --help > /dev/full');
    expect(code).toBe(7);
    expect(stderr).toStartWith("mg-team: the result could not be written: ");
  });

  test("a query in front of which -- stands may look like anything", () => {
    expect(shell('"$@" -- --help with codex').stderr).toContain("a team needs two models");
    expect(shell('"$@" -- trsut with codex').stderr).toContain("a team needs two models");
  });

  test("a query from standard input is read to its end", () => {
    expect(shell('printf "a\\377" | "$@" --query-file - --models codex grok').stderr).toContain(
      "the query from standard input is not UTF-8",
    );
    expect(shell('head -c 2000000 /dev/zero | tr "\\0" x | "$@" --query-file - --models codex grok')).toEqual({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining("more than 1 MiB"),
    });
  });

  test("a hostile working directory runs nothing and sets nothing", async () => {
    await using temp = temporaryDirectory("ho stile\n'dir'");
    temp.write(".env", "MG_TEAM_TIMOUT=1\nMG_TEAM_JSON=1\n");
    temp.write("mg-team.yaml", "plugins: [./evil.ts]\nmassgen: { command: ./evil.sh }\n");
    temp.write("evil.ts", 'require("node:fs").writeFileSync("evil", "")');
    temp.write("evil.sh", "#!/bin/sh\ntouch evil\n");
    const { code, stdout, stderr } = shell('"$@" "Q" with codex and grok; code=$?; ls -A; exit $code', temp.path);
    expect([code, stdout.split("\n").sort().join(" ").trim()]).toEqual([3, ".env evil.sh evil.ts mg-team.yaml"]);
    expect(stderr).toContain("Look at it, then type: mg-team trust");
    expect(stderr).not.toContain("TIMOUT");
  });
});
