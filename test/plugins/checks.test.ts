import { expect, test } from "bun:test";
import checks from "../../plugins/checks.ts";
import markdownSynthesis from "../../plugins/markdown-synthesis/index.ts";
import type { SynthesisDocument } from "../../src/plugin/hooks.ts";
import type { RunResult } from "../../src/session/result.ts";
import { envelope } from "../support/events.ts";
import { fakeTeam } from "../support/team.ts";
import { temporaryDirectory } from "../support/temp.ts";
import { resultWith } from "./markdown-input.ts";

function documentOf(result: RunResult): SynthesisDocument {
  return { kind: "markdown", answer: "# A", madeBy: null, markdown: "", whyNotAgent: null, result, directory: "/nowhere/synthesis" };
}

function resultFor(deliverable: string | null, more: Partial<RunResult> = {}): RunResult {
  const base = resultWith({ plugins: {}, ...more });
  return { ...base, synthesis: { ...base.synthesis, deliverable } };
}

test("findings of the deliverable are in the result, and in the document although its plugin comes first", async () => {
  await using temp = temporaryDirectory();
  temp.write("a.json", "{");
  const team = fakeTeam();
  await markdownSynthesis.apply(team, undefined);
  await checks.apply(team, undefined);
  const document = documentOf(resultFor(temp.path));
  await team.hooks.onSynthesis.promise(document);
  expect(document.result.checks).toEqual([{ file: "a.json", line: 1, check: "json", message: expect.any(String) }]);
  expect(document.result.plugins).toEqual({ checks: { files: 1 } });
  expect(document.markdown).toContain("- a.json, line 1 (json): ");
});

test("without a deliverable there are no findings, also where there were some before", async () => {
  const team = fakeTeam();
  await checks.apply(team, undefined);
  const document = documentOf(resultFor(null, { checks: [{ file: "old.json", line: 1, check: "json", message: "x" }] }));
  await team.hooks.onSynthesis.promise(document);
  expect(document.result.checks).toEqual([]);
  expect(document.result.plugins).toEqual({});
});

test("a signal ends the checks, and what was not checked is said", async () => {
  await using temp = temporaryDirectory();
  for (let file = 0; file < 20; file++) temp.write(`${file}.json`, "{");
  const team = fakeTeam();
  await checks.apply(team, undefined);
  const document = documentOf(resultFor(temp.path));
  const checked = team.hooks.onSynthesis.promise(document);
  team.hooks.onEvent.call(envelope({ type: "stop", reason: "interrupted", message: "interrupted by Ctrl-C", stopped: [] }, 1));
  await checked;
  const message = "20 files were not checked before the run was stopped";
  expect(document.result.checks).toEqual([{ file: ".", line: 0, check: "limits", message }]);
});

test("a key of the project's .env in a file is found, and not shown", async () => {
  await using temp = temporaryDirectory();
  const key = "my-very-own-key-42";
  temp.write(".env", `OPENAI_API_KEY=${key}\n`);
  temp.write("out/config.js", `const key = "${key}";\n`);
  const team = fakeTeam();
  const running = { ...team, run: { ...team.run, project: temp.path } };
  await checks.apply(running, undefined);
  const document = documentOf(resultFor(temp.join("out")));
  await team.hooks.onSynthesis.promise(document);
  expect(document.result.checks).toEqual([{ file: "config.js", line: 1, check: "secret", message: "a key of yours is in the file" }]);
  expect(JSON.stringify(document)).not.toContain(key);
});
