import { expect, test } from "bun:test";
import staleVotes from "../../plugins/stale-votes.ts";
import { Stage } from "../../src/plugin/hooks.ts";
import { deliberationWith } from "../support/decisions.ts";
import { runPlugin } from "../support/plugin-run.ts";

test("every ballot is marked, and nothing is decided", async () => {
  const run = runPlugin(staleVotes, {});
  const { agents, verdict } = await run.deliberate(
    deliberationWith({
      a: { answers: { 2: 9 }, vote: { for: "a", step: 1 } },
      b: { vote: { for: "a", launched: {} } },
      c: { vote: "d" },
      d: { vote: { for: "a", standing: "invalid" } },
      e: {},
    }),
  );
  expect(agents.map(({ ballot }) => ballot?.standing)).toEqual(["stale", "stale", "invalid", "valid", undefined]);
  expect(agents.map(({ ballot }) => ballot && ballot.why === "")).toEqual([false, false, false, true, null]);
  expect(verdict).toBeNull();
});

test("a plugin of the same stage has the last word on a ballot", async () => {
  const run = runPlugin(staleVotes, {});
  run.team.hooks.onConsensus.tap({ name: "no self-votes", stage: Stage.mark }, ({ agents }) => {
    for (const { ballot } of agents) if (ballot?.self) Object.assign(ballot, { standing: "invalid", why: "it is for itself" });
  });
  const { agents } = await run.deliberate(deliberationWith({ a: { answers: { 1: 1 }, vote: "a" }, b: { vote: "a" } }));
  expect(agents.map(({ ballot }) => ballot?.standing)).toEqual(["invalid", "valid"]);
});
