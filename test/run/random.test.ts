import { describe, expect, test } from "bun:test";
import type { FakeStep } from "../fixtures/fake-massgen/script.ts";
import { type Choices, randomChoices } from "../support/choices.ts";
import { patience, playRun, type RunSpec } from "../support/runs.ts";

// Runs by chance: whatever agents do, every rule of `checkRun` holds (votes counted again at each barrier, money added up, files whole, nothing
// left, …). `MG_TEST_SEED=17 bun test test/run/random.test.ts` plays one again.

const seeds = process.env.MG_TEST_SEED ? [Number(process.env.MG_TEST_SEED)] : Array.from({ length: 24 }, (_, index) => index + 1);

describe("any run", () => {
  for (const seed of seeds) {
    test.concurrent(
      `by seed ${seed}`,
      async () => {
        const spec = randomSpec(randomChoices(seed));
        const { code, result } = await playRun(spec);
        const strict = spec.args?.includes("--strict") === true;
        expect(code).toBe(result.decision.kind === "none" ? 5 : strict && result.decision.kind !== "consensus" ? 6 : 0);
        expect(result.agents.filter(({ status }) => status === "out").every(({ failure }) => failure !== null)).toBe(true);
      },
      patience,
    );
  }
});

function randomSpec(choices: Choices): RunSpec {
  const letters = [..."abcde"].slice(0, 2 + choices.next(4));
  const rounds = 1 + choices.next(4);
  const plays = Object.fromEntries(
    letters.map((letter) => [letter, Array.from({ length: rounds + 2 }, (_, index) => randomStep(choices, letters, index))]),
  );
  const args = ["--max-rounds", String(rounds), "--retries", String(choices.next(3))];
  if (choices.next(3) === 0) args.push("--max-parallel", String(1 + choices.next(3)));
  if (choices.next(3) === 0) args.push("--strict");
  if (choices.next(4) === 0) args.push("--json");
  if (choices.next(5) === 0) args.push("--cost-budget", "0.05", "--allow-unpriced");
  return { plays, args };
}

/** First mostly answers, then mostly votes; some trouble. */
function randomStep(choices: Choices, letters: readonly string[], index: number): FakeStep {
  const pause = { before: { seconds: choices.next(4) * 0.05 } };
  const target = () => {
    const whom = choices.next(letters.length + 2);
    return whom < letters.length ? `agent_${letters[whom]}` : whom === letters.length ? "agent_a" : "agent9";
  };
  const kind = choices.next(20);
  if (kind === 19) return { ...pause, fail: "server" };
  if (kind === 18) return { ...pause, nothing: true };
  if (kind === 17) return { ...pause, answer: { text: " ", workspace: false } };
  if (kind === 16) return { ...pause, answer: { text: "x", workspace: false, garble: "cut" } };
  if (kind === 15) return { ...pause, fail: "auth" };
  const cost = { usd: choices.next(6) === 0 ? 0 : 0.01 * choices.next(3), inputTokens: 100, outputTokens: 10 };
  const exit = choices.next(10) === 0 ? 2 : 0;
  const votes = index === 0 ? kind < 3 : kind < 12;
  if (votes) return { ...pause, cost, exit, vote: target() };
  return { ...pause, cost, exit, answer: { text: `Answer ${index} (${choices.next(1000)})`, workspace: choices.next(2) === 0 } };
}
