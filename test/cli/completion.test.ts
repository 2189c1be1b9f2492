import { describe, expect, test } from "bun:test";
import { bashScript } from "../../src/commands/completion/bash.ts";
import { completionsOf } from "../../src/commands/completion/completions.ts";
import { commands, loadAll } from "../../src/commands/index.ts";
import { runOptions } from "../../src/config/options.ts";
import { temporaryDirectory } from "../support/temp.ts";
import { say } from "./support.ts";

const shells = ["bash", "zsh", "fish"] as const;

/** What bash offers for the last of these words. */
async function offered(words: readonly string[], cwd = "/"): Promise<string[]> {
  const script = bashScript(completionsOf(await loadAll(commands)));
  const program = `${script}\ncompopt() { :; }\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _mg_team\nprintf '%s\\n' "\${COMPREPLY[@]}"`;
  const child = Bun.spawnSync(["bash", "-c", program, "bash", ...words], { cwd });
  expect(child.stderr.toString()).toBe("");
  return child.stdout.toString().split("\n").filter(Boolean);
}

describe("bash", () => {
  test.each([
    [["mg-team", "tr"], ["trust"]],
    [
      ["mg-team", "completion", ""],
      ["bash", "zsh", "fish"],
    ],
    [["mg-team", "help", "tru"], ["trust"]],
    [
      ["mg-team", "plugin", ""],
      ["new", "list", "types"],
    ],
    [["mg-team", "--quiet", "plugin", "--json", "ne"], ["new"]],
    [["mg-team", "plugin", "new", ""], []],
    [["mg-team", "plugin", "types", "--st"], ["--stdout"]],
    [["mg-team", "trust", "--re"], ["--revoke"]],
    [["mg-team", "--max-r"], ["--max-rounds"]],
    [
      ["mg-team", "Q", "--synthesis", ""],
      ["agent", "markdown"],
    ],
    [
      ["mg-team", "Q", "--models", "g"],
      ["gemini", "grok"],
    ],
    [
      ["mg-team", "Q", "with", "c"],
      ["codex", "claude"],
    ],
    [["mg-team", "Q", "--timeout", ""], []],
    [["mg-team", "Q", "tr"], []],
    [["mg-team", "--quiet", "trust", "--li"], ["--list"]],
  ])("%p offers %p", async (words, expected) => {
    expect(await offered(words)).toEqual(expected);
  });

  test("files are offered where a file is wanted", async () => {
    await using temp = temporaryDirectory();
    temp.write("my task.md", "");
    expect(await offered(["mg-team", "--query-file", "my"], temp.path)).toEqual(["my task.md"]);
    expect(await offered(["mg-team", "plugin", "new", "x", "--dir", "my"], temp.path)).toEqual(["my task.md"]);
  });
});

test.each(shells)("%s: every command and every option of a run is there", async (shell) => {
  const { code, stdout } = await say(["completion", shell]);
  expect(code).toBe(0);
  for (const name of Object.keys(commands)) expect(stdout).toContain(name);
  for (const name of Object.keys(runOptions)) expect(stdout).toContain(shell === "fish" ? `-l ${name}` : `--${name}`);
});

test.each(shells.filter((shell) => Bun.which(shell)))("%s: the shell itself accepts the script", async (shell) => {
  const { stdout } = await say(["completion", shell]);
  const check = Bun.spawnSync([shell, "-n"], { stdin: Buffer.from(stdout) });
  expect([check.exitCode, check.stderr.toString()]).toEqual([0, ""]);
});
