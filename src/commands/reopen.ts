import { costOf, priceOf, type TokenPrice } from "../session/cost.ts";
import { findAgent, type RunState } from "../session/state.ts";
import type { Limits } from "../types.ts";

/**
 * Takes a decision back that may come out otherwise now (design.md, "Resume"): it was forced by a signal, by a limit that is raised, or for
 * want of a price that is known now.
 * @param before the limits of the run so far
 * @param prices the prices of the run so far, with those that were added; they also count for the steps before
 */
export function reopen(state: RunState, before: Limits, now: Limits, prices: Readonly<Record<string, TokenPrice>>): void {
  const priced = priceSteps(state, prices);
  if (state.decision !== null && isOpen(state.decision.reason, before, now, priced)) state.decision = null;
}

// --- internal ---

function isOpen(reason: string, before: Limits, now: Limits, priced: boolean): boolean {
  switch (reason) {
    case "interrupted":
      return true;
    case "timeout":
      return now.timeoutSeconds > before.timeoutSeconds;
    case "max_rounds":
      return now.maxRounds > before.maxRounds;
    case "cost_budget":
      return priced || (now.costBudget ?? 0) > (before.costBudget ?? 0) || (now.allowUnpriced && !before.allowUnpriced);
    default:
      return false;
  }
}

/** Only steps that reported tokens can be priced: what was never reported stays unknown. Says whether there were any. */
function priceSteps(state: RunState, prices: Readonly<Record<string, TokenPrice>>): boolean {
  let any = false;
  for (const [key, step] of state.costs) {
    const { usd, inputTokens, outputTokens } = step.cost;
    const agent = findAgent(state, step.agent)?.agent;
    const price = agent ? priceOf(prices, agent.backend, agent.modelName) : null;
    if (usd !== null || price === null || inputTokens + outputTokens === 0) continue;
    state.costs.set(key, { ...step, cost: costOf({ ...step.cost, usd: 0 }, price).cost });
    any = true;
  }
  return any;
}
