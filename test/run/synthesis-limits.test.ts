import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { longestQueryBytes } from "../../src/preflight.ts";
import type { FakeStep } from "../fixtures/fake-massgen/script.ts";
import { type KeptRun, patience, playRun } from "../support/runs.ts";
import { tell } from "../support/story.ts";

// Where time, money or a key runs short for a synthesis: the winner's answer is delivered, and the cause is said. The time limit of the whole
// run is in time.test.ts, a budget that is used up before in money.test.ts, Ctrl-C and other signals in signals.test.ts, and a step that
// brings nothing by itself in synthesis.test.ts.

const plays = { a: [{ answer: { text: "The winner's text", workspace: false } }, "vote a"], b: "answer, vote a" };
const args = ["--synthesis", "agent"];
const synthesis = (step: FakeStep) => ({ rules: [{ when: { session: "synthesis/session" }, step }] });
const ends = "consensus majority a, exit 0";

/** That the winner's answer stands, and why, in every place that tells of it. */
function stands({ result, directory, stderr, events }: KeptRun, why: string): void {
  // Nobody is said to merge what nobody merges.
  const began = events.some((event) => event.type === "step.started" && event.kind === "synthesis");
  expect(/synthesis: \S+ merges the answers/.test(stderr)).toBe(began);
  expect(result.synthesis).toMatchObject({ kind: "markdown", why_not_agent: why });
  const document = readFileSync(directory.finalAnswer, "utf8");
  expect(document).toStartWith("> **The answer of agent_a (grok/model-a)**, as submitted");
  expect(document).toContain("There is no synthesis by a model");
  expect(document).toContain("The winner's text");
  expect(stderr).toContain(`synthesis: the winner's answer stands as it is: ${why}`);
}

describe("a synthesis", () => {
  tell([
    {
      title: "that takes longer than --step-timeout is stopped",
      plays,
      args: [...args, "--step-timeout", "10m"],
      script: synthesis({ before: { forever: true } }),
      onEvent(event, { skip }) {
        if (event.type === "step.started" && event.kind === "synthesis") skip(601);
      },
      ends,
      look: (run) => stands(run, "the synthesis step brought no answer (timeout: stopped: it did not act within its 600 s)"),
    },
    {
      title: "that comes to exceed the budget is stopped, and what it cost is told",
      plays,
      args: [...args, "--cost-budget", "1"],
      script: synthesis({ cost: { live: [{ usd: 1.2, until: { forever: true } }] } }),
      ends,
      look: (run) => {
        stands(run, "the synthesis step brought no answer (the budget of $1.00 is exceeded ($1.24 spent))");
        expect(run.result.cost.total_usd).toBe(1.24);
        expect(run.result.decision.reason).toBe("majority");
        expect(run.stderr.trimEnd().split("\n").at(-1)).toStartWith("total spent: $1.24");
      },
    },
    {
      title: "by a synthesizer without a key is warned about before anything is spent, and then fails",
      plays,
      args,
      yaml: "synthesizer: claude\n",
      env: { ANTHROPIC_API_KEY: "" },
      script: { requireKeys: true },
      ends,
      look: (run) => {
        const why = run.result.synthesis.why_not_agent ?? "";
        expect(why).toMatch(/^the synthesis step brought no answer \(auth: .*API key not found/);
        stands(run, why);
        const warning = "the synthesizer claude/claude-opus-4-6 has no key; without it the winner's answer is delivered as it is";
        expect(run.stderr.indexOf(warning)).toBeGreaterThan(-1);
        expect(run.stderr.indexOf(warning)).toBeLessThan(run.stderr.indexOf("round 1"));
      },
    },
    {
      title: "is stopped by a plugin's team.stop, which names the reason",
      plays,
      args: [...args, "--plugin", "./stopper.ts"],
      files: {
        "stopper.ts": `import { definePlugin } from "mg-team";
export default definePlugin({ name: "stopper", apply(team) {
  team.hooks.onEvent.tap("stopper", (event) => {
    if (event.type === "step.started" && event.kind === "synthesis") team.stop({ reason: "plugin", message: "enough for today" });
  });
} });\n`,
      },
      script: synthesis({ before: { forever: true } }),
      ends,
      look: (run) => stands(run, "the synthesis step brought no answer (enough for today)"),
    },
  ]);
});

test.concurrent(
  "the longest query that a run takes reaches the synthesis as well",
  async () => {
    const query = `${"0123456789abcde\n".repeat(longestQueryBytes / 16)}`.slice(0, longestQueryBytes);
    const { result, launches } = await playRun({
      plays: { ...plays, c: "answer, vote a", d: "answer, vote a" },
      query,
      args,
      script: synthesis({ answer: { text: "The merged text", workspace: false } }),
    });
    expect(result.synthesis).toMatchObject({ kind: "agent", why_not_agent: null });
    const step = launches.find(({ sessionDir }) => sessionDir?.endsWith("synthesis/session"));
    expect(step?.query).toContain(query);
  },
  patience,
);
