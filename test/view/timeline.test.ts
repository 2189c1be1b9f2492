import { describe, expect, test } from "bun:test";
import type { EventBody } from "../../src/session/events.ts";
import { applyEvent, emptyState } from "../../src/session/state.ts";
import { signOf, timelineOf } from "../../src/view/timeline.ts";
import { envelope, roundStarted, started, stepFinished, stepStarted } from "../support/events.ts";

function timeline(bodies: readonly EventBody[]) {
  const events = bodies.map((body, index) => envelope(body, index + 1));
  const state = emptyState();
  for (const event of events) applyEvent(state, event);
  return timelineOf(state, events);
}

const stale = {
  voter: "agent_b",
  target: "agent_a",
  step: 1,
  round: 1,
  self: false,
  standing: "stale",
  why: "agent_a has answered",
} as const;

describe("a timeline", () => {
  test("has a lane for each agent and a cell for each round; rounds that an agent sat out are empty", () => {
    const { rounds, lanes } = timeline([
      started("ab"),
      roundStarted(1, "ab"),
      stepFinished("a", { answer: 1 }),
      stepFinished("b", { answer: 1 }),
      roundStarted(2, "b"),
      stepFinished("b", { vote: "agent_a", step: 2 }, { round: 2 }),
    ]);
    expect(rounds).toBe(2);
    expect(lanes.map(({ cells }) => cells.map((cell) => cell?.outcome ?? null))).toEqual([
      ["answer", null],
      ["answer", "vote"],
    ]);
  });

  test("the last try of a round counts, with the seconds of all", () => {
    const [lane] = timeline([
      started("a"),
      roundStarted(1, "a"),
      stepFinished("a", { failed: "quota" }, { retry: true }),
      stepFinished("a", { answer: 1 }, { try: 2 }),
    ]).lanes;
    expect(lane?.cells).toMatchObject([{ outcome: "answer", answer: 1, earlierTries: 1, seconds: 60, failure: null }]);
  });

  test("what was stopped and then resumed is what the resume made of it", () => {
    const bodies = [started("a"), roundStarted(1, "a"), stepFinished("a", { failed: "killed" }, { interrupted: true })];
    expect(timeline(bodies).lanes[0]?.cells).toMatchObject([{ outcome: "stopped", failure: null }]);
    const resumed = [...bodies, roundStarted(1, "a"), stepFinished("a", { answer: 1 }, { try: 2 })];
    expect(timeline(resumed).lanes[0]?.cells).toMatchObject([{ outcome: "answer" }]);
  });

  test("a step without an end is unfinished", () => {
    expect(timeline([started("a"), roundStarted(1, "a"), stepStarted("a")]).lanes[0]?.cells).toMatchObject([
      { outcome: "unfinished", seconds: null },
    ]);
  });

  test("a vote keeps how it stood when a newer one has replaced it", () => {
    const vote = (step: number) =>
      stepFinished("b", { vote: "agent_a", step }, { round: step, launchedWith: { answers: { agent_a: 7 }, blank: [] } });
    const [, lane] = timeline([
      started("ab"),
      roundStarted(1, "ab"),
      vote(1),
      { type: "ballots", round: 1, ballots: [stale], tally: {} },
      roundStarted(2, "b"),
      vote(2),
      { type: "ballots", round: 2, ballots: [{ ...stale, step: 2, standing: "valid", why: "" }], tally: {} },
    ]).lanes;
    expect(lane?.cells.map((cell) => cell?.vote)).toMatchObject([
      { target: "agent_a", standing: "stale", why: "agent_a has answered", targetStep: 7 },
      { target: "agent_a", standing: "valid", why: "" },
    ]);
  });

  test("a vote before the first barrier has no standing; steps outside of rounds are in no lane", () => {
    const [lane] = timeline([
      started("a"),
      roundStarted(1, "a"),
      stepFinished("a", { vote: "agent_a", step: 1 }),
      stepFinished("a", { answer: 1 }, { round: 0, kind: "synthesis" }),
    ]).lanes;
    expect(lane?.cells).toMatchObject([{ outcome: "vote", vote: { standing: null, targetStep: null } }]);
  });
});

test("an agent's sign is its letter, or what comes closest", () => {
  expect(["agent_a", "agent_ab", "agent_abc", "extra", ""].map(signOf)).toEqual(["A", "AB", "ag", "ex", ""]);
});
