import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/*
 * Where each row of scenarios.md ("what went wrong for users of programs like this one") is tested: the row, the file, and words of the test's title.
 * The test below keeps the table true.
 *
 * | row | file | title |
 * | --- | --- | --- |
 * | our stdin is a pipe nobody writes to, the fake reads its stdin to the end | run/query | a step that reads its standard input to the end sees none of ours |
 * | the fake writes 1 MB to stderr, then answers | run/failures | a megabyte on stderr before the answer hangs nothing, and the log is complete |
 * | `mg-team --json … | wc -c` with a result over 64 KB | run/output | of a result above 64 KB through a pipe |
 * | a slow reader | run/output | with a reader that sleeps first and then reads in small pieces |
 * | the fake forks a grandchild that ignores TERM; Ctrl-C, TERM, HUP | run/signals | grandchildren that ignore TERM, in sessions of their own, are gone too |
 * | … timeout | run/time | grandchildren that ignore TERM, in sessions of their own, are gone too |
 * | the fake answers "", or spaces, with exit 0 | run/answers | is tried again, and is never a candidate |
 * | exit 0 and no action | run/answers | exit 0 without anything at all is a failure |
 * | exit 0 and only last round's last_action.json | run/answers | exit 0 without anything new is a failure, not the last step once more |
 * | a vote lands, then another agent's new answer in the same round | run/ballots | a vote that was cast before a newer answer of the same round is stale |
 * | a peer answers while the voter runs; vote.json claims to have seen it | run/ballots | an answer that lands while the voter runs makes its vote stale, though vote.json claims to have seen it |
 * | both agents vote for themselves, twice | run/loop | two agents that vote for themselves: the first answer wins |
 * | a vote for an agent without an answer | run/ballots | a vote for an agent without an answer is invalid |
 * | … for itself without one | run/ballots | a vote for itself without an answer is invalid |
 * | … for `agent9`, for "" | run/ballots | is invalid, and its voter acts again |
 * | one agent fails at once, one never ends | run/time | one agent fails at once, one never ends: the rest finish, the hung one is stopped, and an answer is delivered |
 * | timeout with answers but no vote | run/time | with answers but no vote the first answer wins |
 * | … with no answer | run/time | without any answer there is none: exit 5 |
 * | … at the very moment the last step ends | run/time | at the very moment that something happens, there is one result and never two |
 * | status.json absent, half written, cost a string, negative, NaN, a million | run/money | a warning, the run goes on, and the total is marked as partial |
 * | answer.json cut in half, empty, a BOM | run/answers | an answer file that peers skip is a failed step of class garbled, and the others go on |
 * | answer.json with \xe9, an array | run/answers | an answer file that would fail every other agent ends the run: force, and the file is named |
 * | last_action.json missing | run/answers | a missing last_action.json changes nothing |
 * | 200 KB query from a file | run/exit-codes | a query of 200 KB, before anything starts |
 * | a query with `@types/node`, a newline, quotes, `$()`, backticks, a leading dash | run/query | every step gets the same bytes |
 * | spaces, accents and a newline in the working directory | run/places | a working directory |
 * | … the config path | run/places | --config and what it names, relative to the project, arrive absolute |
 * | … the MassGen path | run/places | given by --massgen, relative, with spaces |
 * | a wrong key in mg-team.yaml | run/exit-codes | a wrong key in mg-team.yaml, with line and nearest key |
 * | wrong nesting | run/exit-codes | wrong nesting in mg-team.yaml |
 * | `models: []` | run/exit-codes | models: [] in mg-team.yaml |
 * | a tab for indent | run/exit-codes | a tab for indent in mg-team.yaml |
 * | the fake dies at import with a Python traceback in under a second | run/failures | dies at import: nothing is started, the hint names the pin, and there is no storm of retries |
 * | the fake is silent for 30 s, then works | run/time | a step that says nothing for 40 s at its start, then works, is not called hung |
 * | synthesis step fails, votes instead of answering | run/synthesis | a synthesis that brings nothing |
 * | … times out | run/time | the winner's answer is delivered, and the cause is said |
 * | kill -9, then resume, twice at the same time | faults/kill-resume | |
 * | … the second is refused and told who holds it | run/exit-codes | a resume of a run that is under way is refused, and told who holds it |
 * | a plugin throws while loading, has no default export | plugins/e2e-faults | cannot be started: nothing is launched, exit 3 |
 * | … throws in each hook | plugins/e2e-faults | a throw that stops the run: exit 4, the best answer is kept |
 * | … throws where that is a warning | plugins/e2e-faults | a throw that is a warning: the run ends as if it had not been |
 * | … is async where it may not be | plugins/e2e-faults | gives tap an async function |
 * | … never returns | plugins/e2e-faults | after its time limit the tap counts as failed |
 * | … exits the process | plugins/e2e-faults | process.exit in a tap that stops the run: exit 4, the answer is kept |
 * | a plugin named in the config of a cloned repository | run/exit-codes | a plugin named in mg-team.yaml of a project that is not trusted |
 *
 * Of reliability.md's fault list these files show, as whole runs: 1-5 (run/signals, run/failures, run/time), 8 (run/full-disk), 10 (run/failures, run/answers),
 * 11 (run/money), 14 (run/output), 15 (run/signals, nohup), 19 (run/together), 20 (run/places, run/binary); the others are in test/faults.
 */

const rows = [...readFileSync(import.meta.path, "utf8").matchAll(/^ \* \| (?!row|---)(.*?) \| ([a-z]+\/[a-z0-9-]+) \| (.*?) ?\|$/gm)].map(
  ([, row = "", file = "", title = ""]) => ({ row, file, title }),
);

describe("the table above", () => {
  test("has a line for every row of scenarios.md", () => {
    expect(rows.length).toBeGreaterThanOrEqual(45);
  });

  test("names files and titles that exist", () => {
    const root = resolve(import.meta.dir, "..");
    for (const { row, file, title } of rows) {
      const [directory = "", name = ""] = file.split("/");
      const path = readdirSync(join(root, directory)).find((entry) => entry === `${name}.test.ts` || entry === `${name}.slow.test.ts`);
      expect(`${row}: ${path === undefined}`).toBe(`${row}: false`);
      expect(`${row}: ${readFileSync(join(root, directory, path ?? ""), "utf8").includes(title)}`).toBe(`${row}: true`);
    }
  });
});
