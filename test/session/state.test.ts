import { describe, expect, test } from "bun:test";
import { decideByExhaustion } from "../../src/consensus.ts";
import type { EventBody, TeamEvent } from "../../src/session/events.ts";
import { applyEvent, currentSteps, deliberationOf, emptyState, findAgent, stepKey } from "../../src/session/state.ts";
import type { Ballot, Verdict } from "../../src/types.ts";
import { envelope, fold, resumed, roundStarted, started, stepCost, stepFinished, stepStarted } from "../support/events.ts";
import { noLimits } from "../support/team.ts";

const forced: Verdict = { kind: "forced", reason: "interrupted", winner: "agent_a", rule: "Enough." };
const barrier = (round: number, ballots: readonly Ballot[] = []): EventBody => ({ type: "ballots", round, ballots, tally: {} });
const stop: EventBody = { type: "stop", reason: "interrupted", message: "interrupted by Ctrl-C", stopped: [] };

describe("an agent's state after a step", () => {
  test("an answer becomes its current one and uses up a round", () => {
    const state = fold([started("ab"), roundStarted(1, "ab"), stepStarted("a"), stepFinished("a", { answer: 3 }, { at: 500 })]);
    expect(findAgent(state, "agent_a")).toMatchObject({
      live: true,
      rounds: 1,
      ballot: null,
      answers: [{ agent: "agent_a", step: 3, round: 1, at: 500 }],
    });
    expect(currentSteps(state)).toEqual({ agent_a: 3 });
    expect(findAgent(state, "agent_b")).toMatchObject({ rounds: 0, answers: [] });
  });

  test("its newest answer is the current one, its first stays known", () => {
    const state = fold([started("ab"), stepFinished("a", { answer: 1 }, { at: 5 }), stepFinished("a", { answer: 4 }, { round: 2, at: 9 })]);
    expect(currentSteps(state)).toEqual({ agent_a: 4 });
    expect(findAgent(state, "agent_a")?.answers.map(({ at }) => at)).toEqual([5, 9]);
  });

  test("a vote becomes its ballot, and a newer one replaces it", () => {
    const state = fold([
      started("ab"),
      stepFinished("a", { vote: "agent_b", step: 1, seen: { agent_b: 1 } }),
      stepFinished(
        "a",
        { vote: "agent_a", step: 2, seen: {} },
        { round: 2, launchedWith: { answers: { agent_b: 1 }, blank: ["agent_b"] } },
      ),
    ]);
    expect(findAgent(state, "agent_a")?.ballot).toEqual({
      voter: "agent_a",
      target: "agent_a",
      step: 2,
      round: 2,
      reason: "good",
      self: true,
      launchedWith: { answers: { agent_b: 1 }, blank: ["agent_b"] },
      seenSteps: {},
      standing: "valid",
      why: "",
    });
    expect(findAgent(state, "agent_a")?.rounds).toBe(2);
  });

  test("an answer leaves the earlier ballot for the rules to mark", () => {
    const state = fold([started("ab"), stepFinished("a", { vote: "agent_b", step: 1 }), stepFinished("a", { answer: 2 }, { round: 2 })]);
    expect(findAgent(state, "agent_a")?.ballot?.step).toBe(1);
  });

  test("a failure puts it out, with class, message and log", () => {
    const state = fold([started("ab"), stepFinished("a", { failed: "auth" })]);
    expect(findAgent(state, "agent_a")).toMatchObject({
      live: false,
      rounds: 1,
      failure: { class: "auth", message: "it broke", log: "runs/stderr.log" },
    });
  });

  test("a failure with a retry to follow uses up no round and puts nobody out", () => {
    const state = fold([started("ab"), stepFinished("a", { failed: "crash" }, { retry: true })]);
    expect(findAgent(state, "agent_a")).toMatchObject({ live: true, rounds: 0, failure: { class: "crash" } });
    expect(findAgent(state, "agent_a")?.steps).toHaveLength(1);
  });

  test("a round with a retry counts once", () => {
    const state = fold([
      started("ab"),
      stepFinished("a", { failed: "crash" }, { retry: true }),
      stepFinished("a", { answer: 1 }, { kind: "retry", try: 2 }),
    ]);
    expect(findAgent(state, "agent_a")).toMatchObject({ live: true, rounds: 1, failure: null });
  });

  test("an interrupted step uses up neither round nor life", () => {
    const state = fold([started("ab"), stepFinished("a", { failed: "killed" }, { interrupted: true })]);
    expect(findAgent(state, "agent_a")).toMatchObject({ live: true, rounds: 0, failure: null });
  });

  test("a skip uses up a round and costs nothing", () => {
    const state = fold([started("ab"), stepFinished("a", { skipped: "not needed" })]);
    expect(findAgent(state, "agent_a")).toMatchObject({ live: true, rounds: 1, answers: [], ballot: null });
    expect(state.costs.size).toBe(0);
  });

  for (const kind of ["synthesis", "plugin"] as const) {
    test(`a ${kind} step changes no standing, but its money counts`, () => {
      const state = fold([
        started("ab"),
        stepFinished("a", { answer: 1 }),
        stepFinished("a", { answer: 1 }, { kind, round: 0, at: 900, cost: { usd: 0.25 } }),
        stepFinished("b", { failed: "crash" }, { kind, round: 0 }),
        stepFinished("b", { vote: "agent_a", step: 1 }, { kind, round: 0, try: 2 }),
      ]);
      expect(findAgent(state, "agent_a")).toMatchObject({ rounds: 1, answers: [{ step: 1, at: 100 }] });
      expect(findAgent(state, "agent_b")).toMatchObject({ rounds: 0, live: true, ballot: null });
      expect(state.costs.get("agent_a/0/1")?.cost.usd).toBe(0.25);
    });
  }

  test("a step by nobody in the team counts as money only", () => {
    const state = fold([started("a"), stepFinished("z", { answer: 1 }, { kind: "plugin", round: 0, cost: { usd: 1 } })]);
    expect(state.agents).toHaveLength(1);
    expect(state.costs.get("agent_z/0/1")?.cost.usd).toBe(1);
  });
});

