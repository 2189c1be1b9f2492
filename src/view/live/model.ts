import type { RunState } from "../../session/state.ts";
import { totalCost } from "../../session/totals.ts";
import { formatDuration, formatMoney } from "../../text.ts";
import type { AgentId } from "../../types.ts";
import { type Activity, wordsInFocus } from "../activity.ts";
import { type AgentRow, agentRows, currentBallots, phaseOf } from "../agent-row.ts";
import { phraseOf, shortTotal } from "../phrases.ts";

/** Everything that the live view shows, in data. */
export interface LiveModel {
  /** `round 2 of 5`, `synthesis: agent_b is writing the final answer`. */
  readonly headline: string;
  /** `3m 12s`, `26m 48s left`, `$0.42`, `$4.58 left`: the most wanted first. */
  readonly facts: readonly string[];
  readonly rows: readonly AgentRow[];
  readonly votes: Votes;
  /** The last words of the agent in focus; null when nobody has said anything. */
  readonly words: { readonly agent: AgentId; readonly words: string } | null;
}

export interface Votes {
  /** Valid votes, most first. */
  readonly tally: readonly { readonly agent: AgentId; readonly votes: number }[];
  readonly stale: number;
  readonly invalid: number;
  /** How many make a consensus: more than half of the live agents. */
  readonly needed: number;
}

/** @param elapsed seconds that the run has taken by now */
export function liveModel(state: RunState, activity: Activity, elapsed: number): LiveModel {
  return {
    headline: headlineOf(state, activity),
    facts: factsOf(state, elapsed),
    rows: agentRows(state, activity, elapsed),
    votes: votesOf(state),
    words: wordsInFocus(activity),
  };
}

/** Who has how many valid votes at this moment. */
export function votesOf(state: RunState): Votes {
  const live = state.agents.filter((agent) => agent.live);
  const ballots = [...currentBallots(state)].flatMap(([voter, ballot]) => (live.some(({ agent }) => agent.id === voter) ? [ballot] : []));
  const tally = state.agents
    .map(({ agent: { id } }) => ({
      agent: id,
      votes: ballots.filter(({ target, standing }) => standing === "valid" && target === id).length,
    }))
    .filter(({ votes }) => votes > 0)
    .sort((a, b) => b.votes - a.votes);
  const count = (standing: string) => ballots.filter((ballot) => ballot.standing === standing).length;
  return { tally, stale: count("stale"), invalid: count("invalid"), needed: Math.floor(live.length / 2) + 1 };
}

// --- internal ---

function headlineOf({ round, limits, decision, agents }: RunState, { stopping, synthesis, extra }: Activity): string {
  if (stopping !== null) return `stopping: ${stopping}`;
  if (synthesis?.kind === "agent") {
    const model = agents.find(({ agent }) => agent.id === extra?.agent)?.agent.model ?? "another model";
    return extra
      ? `synthesis by ${model}: ${phraseOf({ id: extra.agent, phase: phaseOf(extra), detail: extra.tool, why: "", running: true })}`
      : "synthesis";
  }
  if (decision) return decision.winner ? `${decision.kind} for ${decision.winner}` : "no answer";
  if (round === 0) return "starting";
  return limits ? `round ${round} of ${limits.maxRounds}` : `round ${round}`;
}

function factsOf(state: RunState, elapsed: number): string[] {
  const { limits } = state;
  const whole = (seconds: number) => formatDuration(Math.floor(Math.max(0, seconds)));
  const cost = totalCost(state);
  const facts = [whole(elapsed)];
  if (limits) facts.push(`${whole(limits.timeoutSeconds - elapsed)} left`);
  facts.push(shortTotal(cost));
  const budget = limits?.costBudget ?? null;
  if (budget !== null) facts.push(`${formatMoney(Math.max(0, budget - (cost.total_usd ?? 0)))} left`);
  return facts;
}
