import { describe, expect, test } from "bun:test";
import budget from "../../plugins/budget.ts";
import type { EventBody } from "../../src/session/events.ts";
import type { Limits } from "../../src/types.ts";
import { deliberationWith } from "../support/decisions.ts";
import { resumed, roundStarted, started, stepCost, stepFinished, stepStarted } from "../support/events.ts";
import { type PluginRun, runPlugin } from "../support/plugin-run.ts";

const withBudget = (costBudget: number | null, limits: Partial<Limits> = {}, before?: readonly EventBody[]) =>
  runPlugin(budget, { costBudget, ...limits }, before);

/** A round in which each of the agents answers for that much. */
function playRound(run: PluginRun, round: number, usd: number, letters = "abc"): void {
  run.emit(roundStarted(round, letters));
  for (const letter of letters) run.emit(stepStarted(letter, { round }));
  for (const letter of letters) run.emit(stepFinished(letter, { answer: round }, { round, cost: { usd, inputTokens: 9 } }));
}

const undecided = () => deliberationWith({ a: { answers: { 1: 2 } }, b: { answers: { 1: 1 } }, c: {} });
const tokens = { inputTokens: 900, outputTokens: 100 };

describe("without a budget", () => {
  test("nothing is refused, stopped or said, whatever it costs", async () => {
    const run = withBudget(null);
    playRound(run, 1, 1000);
    run.emit(stepFinished("a", { answer: 2 }, { round: 2, cost: tokens }));
    await run.launch({ round: 2 });
    expect((await run.deliberate(undecided())).verdict).toBeNull();
    expect(run.team).toMatchObject({ stops: [], warnings: [] });
  });
});

describe("a step that acted and reports neither cost nor tokens", () => {
  test("is warned of once for each agent, and stops nothing", async () => {
    const run = withBudget(5);
    const nothing = { usd: null, inputTokens: 0, outputTokens: 0 };
    for (const round of [1, 2]) for (const letter of "ab") run.emit(stepFinished(letter, { answer: round }, { round, cost: nothing }));
    run.emit(stepFinished("c", { failed: "crash" }, { cost: nothing }));
    await run.launch({ round: 3 });
    expect(run.team.warnings).toEqual([
      "agent_a reports neither a cost nor tokens: the budget of $5.00 cannot count its steps",
      "agent_b reports neither a cost nor tokens: the budget of $5.00 cannot count its steps",
    ]);
    expect(run.team.stops).toEqual([]);
  });
});

describe("a launch that would likely overshoot", () => {
  test("is warned of once a round, with what is spent and what is ahead, and goes on", async () => {
    const run = withBudget(5);
    playRound(run, 1, 1);
    run.emit(roundStarted(2, "abc"));
    for (const name of ["agent_a", "agent_b", "agent_c"]) expect((await run.launch({ agent: name, round: 2 })).skip).toBeNull();
    expect(run.team.warnings).toEqual(["the next steps will likely exceed the budget of $5.00: $3.00 spent, about $3.00 ahead"]);
    playRound(run, 2, 0.1);
    run.emit(roundStarted(3, "abc"));
    run.emit(stepCost("a", { usd: 0.2 }, { round: 3 }));
    await run.launch({ round: 3 });
    expect(run.team.warnings).toHaveLength(2);
    expect(run.team.stops).toEqual([]);
  });

  test("is not warned of while the money will do", async () => {
    const run = withBudget(6);
    playRound(run, 1, 1);
    run.emit(roundStarted(2, "abc"));
    await run.launch({ round: 2 });
    expect(run.team.warnings).toEqual([]);
  });

  test("is judged by the agents of that round, not by the whole team", async () => {
    const run = withBudget(5);
    playRound(run, 1, 1);
    run.emit(roundStarted(2, "a"));
    await run.launch({ round: 2 });
    expect(run.team.warnings).toEqual([]);
    await run.launch({ round: 2, kind: "retry", try: 2 });
    expect(run.team.warnings).toEqual([]);
  });

  test("is not guessed at before anything has a price", async () => {
    const run = withBudget(0.01);
    await run.launch();
    expect(run.team).toMatchObject({ stops: [], warnings: [] });
  });

  test("can be the synthesis", async () => {
    const run = withBudget(3.5);
    playRound(run, 1, 1);
    await run.launch({ kind: "synthesis", round: 0 });
    expect(run.team.warnings).toEqual(["the next steps will likely exceed the budget of $3.50: $3.00 spent, about $1.00 ahead"]);
    expect(run.team.stops).toEqual([]);
  });
});