describe("a round", () => {
  test("counts the steps that it launched, without retries, extra steps and skips", () => {
    const state = fold([
      started("abc"),
      roundStarted(1, "abc"),
      stepStarted("a"),
      stepStarted("a", { try: 2, kind: "retry" }),
      stepStarted("b", { round: 0, kind: "plugin" }),
      stepFinished("c", { skipped: "no" }),
    ]);
    expect(state.launched).toBe(1);
    expect(fold([roundStarted(2, "abc")], state).launched).toBe(0);
  });

  test("that is taken up again keeps the count of what it has launched", () => {
    const state = fold([started("ab"), roundStarted(1, "ab"), stepStarted("a"), resumed(), roundStarted(1, "b")]);
    expect(state).toMatchObject({ round: 1, launched: 1, roundEnded: false, roundAgents: ["agent_b"] });
  });

  test("ends at its barrier", () => {
    const state = fold([started("ab"), roundStarted(1, "ab"), stepStarted("a")]);
    expect(state.roundEnded).toBe(false);
    expect(fold([barrier(1)], state).roundEnded).toBe(true);
    expect(fold([roundStarted(2, "a")], state).roundEnded).toBe(false);
  });

  test("that was stopped is not over: a resume takes it up, for those who had not acted", () => {
    const state = fold([started("ab"), roundStarted(1, "ab"), stepStarted("a"), stop, barrier(1), resumed()]);
    expect(state).toMatchObject({ round: 1, roundEnded: false, decision: null });
    expect(fold([barrier(1)], state).roundEnded).toBe(true);
  });

  test("that was stopped before its first launch does not look like one that a plugin skipped", () => {
    const decision: EventBody = { type: "decision", round: 1, decision: forced };
    const state = fold([started("ab"), roundStarted(1, "ab"), stop, barrier(1), decision, resumed()]);
    expect(state.roundEnded).toBe(false);
    fold([roundStarted(1, "ab"), stepStarted("a"), stepFinished("a", { answer: 1 }), barrier(1)], state);
    expect(decideByExhaustion(deliberationOf(state, 5, null))).toBeNull();
  });

  test("that had ended before the stop stays ended", () => {
    const state = fold([started("ab"), roundStarted(1, "ab"), barrier(1), stop, resumed()]);
    expect(state.roundEnded).toBe(true);
  });
});

describe("the ballots of a barrier", () => {
  test("are those of the team's rounds: a plugin's step and one that was stopped vote in no barrier", () => {
    const state = fold([
      started("ab"),
      stepFinished("a", { vote: "agent_b", step: 1 }),
      stepFinished("a", { vote: "agent_a", step: 1 }, { round: 0, kind: "plugin" }),
      stepFinished("a", { vote: "agent_a", step: 1 }, { try: 2, interrupted: true }),
    ]);
    const ballot = findAgent(state, "agent_a")?.ballot;
    if (!ballot) throw new Error("no ballot");
    fold([barrier(1, [ballot])], state);
    expect(state.standings.get("agent_a")).toMatchObject({ target: "agent_b", round: 1 });
  });

  test("keep their marks in the state", () => {
    const state = fold([started("ab"), stepFinished("a", { vote: "agent_b", step: 1 })]);
    const ballot = findAgent(state, "agent_a")?.ballot;
    if (!ballot) throw new Error("no ballot");
    fold([barrier(1, [{ ...ballot, standing: "stale", why: "too old" }])], state);
    expect(findAgent(state, "agent_a")?.ballot).toMatchObject({ standing: "stale", why: "too old", target: "agent_b" });
  });

  test("of unknown voters are left out", () => {
    const state = fold([started("ab"), stepFinished("a", { vote: "agent_b", step: 1 })]);
    const ballot = findAgent(state, "agent_a")?.ballot;
    if (!ballot) throw new Error("no ballot");
    expect(() => fold([barrier(1, [{ ...ballot, voter: "agent_zz" }])], state)).not.toThrow();
    expect(state.agents).toHaveLength(2);
  });
});

