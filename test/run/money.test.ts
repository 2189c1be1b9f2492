import { describe, expect } from "bun:test";
import { readFileSync } from "node:fs";
import type { FakeCost, FakeStep } from "../fixtures/fake-massgen/script.ts";
import { type Story, tell } from "../support/story.ts";

// design.md, "Money", as whole runs. checkRun adds up the steps of every run of all these tests once more.

const agree = "answer, vote a";
const answer = { text: "An answer", workspace: false };
const hangs: FakeStep = { before: { forever: true } };
const answering = (usd: number): FakeStep => ({ answer, cost: { usd } });
const voting = (usd: number): FakeStep => ({ vote: "agent_a", cost: { usd } });
const free: FakeCost = { usd: 0, inputTokens: 1000, outputTokens: 100 };
const budget = (usd: number, ...more: string[]) => ["--cost-budget", String(usd), ...more];

describe("a budget", () => {
  tell([
    {
      title: "that is used up at a barrier launches nothing more: the first answer wins",
      plays: { a: [answering(0.5)], b: ["answer after a"] },
      args: budget(0.51),
      rounds: ["a answered, b answered"],
      ends: "forced cost_budget a, exit 0",
      rule: /^The budget of \$0\.51 is used up \(\$0\.51 spent\); /,
      look: ({ result, events }) => {
        expect(result.limits).toMatchObject({ cost_budget: 0.51, reached: "cost_budget" });
        expect(events.some(({ type }) => type === "stop")).toBe(false);
        expect(events.filter(({ type }) => type === "limit.reached").length).toBe(1);
      },
    },
    {
      title: "that a finished step exceeds stops the others at once, and the overshoot is told",
      plays: { a: [answering(0.75)], b: [hangs] },
      args: budget(0.5),
      rounds: ["a answered, b interrupted"],
      ends: "forced cost_budget a, exit 0",
      rule: /^The budget of \$0\.50 is exceeded \(\$0\.75 spent\); /,
      look: ({ result, events, stderr }) => {
        expect(result.limits.reached).toBe("cost_budget");
        expect(events.find(({ type }) => type === "stop")).toMatchObject({ reason: "cost_budget", stopped: ["agent_b"] });
        expect(stderr).toContain("stopping: the budget of $0.50 is exceeded ($0.75 spent)");
        expect(stderr.trimEnd().split("\n").at(-1)).toStartWith("total spent: ≥ $0.75 (1 of 2 agents unpriced)");
      },
    },
    {
      title: "that a running step exceeds stops it in the middle of the round",
      plays: {
        a: "answer",
        b: [
          {
            cost: {
              live: [
                { usd: 0.1, inputTokens: 9, outputTokens: 9, until: { seconds: 1 } },
                { usd: 0.6, inputTokens: 9, outputTokens: 9, until: { forever: true } },
              ],
            },
          },
        ],
      },
      args: budget(0.5),
      rounds: ["a answered, b interrupted"],
      ends: "forced cost_budget a, exit 0",
      look: ({ result, events }) => {
        expect(result.cost).toMatchObject({ total_usd: 0.61, known: "all", by_agent: { agent_b: { usd: 0.6 } } });
        expect(events.some((event) => event.type === "step.cost" && event.agent === "agent_b" && event.cost.usd === 0.6)).toBe(true);
      },
    },
    {
      title: "is kept by the sum of running steps, none of which exceeds it alone",
      plays: {
        a: [{ cost: { live: [{ usd: 0.3, inputTokens: 9, outputTokens: 9, until: { forever: true } }] } }],
        b: [{ cost: { live: [{ usd: 0.3, inputTokens: 9, outputTokens: 9, until: { forever: true } }] } }],
      },
      args: budget(0.5),
      ends: "none cost_budget, exit 5",
      look: ({ result }) => expect(result.cost.total_usd).toBe(0.6),
    },
    {
      title: "a consensus that is complete by then wins",
      plays: { a: [answering(0.1), voting(0.1)], b: [answering(0.1), voting(5)] },
      args: budget(1),
      rounds: ["a answered, b answered", "a voted a, b voted a"],
      ends: "consensus majority a, exit 0",
      look: ({ result }) => {
        expect(result.limits.reached).toBeNull();
        expect(result.cost.total_usd).toBe(5.3);
      },
    },
    {
      title: "votes that are there decide",
      plays: {
        a: ["answer", { vote: "agent_b", cost: { usd: 0.01 } }],
        b: ["answer after a", { vote: "nobody", before: { file: "finished-agent_a-2" }, cost: { usd: 3 } }],
      },
      args: budget(1),
      ends: "forced cost_budget b, exit 0",
      ballots: "a→b valid, b→nobody invalid",
    },
    {
      title: "counts failed attempts, and refuses the retry that it cannot pay",
      plays: {
        a: [{ fail: "server", cost: { usd: 0.4, inputTokens: 1, outputTokens: 1 }, before: { file: "finished-agent_b-1" } }, "answer"],
        b: "answer",
      },
      args: budget(0.41),
      rounds: ["a failed(model), b answered"],
      ends: "forced cost_budget b, exit 0",
    },
    {
      title: "a launch that would likely overshoot is warned about, once for the round, and made all the same",
      plays: { a: [answering(0.4), voting(0.01)], b: [answering(0.4), voting(0.01)] },
      args: budget(1),
      ends: "consensus majority a, exit 0",
      look: ({ stderr }) => {
        const warnings = stderr.split("\n").filter((line) => line.includes("will likely exceed the budget of $1.00"));
        expect(warnings).toEqual([expect.stringContaining("$0.80 spent, about $0.80 ahead")]);
      },
    },
    {
      title: "enough for the run is never mentioned",
      plays: { a: agree, b: agree },
      args: budget(100),
      ends: "consensus majority a, exit 0",
      look: ({ stderr }) => expect(stderr).not.toContain("budget"),
    },
    {
      title: "of a fraction of a cent counts",
      plays: { a: [answering(0.0004)], b: [{ answer, cost: { usd: 0.0004 }, before: { file: "finished-agent_a-1" } }] },
      args: budget(0.0005),
      ends: "forced cost_budget a, exit 0",
      rule: /the budget of \$0\.0005 is exceeded \(\$0\.0008 spent\)/i,
    },
    {
      title: "cost_budget of mg-team.yaml counts, and --strict tells that it ended the run",
      plays: { a: [answering(0.5)], b: ["answer after a"] },
      yaml: "cost_budget: 0.5\n",
      args: ["--strict"],
      ends: "forced cost_budget a, exit 6",
    },
    {
      title: "leaves nothing for a synthesis: the winner's answer stands, and the document says why",
      plays: { a: [answering(0.5)], b: ["answer after a"] },
      args: budget(0.5, "--synthesis", "agent"),
      ends: "forced cost_budget a, exit 0",
      look: ({ result, launches }) => {
        expect(result.synthesis.why_not_agent).toBe("the budget is used up");
        expect(launches.filter(({ kind }) => kind === "step").length).toBe(2);
      },
    },
    {
      title: "a synthesis that would likely exceed it is left out",
      plays: { a: [answering(0.4), voting(0.3)], b: [answering(0.1), voting(0.1)] },
      args: budget(1, "--synthesis", "agent"),
      ends: "consensus majority a, exit 0",
      look: ({ result }) => expect(result.synthesis.why_not_agent).toBe("it would likely exceed the budget"),
    },
  ]);
});