describe("when nothing is left", () => {
  test("a launch is refused: the run stops", async () => {
    const run = withBudget(3);
    playRound(run, 1, 1);
    await run.launch({ round: 2 });
    expect(run.team.stops).toEqual([{ reason: "cost_budget", message: "the budget of $3.00 is used up ($3.00 spent)" }]);
    expect(run.team.warnings).toEqual([]);
  });

  test("the barrier decides: the best answer so far", async () => {
    const run = withBudget(3);
    playRound(run, 1, 1);
    expect((await run.deliberate(undecided())).verdict).toEqual({
      kind: "forced",
      reason: "cost_budget",
      winner: "agent_b",
      rule: "The budget of $3.00 is used up ($3.00 spent); there were no votes to count, and agent_b answered first.",
    });
  });

  test("a verdict of before, and a stop that is under way, stay", async () => {
    const run = withBudget(3);
    playRound(run, 1, 1);
    const verdict = { kind: "consensus", reason: "majority", winner: "agent_a", rule: "Two of three." } as const;
    expect((await run.deliberate({ ...undecided(), verdict })).verdict).toBe(verdict);
    const stop = { reason: "timeout", message: "over" } as const;
    expect((await run.deliberate({ ...undecided(), stop })).verdict).toBeNull();
  });

  test("of a budget of 0, nothing is launched at all", async () => {
    const run = withBudget(0);
    await run.launch();
    expect(run.team.stops).toEqual([{ reason: "cost_budget", message: "the budget of $0.00 is used up ($0.00 spent)" }]);
  });

  test("a free step leaves what is left", async () => {
    const run = withBudget(1);
    playRound(run, 1, 0);
    await run.launch({ round: 2 });
    expect(run.team.stops).toEqual([]);
  });
});

describe("an agent that waits for its turn while the money goes", () => {
  test("is refused as soon as nothing is left; what runs may finish", () => {
    const run = withBudget(1);
    run.emit(roundStarted(1, "abc"));
    for (const letter of "ab") run.emit(stepStarted(letter));
    run.emit(stepFinished("a", { answer: 1 }, { cost: { usd: 1 } }));
    expect(run.team.lastCalls).toEqual([{ reason: "cost_budget", message: "the budget of $1.00 is used up ($1.00 spent)" }]);
  });

  test("is not refused when all have their turn", () => {
    const run = withBudget(1);
    run.emit(roundStarted(1, "ab"));
    for (const letter of "ab") run.emit(stepStarted(letter));
    run.emit(stepFinished("a", { answer: 1 }, { cost: { usd: 1 } }));
    expect(run.team.stops).toEqual([]);
  });
});

describe("a budget that is exceeded in the middle of a round", () => {
  test("stops the run as soon as a running step reports it", () => {
    const run = withBudget(1);
    run.emit(roundStarted(1, "abc"));
    for (const letter of "abc") run.emit(stepStarted(letter));
    run.emit(stepCost("a", { usd: 0.5 }));
    run.emit(stepCost("b", { usd: 0.5 }));
    expect(run.team.stops).toEqual([]);
    run.emit(stepCost("a", { usd: 0.81 }));
    expect(run.team.stops).toEqual([{ reason: "cost_budget", message: "the budget of $1.00 is exceeded ($1.31 spent)" }]);
  });

  test("stops the run when a finished step brings it", () => {
    const run = withBudget(1);
    run.emit(stepFinished("a", { failed: "crash" }, { retry: true, cost: { usd: 1.001 } }));
    expect(run.team.stops).toEqual([{ reason: "cost_budget", message: "the budget of $1.00 is exceeded ($1.0010 spent)" }]);
  });

  test("counts what was known when part of it is unpriced", () => {
    const run = withBudget(1, { allowUnpriced: true });
    run.emit(stepFinished("a", { answer: 1 }, { cost: tokens }));
    run.emit(stepFinished("b", { answer: 1 }, { cost: { usd: 1.5 } }));
    expect(run.team.stops.map(({ message }) => message)).toEqual(["the budget of $1.00 is exceeded ($1.50 spent)"]);
  });

  test("is not exceeded by spending all of it", () => {
    const run = withBudget(1);
    run.emit(stepFinished("a", { answer: 1 }, { cost: { usd: 1 } }));
    expect(run.team.stops).toEqual([]);
  });

  test.each([
    [0.001, 0.0012, "the budget of $0.001 is exceeded ($0.0012 spent)"],
    [0.005, 0.01, "the budget of $0.005 is exceeded ($0.01 spent)"],
    [0.125, 0.13, "the budget of $0.125 is exceeded ($0.13 spent)"],
    [2.5, 2.500001, "the budget of $2.50 is exceeded ($2.500001 spent)"],
  ])("of %d is shown as it was given", (budget, usd, message) => {
    const run = withBudget(budget);
    run.emit(stepFinished("a", { answer: 1 }, { cost: { usd } }));
    expect(run.team.stops[0]?.message).toBe(message);
  });
});

