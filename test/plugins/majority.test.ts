import { expect, test } from "bun:test";
import majority from "../../plugins/majority.ts";
import { Stage } from "../../src/plugin/hooks.ts";
import type { Verdict } from "../../src/types.ts";
import { deliberationWith } from "../support/decisions.ts";
import { runPlugin } from "../support/plugin-run.ts";

const agreed = () => deliberationWith({ a: { answers: { 1: 1 }, vote: "a" }, b: { vote: "a" } });

test("a majority of valid ballots is a consensus", async () => {
  const { verdict } = await runPlugin(majority, {}).deliberate(agreed());
  expect(verdict).toMatchObject({ kind: "consensus", reason: "majority", winner: "agent_a" });
});

test("a tie of valid ballots is a split vote", async () => {
  const split = deliberationWith({ a: { answers: { 1: 1 }, vote: "a" }, b: { answers: { 1: 2 }, vote: "b" } });
  expect((await runPlugin(majority, {}).deliberate(split)).verdict).toMatchObject({
    kind: "forced",
    reason: "split_vote",
    winner: "agent_a",
  });
});

test("nothing is decided while a live agent has no valid ballot", async () => {
  const waiting = deliberationWith({ a: { answers: { 1: 1 }, vote: "a" }, b: { vote: "a" }, c: {} });
  expect((await runPlugin(majority, {}).deliberate(waiting)).verdict).toBeNull();
});

test("a verdict of before stays", async () => {
  const verdict: Verdict = { kind: "forced", reason: "plugin", winner: "agent_a", rule: "I said so." };
  expect((await runPlugin(majority, {}).deliberate({ ...agreed(), verdict })).verdict).toBe(verdict);
});

test("a plugin of a later stage can overrule it", async () => {
  const run = runPlugin(majority, {});
  run.team.hooks.onConsensus.tap({ name: "veto", stage: Stage.overrule }, (deliberation) => {
    deliberation.verdict = null;
  });
  expect((await run.deliberate(agreed())).verdict).toBeNull();
});