describe("a step with tokens and no price", () => {
  const unpriced: Story["plays"] = { a: [{ answer, cost: free }, "vote a"], b: ["answer after a", "vote a"] };
  tell([
    {
      title: "under a budget refuses further launches, and names the line to add",
      plays: unpriced,
      args: budget(5),
      rounds: ["a answered, b answered"],
      ends: "forced cost_budget a, exit 0",
      look: ({ result, stderr }) => {
        expect(result.decision.rule).toContain("prices: { model-a: { input: USD, output: USD } }");
        expect(result.decision.rule).toContain("--allow-unpriced");
        expect(stderr).toContain("prices: { model-a:");
        expect(result.cost).toMatchObject({
          total_usd: 0.01,
          known: "partial",
          by_agent: { agent_a: { usd: null, known: "none", unpriced_tokens: 1100 } },
        });
        expect(stderr.trimEnd().split("\n").at(-1)).toStartWith("total spent: ≥ $0.01 (1 of 2 agents unpriced)");
      },
    },
    { title: "--allow-unpriced goes on", plays: unpriced, args: budget(5, "--allow-unpriced"), ends: "consensus majority a, exit 0" },
    { title: "without a budget goes on, and the total says that it is not all", plays: unpriced, ends: "consensus majority a, exit 0" },
    {
      title: "takes its price from prices: of mg-team.yaml",
      plays: unpriced,
      yaml: "prices: { model-a: { input: 100, output: 1000 } }\n",
      args: budget(5),
      ends: "consensus majority a, exit 0",
      look: ({ result }) => {
        // 1000 × $100 and 100 × $1000 per million, and 0.01 for its vote.
        expect(result.cost).toMatchObject({ total_usd: 0.23, known: "all", by_agent: { agent_a: { usd: 0.21, unpriced_tokens: 0 } } });
      },
    },
    {
      title: "a price: of mg-team.yaml keeps the budget like any other",
      plays: { a: [{ answer, cost: free }], b: "answer after a" },
      yaml: "prices: { grok/model-a: { input: 5000, output: 0 } }\n",
      args: budget(4),
      ends: "forced cost_budget a, exit 0",
    },
    {
      title: "what MassGen reports goes before prices:",
      plays: { a: agree, b: agree },
      yaml: "prices: { model-a: { input: 100000, output: 100000 } }\n",
      ends: "consensus majority a, exit 0",
      look: ({ result }) => expect(result.cost.total_usd).toBe(0.04),
    },
  ]);
});

