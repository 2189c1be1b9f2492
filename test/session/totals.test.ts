import { describe, expect, test } from "bun:test";
import { formatCost, totalCost } from "../../src/session/totals.ts";
import { fold, resumed, started, stepCost, stepFinished, stepStarted } from "../support/events.ts";

describe("what a run has cost", () => {
  test("is nothing, and known, before the first step", () => {
    expect(totalCost(fold([started("ab")]))).toEqual({
      total_usd: 0,
      known: "all",
      by_agent: {
        agent_a: { usd: 0, known: "all", input_tokens: 0, output_tokens: 0, unpriced_tokens: 0 },
        agent_b: { usd: 0, known: "all", input_tokens: 0, output_tokens: 0, unpriced_tokens: 0 },
      },
    });
  });

  test("sums all steps: tries, rounds, running ones, synthesis, agents outside the team", () => {
    const cost = totalCost(
      fold([
        started("ab"),
        stepFinished("a", { failed: "crash" }, { retry: true, cost: { usd: 0.1, inputTokens: 10 } }),
        stepFinished("a", { answer: 1 }, { try: 2, kind: "retry", cost: { usd: 0.2, inputTokens: 20, outputTokens: 1 } }),
        stepFinished("a", { answer: 1 }, { round: 0, kind: "synthesis", cost: { usd: 1 } }),
        stepStarted("b"),
        stepCost("b", { usd: 0.3, outputTokens: 7 }),
        stepFinished("z", { answer: 1 }, { round: 0, kind: "plugin", cost: { usd: 2 } }),
      ]),
    );
    expect(cost).toMatchObject({
      total_usd: 3.6,
      known: "all",
      by_agent: {
        agent_a: { usd: 1.3, input_tokens: 30, output_tokens: 1 },
        agent_b: { usd: 0.3, output_tokens: 7 },
        agent_z: { usd: 2 },
      },
    });
  });

  test("is at least the sum where a step could not count all of it", () => {
    const cost = totalCost(
      fold([
        started("ab"),
        stepFinished("a", { answer: 1 }, { cost: { usd: 0.5, inputTokens: 10, incomplete: true } }),
        stepFinished("b", { answer: 1 }, { cost: { usd: 0.25 } }),
      ]),
    );
    expect(cost).toMatchObject({
      total_usd: 0.75,
      known: "partial",
      by_agent: { agent_a: { usd: 0.5, known: "partial", unpriced_tokens: 0 }, agent_b: { known: "all" } },
    });
    expect(formatCost(cost)).toStartWith("≥ $0.75");
  });

  test("sums cents without the noise of binary fractions", () => {
    const steps = [0.1, 0.2, 0.7].map((usd, index) => stepFinished("a", { answer: index + 1 }, { round: index + 1, cost: { usd } }));
    expect(totalCost(fold([started("a"), ...steps])).total_usd).toBe(1);
    expect(JSON.stringify(totalCost(fold([started("a"), ...steps.slice(0, 2)])).total_usd)).toBe("0.3");
  });

  test("keeps a millionth of a dollar, a hundred times", () => {
    const steps = Array.from({ length: 100 }, (_, index) =>
      stepFinished("a", { answer: index + 1 }, { round: index, cost: { usd: 0.000001 } }),
    );
    expect(totalCost(fold([started("a"), ...steps])).total_usd).toBe(0.0001);
  });

  test("is partly known when one step has tokens and no price, and says how many tokens that are", () => {
    const cost = totalCost(
      fold([
        started("ab"),
        stepFinished("a", { answer: 1 }, { cost: { usd: 0.42 } }),
        stepFinished("b", { answer: 1 }, { cost: { inputTokens: 100, outputTokens: 20 } }),
      ]),
    );
    expect(cost).toMatchObject({
      total_usd: 0.42,
      known: "partial",
      by_agent: {
        agent_a: { usd: 0.42, known: "all", unpriced_tokens: 0 },
        agent_b: { usd: null, known: "none", input_tokens: 100, output_tokens: 20, unpriced_tokens: 120 },
      },
    });
  });

  test("is unknown, not 0, when nothing is known", () => {
    const cost = totalCost(fold([started("ab"), stepFinished("a", { answer: 1 }), stepFinished("b", { answer: 1 })]));
    expect(cost).toMatchObject({ total_usd: null, known: "none" });
  });

  test("is partly known when a step was lost before it reported", () => {
    const cost = totalCost(fold([started("ab"), stepStarted("a"), stepFinished("b", { answer: 1 }, { cost: { usd: 0.5 } }), resumed()]));
    expect(cost).toMatchObject({ total_usd: 0.5, known: "partial", by_agent: { agent_a: { usd: null, known: "none" } } });
  });

  test("of a free step is 0 and known", () => {
    const cost = totalCost(fold([started("a"), stepFinished("a", { answer: 1 }, { cost: { usd: 0, inputTokens: 5 } })]));
    expect(cost).toMatchObject({ total_usd: 0, known: "all", by_agent: { agent_a: { unpriced_tokens: 0 } } });
  });
});

describe("a cost in words", () => {
  const words = (...usd: (number | null)[]) =>
    formatCost(
      totalCost(
        fold([
          started("abc".slice(0, usd.length)),
          ...usd.map((each, index) => stepFinished("abc".charAt(index), { answer: 1 }, { cost: { usd: each, inputTokens: 5 } })),
        ]),
      ),
    );

  test("is the sum when all is known", () => expect(words(0.4, 0.02)).toBe("$0.42"));
  test("is a lower bound, with who is unpriced, when some is", () =>
    expect(words(0.4, null, 0.02)).toBe("≥ $0.42 (1 of 3 agents unpriced)"));
  test("is never $0.00 when nothing is known", () => expect(words(null, null)).toBe("unknown"));
});
