import { decideByMajority, markBallots, mustAct } from "../../consensus.ts";
import { listOf } from "../../text.ts";
import type { AgentId, Deliberation, Verdict } from "../../types.ts";

/** Where the vote stands, in a sentence. `deliberation` is marked by this. */
export function consensusSentence(deliberation: Deliberation, decision: Verdict | null): string {
  if (decision) return decision.winner ? `${decision.kind} for ${decision.winner}: ${decision.rule}` : `no answer: ${decision.rule}`;
  markBallots(deliberation);
  const verdict = decideByMajority(deliberation);
  if (verdict?.kind === "consensus") return `consensus for ${verdict.winner}: ${verdict.rule}`;
  if (verdict) return `no consensus: ${verdict.rule}`;
  const live = deliberation.agents.filter((agent) => agent.live);
  const acting = mustAct(deliberation).map(({ id }) => id);
  const needed = Math.floor(live.length / 2) + 1;
  const leader = leaderOf(deliberation);
  const votes = leader
    ? `${leader.id} has ${leader.votes} of the ${needed} votes that it takes`
    : `nobody has a valid vote, ${needed} are needed`;
  return `no consensus yet: ${votes}${acting.length === 0 ? "" : `; ${shortList(acting)} must act`}`;
}

// --- internal ---

function leaderOf({ agents }: Deliberation): { readonly id: AgentId; readonly votes: number } | null {
  const count = (id: AgentId) => agents.filter(({ ballot }) => ballot?.standing === "valid" && ballot.target === id).length;
  const ranked = agents.map(({ id }) => ({ id, votes: count(id) })).sort((a, b) => b.votes - a.votes);
  const [first] = ranked;
  return first && first.votes > 0 ? first : null;
}

function shortList(ids: readonly AgentId[]): string {
  return ids.length > 6 ? `${ids.slice(0, 5).join(", ")} and ${ids.length - 5} others` : listOf(ids);
}
