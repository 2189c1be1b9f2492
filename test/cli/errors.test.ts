import { expect, test } from "bun:test";
import { resolveRun } from "../../src/config/resolve.ts";
import { temporaryDirectory } from "../support/temp.ts";
import { say, widest } from "./support.ts";

/** What people mistype, and what must then stand on the screen for them to go on. */
const mistakes: readonly (readonly [argv: readonly string[], yaml: string, next: string])[] = [
  [["Q", "--timeout", "2x"], "", "--timeout 30m"],
  [["Q", "--max-rounds", "0"], "", "--max-rounds 5"],
  [["Q", "--max-rounds"], "", "mg-team --max-rounds 5"],
  [["Q", "--max-rounds", "0", "--timeout", "2x", "--retries", "x"], "", "--retries 1"],
  [["Q", "--context", "/nope"], "", "--context ./src:rw"],
  [["Q", "--modles", "codex"], "", "--models"],
  [["Q", "--models", "codex"], "", "Name one more, for example claude"],
  [["Q", "--models", "codex", "gemni"], "", "Did you mean gemini?"],
  [["--models", "codex", "gemni", "Q"], "", "Did you mean gemini?"],
  [["Q", "with", "codex", "and", "Gork"], "", "Did you mean grok?"],
  [["Q", "with", "openai", "and", "grok"], "", "openai/MODEL"],
  [["Q", "--synthesis", "both"], "", "agent or markdown"],
  [["Q", "--config", "missing.yaml"], "", "./mg-team.yaml"],
  [["Q", "--quiet", "-v"], "", "Keep one of them"],
  [["--query-file", "missing.md"], "", "Name a text file"],
  [["--query-file", "-"], "", 'mg-team "Build a landing page"'],
  [[""], "", 'mg-team "Build a landing page"'],
  [["run"], "", "mg-team --query-file task.md"],
  [["Build", "a", "page", "with", "codex", "and", "grok"], "", 'mg-team "Build a page" with codex and grok'],
  [["-5 + 3"], "", 'mg-team -- "-5 + 3"'],
  [["rnu", "Q"], "", "Did you mean run?"],
  [["Q"], "max_round: 5", "Did you mean max_rounds?"],
  [["Q"], "massgen: { max_rounds: 5 }", "max_rounds belongs at the top level"],
  [["Q"], "models: []", "for example [codex, gemini]"],
  [["Q"], "massgen:\n\tcommand: x", "Replace the tab"],
  [["Q"], "timeout: soon\nretries: many", "30m or 2h"],
  [["Q"], "massgen: { command: massgen }", "mg-team trust"],
];

test.each(mistakes)("%p with %j: the way on is said, within 80 columns", async (argv, yaml, next) => {
  await using temp = temporaryDirectory();
  if (yaml !== "") temp.write("mg-team.yaml", `${yaml}\n`);
  const { code, stdout, stderr } = await say(argv, {
    cwd: temp.path,
    environment: { HOME: temp.path },
    async run({ options, environment, cwd, stdin }) {
      await resolveRun(options, environment, cwd, stdin);
      return 0;
    },
  });
  expect(code).toBe(yaml === "" ? 2 : 3);
  expect(stdout).toBe("");
  expect(stderr).toStartWith("mg-team: ");
  expect(stderr.replace(/\s+/g, " ")).toContain(next);
  expect(widest(stderr)).toBeLessThanOrEqual(80);
  expect(stderr.split("\n").length).toBeGreaterThan(2);
  expect(stderr).not.toContain("internal error");
});
