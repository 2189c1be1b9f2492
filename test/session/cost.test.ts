import { describe, expect, test } from "bun:test";
import { type CostReport, costOf, priceOf } from "../../src/session/cost.ts";
import { unknownCost } from "../../src/types.ts";

const report = (usd: unknown, inputTokens: unknown = 1000, outputTokens: unknown = 100): CostReport => ({ usd, inputTokens, outputTokens });
const price = { input: 3, output: 15 };

describe("a reported cost", () => {
  test("above zero counts, also where a price is known", () => {
    expect(costOf(report(0.25), null)).toEqual({ cost: { usd: 0.25, inputTokens: 1000, outputTokens: 100 }, problem: null });
    expect(costOf(report(0.25), price).cost.usd).toBe(0.25);
  });

  test("of zero with tokens is unknown, not free", () => {
    expect(costOf(report(0.0), null)).toEqual({ cost: { usd: null, inputTokens: 1000, outputTokens: 100 }, problem: null });
  });

  test("of zero with tokens takes the price of the config, per million tokens", () => {
    expect(costOf(report(0, 1_000_000, 100_000), price).cost.usd).toBeCloseTo(4.5, 10);
  });

  test("of zero without tokens is known to be zero", () => {
    expect(costOf(report(0, 0, 0), null)).toEqual({ cost: { usd: 0, inputTokens: 0, outputTokens: 0 }, problem: null });
  });

  test("that is incomplete stays so, with and without a price; of nothing it is unknown", () => {
    const part = { usd: 0.25, inputTokens: 1000, outputTokens: 100, incomplete: true };
    expect(costOf(part, price)).toEqual({ cost: { ...part, incomplete: true }, problem: null });
    expect(costOf({ ...part, usd: 0 }, price).cost).toMatchObject({ usd: 0.0045, incomplete: true });
    expect(costOf({ ...report(0, 0, 0), incomplete: true }, price)).toEqual({ cost: unknownCost, problem: null });
  });

  test("of zero with tokens is known where the reporter knew the price, whatever is thought to be the price here", () => {
    expect(costOf({ ...report(0), priced: true }, price).cost).toEqual({ usd: 0, inputTokens: 1000, outputTokens: 100 });
    expect(costOf({ ...report(0), priced: true, incomplete: true }, null).cost.usd).toBeNull();
  });

  const bad: readonly unknown[] = ["0.5", -1, Number.NaN, Number.POSITIVE_INFINITY, 1_000_000, null, undefined, {}, [1], true];
  test.each(bad.map((usd) => [usd]))("of %p is unknown and named", (usd) => {
    const { cost, problem } = costOf(report(usd), null);
    expect(cost).toEqual({ usd: null, inputTokens: 1000, outputTokens: 100 });
    expect(problem).toContain("no amount of dollars");
  });

  test.each(bad.map((usd) => [usd]))("of %p takes the price of the config where it has tokens", (usd) => {
    expect(costOf(report(usd), price).cost.usd).toBeCloseTo(0.0045, 10);
    expect(costOf(report(usd, 0, 0), price).cost).toEqual(unknownCost);
  });

  test.each([["12"], [-1], [Number.NaN], [null], [{}], [1e15]])("with %p tokens keeps its dollars", (tokens) => {
    expect(costOf(report(0.5, tokens), null)).toMatchObject({ cost: { usd: 0.5, inputTokens: 0, outputTokens: 100 } });
    expect(costOf(report(0.5, tokens), null).problem).toContain("input tokens");
    expect(costOf(report(0, tokens, tokens), null).cost).toEqual(unknownCost);
  });

  test("shows no more than a little of what is wrong", () => {
    expect(costOf(report("x".repeat(10_000)), null).problem?.length).toBeLessThan(100);
  });
});

describe("the price of a model", () => {
  const prices = {
    "grok-4.20": { input: 1, output: 1 },
    "grok-4.20-0309": { input: 2, output: 2 },
    "gpt-5": { input: 3, output: 3 },
    "openai/gpt-5": { input: 4, output: 4 },
    "": { input: 9, output: 9 },
  };
  const cases: readonly (readonly [string, string, number | null])[] = [
    ["grok", "grok-4.20", 1],
    ["grok", "grok-4.20-0309-reasoning", 2],
    ["grok", "grok-4.20-0411", 1],
    ["grok", "GROK-4.20", 1],
    ["grok", "grok-4.2", null],
    ["codex", "gpt-5", 3],
    ["openai", "gpt-5", 4],
    ["openai", "gpt-5-mini", 4],
    ["codex", "gpt-5.4", null],
    ["codex", "gpt-55", null],
    ["ollama", "gpt-5:latest", 3],
    ["claude", "claude-opus-4-6", null],
  ];
  test.each(cases)("%s/%s is found under the longest key", (backend, model, input) => {
    expect(priceOf(prices, backend, model)?.input ?? null).toBe(input);
  });
});
