import { createHooks, type RunInfo, type TeamHooks } from "../../src/plugin/hooks.ts";
import type { CurrentAnswer, Team } from "../../src/plugin/plugin.ts";
import type { AgentCost, ResultCost } from "../../src/session/result.ts";
import type { Agent, Limits, StopRequest } from "../../src/types.ts";

/** A `Team` for tests of single plugins: what it is told stays readable, what it says can be set. */
export interface FakeTeam extends Team {
  elapsedSeconds: number;
  cost: ResultCost;
  answers: readonly CurrentAnswer[];
  readonly run: RunInfo;
  /** Every call of `stop`, the first one wins in a real run. */
  readonly stops: StopRequest[];
  /** Those of them that let running steps finish. */
  readonly lastCalls: StopRequest[];
  /** Every line of `log.warn`. */
  readonly warnings: string[];
  readonly infos: string[];
}

export function fakeTeam(
  options: { readonly hooks?: TeamHooks; readonly limits?: Partial<Limits>; readonly agents?: readonly Agent[] } = {},
): FakeTeam {
  const stops: StopRequest[] = [];
  const lastCalls: StopRequest[] = [];
  const warnings: string[] = [];
  const infos: string[] = [];
  return {
    hooks: options.hooks ?? createHooks(),
    log: { info: (message) => void infos.push(message), warn: (message) => void warnings.push(message) },
    run: {
      sessionId: "team_20261129_181500",
      query: "Build a landing page",
      agents: options.agents ?? [agent("a", "codex/gpt-5.4"), agent("b", "gemini/gemini-3.1-pro-preview"), agent("c", "grok/grok-4.20")],
      project: "/nowhere",
      directory: "/nowhere",
      limits: { ...noLimits, ...options.limits },
      synthesis: "agent",
      synthesizer: null,
    },
    answers: [],
    elapsedSeconds: 0,
    cost: costOf({}),
    stop: (request, options) => {
      stops.push(request);
      if (options?.finishRunning) lastCalls.push(request);
    },
    runStep: () => Promise.reject(new Error("this test runs no steps")),
    stops,
    lastCalls,
    warnings,
    infos,
  };
}

export const noLimits: Limits = {
  maxRounds: 5,
  timeoutSeconds: 1800,
  costBudget: null,
  stepTimeoutSeconds: null,
  retries: 1,
  maxParallel: null,
  allowUnpriced: false,
};

/** `agent("a", "codex/gpt-5.4")`. */
export function agent(letter: string, model: string): Agent {
  const [backend = "", modelName = ""] = model.split("/");
  return { id: `agent_${letter}`, model, backend, modelName };
}

/** Costs by agent letter: dollars, or tokens without a price. */
export function costOf(agents: Readonly<Record<string, { readonly usd?: number; readonly unpricedTokens?: number }>>): ResultCost {
  const byAgent: Record<string, AgentCost> = {};
  let total = 0;
  let known: ResultCost["known"] = "all";
  for (const [letter, { usd, unpricedTokens = 0 }] of Object.entries(agents)) {
    total += usd ?? 0;
    if (unpricedTokens > 0) known = "partial";
    byAgent[`agent_${letter}`] = {
      usd: usd ?? null,
      known: unpricedTokens > 0 ? "none" : "all",
      input_tokens: unpricedTokens,
      output_tokens: 0,
      unpriced_tokens: unpricedTokens,
    };
  }
  return { total_usd: total, known, by_agent: byAgent };
}
