import { describe, expect, test } from "bun:test";
import table from "../../src/native/prices.json" with { type: "json" };
import { listPrice, priceOfReply } from "../../src/native/prices.ts";
import { createMeter } from "../../src/native/usage.ts";

const usage = { input: 1000, cachedInput: 0, cacheWrite: 0, output: 100 };

describe("the price list", () => {
  test("says of every price when and where it was read", () => {
    for (const { provider, model, date, source, input, output } of table) {
      expect(date).toMatch(/^20\d\d-\d\d-\d\d$/);
      expect(`${model} ${new URL(source).protocol}`).toBe(`${model} https:`);
      expect(["openai", "anthropic", "google", "xai"]).toContain(provider);
      expect(`${model} ${output > input && input > 0}`).toBe(`${model} true`);
    }
    const names = table.flatMap((row) => [row.model, ...("also" in row && row.also ? row.also : [])]);
    expect(new Set(names).size).toBe(names.length);
  });

  test("knows the default models, under every backend that runs on the same API", () => {
    for (const [type, model] of [
      ["codex", "gpt-5.4"],
      ["openai", "gpt-5.4"],
      ["claude", "claude-opus-4-6"],
      ["claude_code", "claude-opus-4-6"],
      ["gemini", "gemini-3.1-pro-preview"],
      ["grok", "grok-4.20-0309-reasoning"],
    ] as const) {
      expect(listPrice(type, model)).not.toBeNull();
    }
  });

  test("gives no model the price of another", () => {
    expect(listPrice("openai", "gpt-5.4-2026-03-05")).toEqual(listPrice("openai", "gpt-5.4"));
    expect(listPrice("claude", "claude-opus-4-6-20260205")).not.toBeNull();
    for (const model of ["gpt-5.4-super", "gpt-5.45", "gpt-5.4-2026", "gpt-9", "GPT"]) expect(listPrice("openai", model)).toBeNull();
    expect(listPrice("openrouter", "gpt-5.4")).toBeNull();
    expect(listPrice("gemini", "gpt-5.4")).toBeNull();
    expect(listPrice("copilot", "gpt-5.4")).toBeNull();
  });

  test("has nothing to ask for servers on this machine", () => {
    expect(listPrice("ollama", "llama3")).toEqual({ input: 0, output: 0 });
  });
});

describe("what a reply costs", () => {
  test("depends on what was cached, what was put into the cache, and how long the prompt was", () => {
    const price = { input: 10, output: 100, cachedInput: 1, cacheWrite: 12, long: { from: 5000, input: 20, output: 200, cachedInput: 2 } };
    expect(priceOfReply(usage, price)).toBeCloseTo((1000 * 10 + 100 * 100) / 1e6, 12);
    expect(priceOfReply({ ...usage, cachedInput: 600, cacheWrite: 300 }, price)).toBeCloseTo(
      (100 * 10 + 600 + 300 * 12 + 10_000) / 1e6,
      12,
    );
    expect(priceOfReply({ ...usage, input: 5000, cachedInput: 1000 }, price)).toBeCloseTo((4000 * 20 + 1000 * 2 + 100 * 200) / 1e6, 12);
  });

  test("is counted in full where the price of cached input is not known", () => {
    expect(priceOfReply({ ...usage, cachedInput: 1000 }, { input: 10, output: 0 })).toBeCloseTo(0.01, 12);
  });
});

describe("what a step costs", () => {
  test("is the sum of its replies, at least that where not all was counted, unknown without a price, and nothing before the first", () => {
    const meter = createMeter({ input: 10, output: 100 });
    meter.add(usage);
    meter.add(usage);
    expect(meter.total).toEqual({ inputTokens: 2000, outputTokens: 200, usd: 0.04, replies: 2, uncounted: 0 });
    meter.add(null);
    meter.add(usage, false);
    expect(meter.total).toEqual({ inputTokens: 3000, outputTokens: 300, usd: 0.06, replies: 4, uncounted: 2 });
    const unpriced = createMeter(null);
    expect(unpriced.total.usd).toBe(0);
    unpriced.add(usage);
    expect(unpriced.total.usd).toBeNull();
    const [silent, free] = [createMeter({ input: 10, output: 100 }), createMeter({ input: 0, output: 0 })];
    silent.add(null);
    free.add(null);
    expect(silent.total).toMatchObject({ usd: null, uncounted: 1 });
    expect(free.total).toMatchObject({ usd: 0, uncounted: 0 });
  });
});
