import { describe, expect, test } from "bun:test";
import { withPlugin } from "../support/outside-plugin.ts";
import { patience, playRun } from "../support/runs.ts";

// What keeps an outside plugin from harming a run, in whole runs: failures that would repeat for ever, values that nobody could use.

const team = { a: "answer, vote a", b: "answer, vote a" };

describe("a watcher that fails at every event", () => {
  for (const [what, message] of [
    ["with the same words", '"always"'],
    ["with other words each time", "`always ${event.seq}`"],
  ] as const) {
    test.concurrent(
      `${what}: it is told a few times, and the run ends as if there were none`,
      async () => {
        const body = `team.hooks.onEvent.tap("watcher", (event) => { throw new Error(${message}); });`;
        const run = await playRun({ plays: team, ...withPlugin("watcher", body) });
        expect(run.code).toBe(0);
        const told = run.events.filter(({ type }) => type === "plugin.error");
        expect(told.length).toBeGreaterThan(0);
        expect(told.length).toBeLessThanOrEqual(3);
        expect(told[0]).toMatchObject({ plugin: "watcher", hook: "onEvent", message: expect.stringContaining("always") });
      },
      patience,
    );
  }
});

test.concurrent(
  "a step of a plugin that leaves bytes that are not UTF-8 ends nothing: they are in no agent's way",
  async () => {
    const body = `let asked = false;
    team.hooks.onConsensus.tapPromise({ name: "critic", timeLimitSeconds: null }, async () => {
      if (asked) return;
      asked = true;
      const { failure } = await team.runStep({ model: "agent_a", query: "Look", sessionDir: team.run.directory + "/critic", context: [] });
      team.log.info(failure);
    });`;
    const garbled = { when: { session: "critic" }, step: { answer: { text: "x", garble: "not-utf8" as const } } };
    const run = await playRun({ plays: team, script: { rules: [garbled] }, ...withPlugin("critic", body) });
    expect(run.stderr).toContain("critic: garbled: ");
    expect(run.result.decision).toMatchObject({ kind: "consensus", winner: "agent_a" });
  },
  patience,
);