describe("a deliberation", () => {
  test("shows standings, current steps, limits and the stop", () => {
    const state = fold([
      started("abc"),
      roundStarted(1, "abc"),
      stepStarted("a"),
      stepStarted("b"),
      stepFinished("a", { answer: 1 }),
      stepFinished("b", { vote: "agent_a", step: 1 }),
      stepFinished("c", { failed: "crash" }),
    ]);
    const request = { reason: "timeout", message: "over" } as const;
    expect(deliberationOf(state, 7, request)).toMatchObject({
      round: 1,
      maxRounds: 7,
      launched: 2,
      stop: request,
      verdict: null,
      current: { agent_a: 1 },
      agents: [
        { id: "agent_a", live: true, rounds: 1, ballot: null },
        { id: "agent_b", live: true, answers: [], ballot: { target: "agent_a" } },
        { id: "agent_c", live: false },
      ],
    });
  });

  test("is a copy: what plugins do to ballots and lists changes no state", () => {
    const state = fold([started("ab"), stepFinished("a", { answer: 1 }), stepFinished("a", { vote: "agent_a", step: 2 })]);
    const [first] = deliberationOf(state, 5, null).agents;
    if (!first?.ballot) throw new Error("no ballot");
    first.ballot.standing = "invalid";
    (first.answers as unknown[]).length = 0;
    expect(findAgent(state, "agent_a")?.ballot?.standing).toBe("valid");
    expect(currentSteps(state)).toEqual({ agent_a: 1 });
  });
});

describe("money", () => {
  test("a running step's cost is replaced by the newer one, then by the final one: never added", () => {
    const state = fold([started("a"), stepStarted("a"), stepCost("a", { usd: 0.1 }), stepCost("a", { usd: 0.2 })]);
    expect([...state.costs.values()]).toEqual([{ agent: "agent_a", cost: { usd: 0.2, inputTokens: 0, outputTokens: 0 }, finished: false }]);
    fold([stepFinished("a", { answer: 1 }, { cost: { usd: 0.3, inputTokens: 5 } })], state);
    expect([...state.costs.values()]).toEqual([{ agent: "agent_a", cost: { usd: 0.3, inputTokens: 5, outputTokens: 0 }, finished: true }]);
  });

  test("each try has its own", () => {
    const state = fold([
      started("a"),
      stepFinished("a", { failed: "crash" }, { retry: true, cost: { usd: 0.1 } }),
      stepFinished("a", { answer: 1 }, { kind: "retry", try: 2, cost: { usd: 0.2 } }),
    ]);
    expect([...state.costs.keys()]).toEqual(["agent_a/1/1", "agent_a/1/2"]);
  });

  test("what an interrupted step has spent counts", () => {
    const state = fold([started("a"), stepFinished("a", { failed: "killed" }, { interrupted: true, cost: { usd: 0.4 } })]);
    expect(state.costs.get("agent_a/1/1")?.cost.usd).toBe(0.4);
  });

  test("a final report that says nothing does not undo what was reported on the way", () => {
    const state = fold([started("a"), stepCost("a", { usd: 0.4, outputTokens: 9 }), stepFinished("a", { failed: "killed" })]);
    expect(state.costs.get("agent_a/1/1")).toEqual({
      agent: "agent_a",
      cost: { usd: 0.4, inputTokens: 0, outputTokens: 9 },
      finished: true,
    });
  });

  test("a late report of a finished step changes nothing", () => {
    const state = fold([started("a"), stepFinished("a", { answer: 1 }, { cost: { usd: 0.4 } }), stepCost("a", { usd: 0.1 })]);
    expect(state.costs.get("agent_a/1/1")).toMatchObject({ cost: { usd: 0.4 }, finished: true });
  });

  test("a step that was lost with its process before it reported is unknown, not free", () => {
    const state = fold([started("ab"), stepStarted("a"), stepStarted("b"), stepCost("b", { usd: 0.2 })]);
    expect(state.costs.size).toBe(1);
    fold([resumed()], state);
    expect(state.costs.get("agent_a/1/1")).toEqual({
      agent: "agent_a",
      cost: { usd: null, inputTokens: 0, outputTokens: 0 },
      finished: false,
    });
    expect(state.costs.get("agent_b/1/1")?.cost.usd).toBe(0.2);
  });

  test("a lost step that turns out to have finished counts once", () => {
    const state = fold([started("a"), stepStarted("a"), resumed(), stepFinished("a", { answer: 1 }, { cost: { usd: 0.5 } })]);
    expect([...state.costs.values()].map(({ cost }) => cost.usd)).toEqual([0.5]);
  });

  test("steps have keys of their own", () => {
    const keys = [
      { agent: "agent_a", round: 1, try: 1 },
      { agent: "agent_a", round: 1, try: 2 },
      { agent: "agent_a", round: 11, try: 1 },
      { agent: "agent_aa", round: 1, try: 1 },
    ].map(stepKey);
    expect(new Set(keys).size).toBe(4);
  });
});

