import { describe, expect, test } from "bun:test";
import table from "../../src/native/prices.json" with { type: "json" };
import { listPrice, priceOfReply } from "../../src/native/prices.ts";
import { createMeter } from "../../src/native/usage.ts";

const usage = { input: 1000, cachedInput: 0, cacheWrite: 0, output: 100 };

const api = "https://api.example.com/v1";

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
      expect(listPrice(type, model, api)).not.toBeNull();
    }
  });

  test("gives no model the price of another", () => {
    expect(listPrice("openai", "gpt-5.4-2026-03-05", api)).toEqual(listPrice("openai", "gpt-5.4", api));
    expect(listPrice("claude", "claude-opus-4-6-20260205", api)).not.toBeNull();
    for (const model of ["gpt-5.4-super", "gpt-5.45", "gpt-5.4-2026", "gpt-9", "GPT"]) expect(listPrice("openai", model, api)).toBeNull();
    expect(listPrice("openrouter", "gpt-5.4", api)).toBeNull();
    expect(listPrice("gemini", "gpt-5.4", api)).toBeNull();
    expect(listPrice("copilot", "gpt-5.4", api)).toBeNull();
  });

  test("is nothing for servers on this machine, and unknown for those elsewhere, whatever they are called", () => {
    const here = ["127.0.0.1:11434", "localhost:8000", "[::1]:1234", "127.9.9.9", "0.0.0.0:11434"];
    for (const host of here) expect([host, listPrice("ollama", "llama3", `http://${host}/v1`)]).toEqual([host, { input: 0, output: 0 }]);
    expect(listPrice("demo", "brief", null)).toEqual({ input: 0, output: 0 });
    const elsewhere = [
      "gpu.example.com",
      "192.168.1.5:8000",
      "localhost.example.com",
      "127.0.0.1.example.com",
      "user@10.0.0.1",
      "[2001:db8::1]",
    ];
    for (const type of ["ollama", "vllm", "lmstudio", "sglang"])
      for (const host of elsewhere) expect([type, host, listPrice(type, "llama3", `http://${host}/v1`)]).toEqual([type, host, null]);
    expect(listPrice("ollama", "gpt-oss:120b-cloud", "http://127.0.0.1:11434/v1")).toBeNull();
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
  test("is nothing, whatever breaks off, where nothing is asked for", () => {
    const free = createMeter({ input: 0, output: 0 });
    free.add(null, false);
    expect([free.free, free.total.usd, free.total.uncounted]).toEqual([true, 0, 0]);
    expect(createMeter({ input: 1, output: 2 }).free).toBe(false);
  });

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
