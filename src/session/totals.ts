import { formatMoney, plural } from "../text.ts";
import type { AgentId, StepCost } from "../types.ts";
import type { AgentCost, CostKnown, ResultCost } from "./result.ts";
import type { RunState } from "./state.ts";

/** Sums what the steps of a run have spent, each once; unknown stays unknown (design.md, "Money"). */
export function totalCost(state: RunState): ResultCost {
  const costs = [...state.costs.values()];
  const ids = new Set([...state.agents.map(({ agent }) => agent.id), ...costs.map(({ agent }) => agent)]);
  const byAgent: Record<AgentId, AgentCost> = {};
  for (const id of ids) byAgent[id] = sumCosts(costs.filter(({ agent }) => agent === id).map(({ cost }) => cost));
  const all = sumCosts(costs.map(({ cost }) => cost));
  return { total_usd: all.usd, known: all.known, by_agent: byAgent };
}

/** `$0.42`, `≥ $0.42 (1 of 3 agents unpriced)`, `unknown`: what is not known is never shown as nothing. */
export function formatCost(cost: ResultCost): string {
  if (cost.known === "none" || cost.total_usd === null) return "unknown";
  if (cost.known === "all") return formatMoney(cost.total_usd);
  const agents = Object.values(cost.by_agent);
  const unpriced = agents.filter(({ known }) => known !== "all").length;
  return `≥ ${formatMoney(cost.total_usd)} (${unpriced} of ${plural(agents.length, "agent")} unpriced)`;
}

/** The sum of some steps, each counted once by the caller. */
export function sumCosts(costs: readonly StepCost[]): AgentCost {
  const known = costs.filter((cost) => cost.usd !== null);
  const whole = known.filter((cost) => !cost.incomplete);
  return {
    usd: known.length === 0 && costs.length > 0 ? null : round(known.reduce((total, cost) => total + (cost.usd ?? 0), 0)),
    known: knownOf(known.length, whole.length, costs.length),
    input_tokens: costs.reduce((total, cost) => total + cost.inputTokens, 0),
    output_tokens: costs.reduce((total, cost) => total + cost.outputTokens, 0),
    unpriced_tokens: costs.reduce((total, cost) => total + (cost.usd === null ? cost.inputTokens + cost.outputTokens : 0), 0),
  };
}

// --- internal ---

function knownOf(known: number, whole: number, all: number): CostKnown {
  if (whole === all) return "all";
  return known === 0 ? "none" : "partial";
}

/** To a millionth of a cent: sums of binary fractions would show as $0.30000000000000004. */
function round(usd: number): number {
  return Math.round(usd * 1e8) / 1e8;
}