describe("the rest of the run", () => {
  test("what run.started says", () => {
    expect(fold([started("ab")])).toMatchObject({
      sessionId: "team_20261129_181500",
      startedAt: "2026-11-29T18:15:00.000Z",
      limits: { maxRounds: 5 },
      engine: { name: "massgen" },
      round: 0,
      agents: [{ agent: { id: "agent_a", model: "codex/model-a" } }, { agent: { id: "agent_b" } }],
    });
  });

  test("warnings of preflight and of plugins are kept in order", () => {
    const state = fold([
      started("a"),
      { type: "preflight.warning", message: "no key for grok" },
      { type: "plugin.error", plugin: "csv", hook: "onEvent", message: "boom" },
    ]);
    expect(state.warnings).toEqual(["no key for grok", "plugin csv, onEvent: boom"]);
  });

  test("a resume forgets the decision and the end, takes the new limits, and keeps the rest", () => {
    const state = fold([
      started("ab"),
      roundStarted(1, "ab"),
      stepFinished("a", { answer: 1 }, { cost: { usd: 1 } }),
      { type: "decision", round: 1, decision: forced },
      { type: "run.finished", exit_code: 130, decision: forced, total_usd: 1, elapsed_seconds: 4 },
    ]);
    expect(state).toMatchObject({ decision: forced, finished: true });
    const limits = { ...noLimits, maxRounds: 9 };
    fold([{ type: "run.resumed", elapsed_seconds: 4, limits }], state);
    expect(state).toMatchObject({ decision: null, finished: false, limits: { maxRounds: 9 }, round: 1 });
    expect(findAgent(state, "agent_a")?.rounds).toBe(1);
    expect(state.costs.size).toBe(1);
  });

  test("a resume of what comes after a decision that stands keeps it", () => {
    const state = fold([started("ab"), roundStarted(1, "ab"), { type: "decision", round: 1, decision: forced }]);
    fold([{ type: "run.resumed", elapsed_seconds: 4, limits: noLimits, decided: true }], state);
    expect(state).toMatchObject({ decision: forced, finished: false });
  });

  test("what a barrier found of a ballot stays known when its voter votes again", () => {
    const state = fold([started("ab"), roundStarted(1, "ab"), stepFinished("a", { vote: "agent_b", step: 1, seen: { agent_b: 1 } })]);
    const found = deliberationOf(state, 5, null).agents.flatMap(({ ballot }) => (ballot ? [ballot] : []));
    fold([stop, barrier(1, found), stepFinished("a", { vote: "agent_a", step: 2, seen: {} }, { round: 2 })], state);
    expect(findAgent(state, "agent_a")?.ballot).toMatchObject({ target: "agent_a", step: 2 });
    expect(state.standings.get("agent_a")).toMatchObject({ target: "agent_b", step: 1, standing: "valid" });
  });

  test("elapsed never goes back; seq is that of the last event", () => {
    const state = emptyState();
    applyEvent(state, { ...envelope(started("a"), 1), elapsed: 50 });
    applyEvent(state, { ...envelope(roundStarted(1, "a"), 2), elapsed: 3 });
    expect(state).toMatchObject({ elapsed: 50, seq: 2 });
  });

  test("unknown event types are ignored: older programs read newer journals", () => {
    const state = fold([started("a")]);
    const before = structuredClone({ ...state, seq: 2, elapsed: 2 });
    applyEvent(state, { v: 1, seq: 2, ts: "", elapsed: 2, type: "agent.paused", agent: "agent_a" } as unknown as TeamEvent);
    expect(state).toEqual(before);
  });

  test("folding a journal that went through JSON gives the same state", () => {
    const bodies = [
      started("ab"),
      roundStarted(1, "ab"),
      stepStarted("a"),
      stepCost("a", { usd: 0.2 }),
      stepFinished("a", { vote: "agent_b", step: 1, seen: { agent_b: 1 } }, { cost: { usd: 0.3 } }),
      stepFinished("b", { answer: 1 }),
      barrier(1),
    ];
    const read: EventBody[] = JSON.parse(JSON.stringify(bodies));
    expect(fold(read)).toEqual(fold(bodies));
  });
});
