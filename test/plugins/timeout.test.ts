import { afterEach, beforeEach, describe, expect, jest, test } from "bun:test";
import timeout from "../../plugins/timeout.ts";
import { deliberationWith } from "../support/decisions.ts";
import { runPlugin } from "../support/plugin-run.ts";

const undecided = () => deliberationWith({ a: { answers: { 1: 2 } }, b: { answers: { 1: 1 } } });
const atWork = (timeoutSeconds = 1800) => runPlugin(timeout, { timeoutSeconds });

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe("at the barrier", () => {
  test("nothing happens before the time is over", async () => {
    const run = atWork();
    run.team.elapsedSeconds = 1799.99;
    expect((await run.deliberate(undecided())).verdict).toBeNull();
    await run.cleanup?.();
  });

  test("the best answer so far is forced once it is", async () => {
    const run = atWork();
    run.team.elapsedSeconds = 1800;
    expect((await run.deliberate(undecided())).verdict).toEqual({
      kind: "forced",
      reason: "timeout",
      winner: "agent_b",
      rule: "The time limit of 1800 s is reached; there were no votes to count, and agent_b answered first.",
    });
    await run.cleanup?.();
  });

  test("there is none without an answer", async () => {
    const run = atWork();
    run.team.elapsedSeconds = 2000;
    const { verdict } = await run.deliberate(deliberationWith({ a: {}, b: {} }));
    expect(verdict).toMatchObject({ kind: "none", reason: "timeout", winner: null });
    await run.cleanup?.();
  });

  test("a consensus of before wins, and so does a stop that is under way", async () => {
    const run = atWork();
    run.team.elapsedSeconds = 2000;
    const verdict = { kind: "consensus", reason: "majority", winner: "agent_a", rule: "Two of two." } as const;
    expect((await run.deliberate({ ...undecided(), verdict })).verdict).toBe(verdict);
    expect((await run.deliberate({ ...undecided(), stop: { reason: "plugin", message: "enough" } })).verdict).toBeNull();
    await run.cleanup?.();
  });
});

describe("in the middle of a round", () => {
  test("the clock is looked at every 250 ms, and the run stopped at the first look after its time", async () => {
    const run = atWork(60);
    run.team.elapsedSeconds = 59.9;
    jest.advanceTimersByTime(10_000);
    expect(run.team.stops).toEqual([]);
    run.team.elapsedSeconds = 60;
    jest.advanceTimersByTime(249);
    jest.advanceTimersByTime(1);
    expect(run.team.stops).toEqual([{ reason: "timeout", message: "the time limit of 60 s is reached" }]);
    await run.cleanup?.();
  });

  test("a clock that has jumped ahead by a suspend counts, however few timers have fired", async () => {
    const run = atWork(1800);
    run.team.elapsedSeconds = 100_000;
    jest.advanceTimersByTime(250);
    expect(run.team.stops).toHaveLength(1);
    await run.cleanup?.();
  });

  test("it asks again, so that the synthesis is stopped too", async () => {
    const run = atWork(60);
    run.team.elapsedSeconds = 61;
    jest.advanceTimersByTime(1000);
    expect(run.team.stops.length).toBeGreaterThan(1);
    expect(new Set(run.team.stops.map(({ message }) => message)).size).toBe(1);
    await run.cleanup?.();
  });

  test("nothing is left ticking after the run", async () => {
    const run = atWork(60);
    await run.cleanup?.();
    run.team.elapsedSeconds = 61;
    jest.advanceTimersByTime(1000);
    expect(run.team.stops).toEqual([]);
    expect(jest.getTimerCount()).toBe(0);
  });
});
