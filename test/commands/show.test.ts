import { describe, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { acquireLock } from "../../src/session/lock.ts";
import { runCommand } from "../support/command.ts";
import { started } from "../support/events.ts";
import { writeStep, writeTeam } from "../support/team-on-disk.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temp.ts";

const hostile = "raw \u001b[31mred\u001b[0m \u001b]0;title\u0007 \u202eesrever";

function project(): { readonly temp: TemporaryDirectory; readonly id: string } {
  const temp = temporaryDirectory();
  const { session, id } = writeTeam(temp.path, { events: [started("ab")], result: {}, finalAnswer: "# The final answer\n" });
  writeStep(session, "agent_a", 1, "one\ntwo\nthree");
  writeStep(session, "agent_a", 2, { vote: "agent_b" });
  writeStep(session, "agent_a", 3, "one\n2\nthree");
  mkdirSync(`${writeStep(session, "agent_b", 1, hostile)}/workspace`);
  return { temp, id };
}

async function show(...args: string[]) {
  const { temp, id } = project();
  await using _ = temp;
  return await runCommand(["show", ...args.map((word) => (word === "ID" ? id : word))], { cwd: temp.path });
}

describe("prints", () => {
  test.each([
    ["the final answer", [], "# The final answer\n"],
    ["that of the run that is named", ["ID"], "# The final answer\n"],
    ["an agent's newest answer", ["--agent", "agent_a"], "one\n2\nthree\n"],
    ["by its letter", ["-a", "a"], "one\n2\nthree\n"],
    ["by its model", ["--agent", "codex/gpt-5.4"], "one\n2\nthree\n"],
    ["by its backend", ["ID", "--agent", "codex"], "one\n2\nthree\n"],
    ["of a step", ["--agent", "agent_a", "--step", "1"], "one\ntwo\nthree\n"],
    ["byte by byte into a pipe", ["--agent", "b"], `${hostile}\n`],
  ])("%s", async (_what, args, expected) => {
    expect(await show(...args)).toMatchObject({ code: 0, stdout: expected });
  });

  test("harmlessly on a terminal, and says where its files are", async () => {
    const { temp } = project();
    await using _ = temp;
    const { stdout, stderr } = await runCommand(["show", "--agent", "b"], { cwd: temp.path, columns: 80 });
    expect(stdout).toBe("raw red ␛]0;title␇ <202E>esrever\n");
    expect(stderr).toMatch(/^mg-team: files: .*agent_b\/001\/workspace$/m);
  });

  test("the answer of the result where the document is gone", async () => {
    await using temp = temporaryDirectory();
    writeTeam(temp.path, { events: [started("ab")], result: {} });
    expect((await runCommand(["show"], { cwd: temp.path })).stdout).toBe("the answer of agent_b\n");
  });

  test("answers of any session directory", async () => {
    await using temp = temporaryDirectory();
    writeStep(temp.path, "somebody", 1, "hello");
    expect((await runCommand(["show", temp.path, "--agent", "somebody"], { cwd: "/" })).stdout).toBe("hello\n");
  });
});

describe("--diff", () => {
  const change = ["--- agent_a step 1", "+++ agent_a step 3", "@@ -1,3 +1,3 @@", " one", "-two", "+2", " three", ""].join("\n");

  test.each([
    ["two steps of an agent", ["--diff", "agent_a:1", "agent_a:3"]],
    ["with the agent said once", ["--agent", "a", "--diff", "1", "3"]],
    ["of the run that is named", ["ID", "--diff", "a:1", "a"]],
  ])("is a unified diff: %s", async (_what, args) => {
    expect(await show(...args)).toMatchObject({ code: 0, stdout: change });
  });

  test("compares with the final answer, in colour and harmless on a terminal", async () => {
    const { temp } = project();
    await using _ = temp;
    const { stdout } = await runCommand(["show", "--diff", "final", "agent_b"], { cwd: temp.path, columns: 80 });
    expect(stdout).toInclude("\u001b[31m-# The final answer\u001b[39m\n\u001b[32m+raw red ␛]0;title␇ <202E>esrever\u001b[39m");
    const plain = await runCommand(["show", "--diff", "final", "agent_b", "--no-color"], { cwd: temp.path, columns: 80 });
    expect(plain.stdout).not.toInclude("\u001b");
  });

  test("of equal answers prints nothing and says so; one line feed at the end is no difference", async () => {
    expect(await show("--diff", "a:1", "a:1")).toMatchObject({
      code: 0,
      stdout: "",
      stderr: expect.stringContaining("the two answers are the same"),
    });
  });
});

describe("refuses, with what to type:", () => {
  test.each([
    ["an agent that is not there", ["--agent", "agent_z"], 2, /there is no agent "agent_z" in this run\n {2}Did you mean agent_a\?/],
    [
      "a step that is a vote",
      ["--agent", "a", "--step", "2"],
      2,
      /step 2 of agent_a is a vote for agent_b\n {2}Its answers are in steps 1 and 3\./,
    ],
    ["a step that is not there", ["--agent", "a", "--step", "9"], 2, /step 9 of agent_a does not exist/],
    ["a step without an agent", ["--step", "2"], 2, /mg-team show --agent agent_b --step 2/],
    ["a step that is no number", ["--agent", "a", "--step", "two"], 2, /--step must be the number of a step, 1 or more, not "two"/],
    ["one answer to compare", ["--diff", "a"], 2, /--diff needs two answers/],
    ["two answers without --diff", ["agent_a", "agent_b"], 2, /mg-team show --diff agent_a agent_b/],
    ["a step to compare, of nobody", ["--diff", "1", "3"], 2, /"1" is a step, but of which agent\?/],
  ])("%s", async (_what, args, code, message) => {
    const shown = await show(...args);
    expect(shown).toMatchObject({ code, stdout: "" });
    expect(shown.stderr).toMatch(message);
  });

  test("a run without a final answer: at work, crashed, or ended without one", async () => {
    await using temp = temporaryDirectory();
    const { root } = writeTeam(temp.path, { events: [started("ab")] });
    const crashed = await runCommand(["show"], { cwd: temp.path });
    expect(crashed).toMatchObject({ code: 5, stderr: expect.stringContaining("mg-team resume team_") });
    {
      await using _lock = acquireLock(root);
      expect((await runCommand(["show"], { cwd: temp.path })).stderr).toInclude("is still at work");
    }
    const none = {
      kind: "none",
      reason: "agents_failed",
      rule: "No agent is left.",
      winner: null,
      winner_model: null,
      tally: {},
      ballots: [],
    } as const;
    writeTeam(temp.path, { date: new Date(Date.now() + 5000), events: [started("ab")], result: { answer: null, decision: none } });
    const ended = await runCommand(["show"], { cwd: temp.path });
    expect(ended).toMatchObject({ code: 5, stderr: expect.stringContaining("ended without an answer: No agent is left.") });
  });
});
