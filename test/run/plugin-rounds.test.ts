import { describe, expect } from "bun:test";
import { tell } from "../support/story.ts";

// What plugins do to the loop: skips, and rounds that launch nothing (core loop 2 and 4g). Plugins themselves: test/plugins/e2e-*.test.ts.

const agree = "answer, vote a";

/** A plugin that skips launches that fulfil a condition. */
const skipper = (condition: string) =>
  `import { definePlugin } from "mg-team";
export default definePlugin({
  name: "skipper",
  apply(team) {
    team.hooks.beforeLaunch.tap("skipper", (request) => {
      if (${condition}) request.skip = { reason: "not needed", by: "skipper" };
    });
  },
});
`;
const skipping = (condition: string) => ({ files: { "skipper.ts": skipper(condition) }, args: ["--plugin", "./skipper.ts"] });

describe("skips", () => {
  tell([
    {
      title: "a skip is an action: plugins see it and may annotate it",
      files: {
        "noter.ts": `import { definePlugin } from "mg-team";
export default definePlugin({
  name: "noter",
  apply(team) {
    team.hooks.beforeLaunch.tap("noter", (request) => {
      if (request.agent === "agent_c" && request.round === 1) request.skip = { reason: "later", by: "noter" };
    });
    team.hooks.onAction.tap("noter", (action) => {
      action.notes = ["saw " + action.kind];
    });
  },
});
`,
      },
      args: ["--plugin", "./noter.ts"],
      plays: { a: agree, b: agree, c: "vote a" },
      ends: "consensus majority a, exit 0",
      look: ({ events }) => {
        const notes = events.flatMap((event) => (event.type === "step.finished" ? [`${event.action.agent} ${event.action.notes}`] : []));
        expect(notes).toContain("agent_c saw skipped");
        expect(notes).toContain("agent_c saw vote");
      },
    },
    {
      ...skipping('request.agent === "agent_c" && request.round === 1'),
      title: "a skipped agent is not launched, stays in the team and acts in the next round",
      plays: { a: agree, b: agree, c: "vote a" },
      rounds: ["a answered, b answered, c skipped", "a voted a, b voted a, c voted a"],
      ends: "consensus majority a, exit 0",
      look: ({ events, stderr, launches, result }) => {
        expect(launches.filter(({ kind, agent }) => kind === "step" && agent === "agent_c").length).toBe(1);
        expect(stderr).toContain("agent_c: skipped by skipper: not needed");
        const skip = events.find((event) => event.type === "step.finished" && event.action.kind === "skipped");
        expect(skip).toMatchObject({ action: { agent: "agent_c", by: "skipper", reason: "not needed", seconds: 0 } });
        expect(result.cost.known).toBe("all");
      },
    },
    {
      ...skipping('request.agent === "agent_b"'),
      title: "a skip uses up a round",
      plays: { a: "answer, vote a", b: "answer" },
      args: ["--plugin", "./skipper.ts", "--max-rounds", "2"],
      rounds: ["a answered, b skipped", "a voted a, b skipped"],
      ends: "forced max_rounds a, exit 0",
    },
    {
      ...skipping("true"),
      title: "a round that launches nothing ends the run, at the plugin's account",
      plays: { a: agree, b: agree },
      rounds: ["a skipped, b skipped"],
      ends: "none plugin, exit 4",
      rule: /A plugin skipped every launch of the round/,
    },
    {
      ...skipping("request.round === 2"),
      title: "when it is the second round, the first answer wins and is printed",
      plays: { a: "answer after b", b: "answer" },
      rounds: ["a answered, b answered", "a skipped, b skipped"],
      ends: "forced plugin b, exit 4",
      look: ({ directory, result }) => expect(result.synthesis.path).toBe(directory.finalAnswer),
    },
    {
      ...skipping('request.kind === "retry"'),
      title: "a skipped retry is an action, not a failure: the agent stays in the team",
      plays: { a: "fail server, answer, vote a", b: "answer, answer, vote a" },
      rounds: ["a failed(model) then skipped, b answered", "a answered, b answered", "a voted a, b voted a"],
      ends: "consensus majority a, exit 0",
    },
  ]);
});