describe("a finished step with tokens and no price", () => {
  const line = "add to mg-team.yaml  prices: { model-b: { input: USD, output: USD } }  (per million tokens), or pass --allow-unpriced";

  test("refuses further launches and names the line to add", async () => {
    const run = withBudget(5);
    run.emit(stepFinished("b", { answer: 1 }, { cost: tokens }));
    expect(run.team.stops).toEqual([]);
    await run.launch({ round: 2 });
    expect(run.team.stops).toEqual([
      { reason: "cost_budget", message: `the price of model-b is unknown, so the budget cannot be kept; ${line}` },
    ]);
  });

  test("of a model outside the team refuses further launches too", async () => {
    const run = withBudget(5);
    run.emit(stepFinished("z", { answer: 1 }, { kind: "plugin", cost: tokens }));
    await run.launch({ round: 2 });
    expect(run.team.stops.map(({ message }) => message)).toEqual([
      "the price of a model that a plugin ran is unknown, so the budget cannot be kept; add it to mg-team.yaml under prices:, or pass --allow-unpriced",
    ]);
  });

  test("decides the barrier", async () => {
    const run = withBudget(5);
    run.emit(stepFinished("b", { answer: 1 }, { cost: tokens }));
    const { verdict } = await run.deliberate(undecided());
    expect(verdict).toMatchObject({ kind: "forced", reason: "cost_budget", winner: "agent_b" });
    expect(verdict?.rule).toStartWith("The price of model-b is unknown, so the budget cannot be kept; add to mg-team.yaml");
  });

  test("refuses nothing under --allow-unpriced", async () => {
    const run = withBudget(5, { allowUnpriced: true });
    run.emit(stepFinished("b", { answer: 1 }, { cost: tokens }));
    await run.launch({ round: 2 });
    expect((await run.deliberate(undecided())).verdict).toBeNull();
    expect(run.team.stops).toEqual([]);
  });

  test("is not a step that is still under way: its price may come with the next report", async () => {
    const run = withBudget(5);
    run.emit(stepCost("b", tokens));
    await run.launch({ kind: "retry", try: 2 });
    expect(run.team.stops).toEqual([]);
    run.emit(stepFinished("b", { answer: 1 }, { cost: { usd: 0.1, ...tokens } }));
    await run.launch({ round: 2 });
    expect(run.team.stops).toEqual([]);
  });

  test("is not a step that has reported nothing: it may have died before its first token", async () => {
    const run = withBudget(5);
    run.emit(stepFinished("b", { failed: "crash" }, { retry: true }));
    await run.launch({ kind: "retry", try: 2 });
    expect(run.team.stops).toEqual([]);
  });
});

describe("a resumed run", () => {
  const before = (usd: number | null): EventBody[] => [
    started("abc"),
    roundStarted(1, "abc"),
    stepStarted("a"),
    stepFinished("a", { answer: 1 }, { cost: { usd, inputTokens: 5 } }),
    stepStarted("b"),
    stepCost("b", { usd: 0.5 }),
    resumed(),
  ];

  test("has spent what was spent before, lost steps included", async () => {
    const run = withBudget(2, {}, before(1.5));
    await run.launch();
    expect(run.team.stops).toEqual([{ reason: "cost_budget", message: "the budget of $2.00 is used up ($2.00 spent)" }]);
  });

  test("is stopped by what comes on top", () => {
    const run = withBudget(2, {}, before(1));
    run.emit(stepStarted("c"));
    run.emit(stepCost("c", { usd: 0.6 }));
    expect(run.team.stops.map(({ message }) => message)).toEqual(["the budget of $2.00 is exceeded ($2.10 spent)"]);
  });

  test("with a raised budget goes on", async () => {
    const run = withBudget(3, {}, before(1.5));
    await run.launch();
    expect((await run.deliberate(undecided())).verdict).toBeNull();
    expect(run.team.stops).toEqual([]);
  });

  test("remembers the unpriced step of a model that a plugin ran", async () => {
    const run = withBudget(5, {}, [started("abc"), stepFinished("z", { answer: 1 }, { kind: "plugin", cost: tokens }), resumed()]);
    await run.launch();
    expect(run.team.stops.map(({ message }) => message)).toEqual([expect.stringContaining("the price of a model that a plugin ran")]);
  });

  test("forgets that a lost step had no price when its end shows one", async () => {
    const lost: EventBody[] = [started("abc"), stepStarted("b"), stepCost("b", tokens), resumed()];
    const run = withBudget(5, {}, lost);
    run.emit(stepFinished("b", { answer: 1 }, { cost: { usd: 0.1, ...tokens } }));
    await run.launch();
    expect(run.team.stops).toEqual([]);
  });

  test("remembers the unpriced step", async () => {
    const run = withBudget(5, {}, before(null));
    await run.launch();
    expect(run.team.stops.map(({ message }) => message)).toEqual([expect.stringContaining("prices: { model-a: ")]);
  });
});
