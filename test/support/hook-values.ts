import type { HookName, LaunchRequest, SynthesisDocument } from "../../src/plugin/hooks.ts";
import { type RunResult, resultLimits } from "../../src/session/result.ts";
import type { AnswerAction } from "../../src/types.ts";
import { deliberationWith } from "./decisions.ts";
import { envelope, stepCost } from "./events.ts";
import { noLimits } from "./team.ts";

/** A value such as the host gives to a hook. */
export function sampleValue(hook: HookName): unknown {
  return values[hook]();
}

export function sampleLaunch(request: Partial<LaunchRequest> = {}): LaunchRequest {
  const asked = "Build a landing page";
  const plain = { kind: "round", agent: "agent_a", model: "codex/gpt-5.4", round: 1, try: 1, asked, query: asked } as const;
  return { ...plain, args: [], env: {}, skip: null, ...request };
}

export function sampleResult(): RunResult {
  return {
    version: 1,
    session_id: "team_20261129_181500",
    session_dir: "/nowhere",
    query: "Build a landing page",
    started_at: "2026-11-29T18:15:00.000Z",
    duration_seconds: 60,
    exit_code: 0,
    answer: "Here it is.",
    decision: { kind: "consensus", reason: "majority", rule: "", winner: "agent_a", winner_model: "codex/gpt-5.4", tally: {}, ballots: [] },
    rounds: 2,
    limits: resultLimits(noLimits, null),
    cost: { total_usd: 0, known: "all", by_agent: {} },
    agents: [],
    synthesis: { kind: "none", path: null, deliverable: null, winner: null, why_not_agent: null },
    checks: [],
    engine: { name: "massgen", version: "0.1.97", ballot_fix: "on" },
    warnings: [],
    plugins: {},
  };
}

// --- internal ---

const values: Readonly<Record<HookName, () => unknown>> = {
  beforeLaunch: () => sampleLaunch(),
  onAction: (): AnswerAction => ({
    kind: "new_answer",
    agent: "agent_a",
    round: 1,
    try: 1,
    step: 1,
    launchedWith: { answers: {}, blank: [] },
    seconds: 30,
    cost: { usd: 0.1, inputTokens: 10, outputTokens: 5 },
    at: 100,
  }),
  onConsensus: () => deliberationWith({ a: { answers: { 1: 1 } }, b: { vote: "a" } }),
  onSynthesis: (): SynthesisDocument => ({
    kind: "markdown",
    answer: "Here it is.",
    madeBy: null,
    markdown: "# Here it is",
    whyNotAgent: null,
    result: sampleResult(),
    directory: "/nowhere/synthesis",
  }),
  onEvent: () => envelope(stepCost("a", { usd: 0.1 }), 1),
  onFinish: () => sampleResult(),
};