describe("reports that are none", () => {
  const reports: Readonly<Record<string, FakeCost>> = {
    "a text": { usd: "0.01 USD" },
    "a number in quotes": { usd: "0.01" },
    negative: { usd: -1 },
    NaN: { usd: { literal: "NaN" } },
    Infinity: { usd: { literal: "Infinity" } },
    "a million": { usd: 1_000_000 },
    null: { usd: null },
    "a list": { usd: [0.01] },
    "a map": { usd: { value: 0.01 } },
    true: { usd: true },
    "beside tokens that are a text": { usd: 0, inputTokens: "many" },
    "beside negative tokens": { usd: 0, inputTokens: -5, outputTokens: 10 },
    "negative, without tokens": { usd: -1, inputTokens: 0, outputTokens: 0 },
    "a text, without tokens": { usd: "free", inputTokens: 0, outputTokens: 0 },
    absent: { absent: true },
    "half written": { halfWritten: true },
  };
  tell(
    Object.entries(reports).map(
      ([what, cost]): Story => ({
        title: `a cost that is ${what}: a warning, the run goes on, and the total is marked as partial`,
        plays: { a: [{ answer, cost }, "vote a"], b: agree },
        rounds: ["a answered, b answered", "a voted a, b voted a"],
        ends: "consensus majority a, exit 0",
        look: ({ result, stderr }) => {
          expect(result.cost).toMatchObject({ known: "partial", total_usd: 0.03, by_agent: { agent_a: { known: "partial", usd: 0.01 } } });
          expect(stderr.trimEnd().split("\n").at(-1)).toStartWith("total spent: ≥ $0.03 (1 of 2 agents unpriced)");
          expect(result.warnings.filter((warning) => /agent_a: (its reported cost|the step reported no cost)/.test(warning)).length).toBe(
            1,
          );
          expect(result.agents[0]?.steps.map(({ usd }) => usd)).toEqual([null, 0.01]);
        },
      }),
    ),
  );
  tell([
    {
      title: "the last report of a step counts, not the sum of all that it made",
      plays: { a: [{ answer, cost: { live: [{ usd: 0.2, inputTokens: 9, outputTokens: 9 }], usd: 0.3 } }, "vote a"], b: agree },
      ends: "consensus majority a, exit 0",
      look: ({ result }) => expect(result.agents[0]?.steps[0]?.usd).toBe(0.3),
    },
    {
      title: "a step that answered and reports to have spent nothing, not even a token, has spent nobody knows what",
      plays: { a: [{ answer, cost: { usd: 0, inputTokens: 0, outputTokens: 0 } }, "vote a"], b: agree },
      ends: "consensus majority a, exit 0",
      look: ({ result }) => expect(result.cost).toMatchObject({ known: "partial", by_agent: { agent_a: { known: "partial" } } }),
    },
    {
      title: "nobody knows anything: the total is unknown, not nothing",
      plays: { a: [{ answer, cost: { absent: true } }], b: [{ answer, cost: { absent: true }, before: { file: "finished-agent_a-1" } }] },
      args: ["--max-rounds", "1"],
      ends: "forced max_rounds a, exit 0",
      look: ({ result, stderr, directory }) => {
        expect(result.cost).toMatchObject({ total_usd: null, known: "none" });
        expect(stderr.trimEnd().split("\n").at(-1)).toStartWith("total spent: unknown in ");
        expect(readFileSync(directory.finalAnswer, "utf8")).not.toContain("$0");
      },
    },
  ]);
});
