import type { RunResult } from "../../session/result.ts";
import type { AgentId } from "../../types.ts";
import type { Cell, Lane, Timeline } from "../timeline.ts";

/** An agent that thought otherwise than before. */
export interface Change {
  readonly agent: AgentId;
  readonly round: number;
  readonly kind:
    | "vote" /** It voted for another agent than before. */
    | "yield" /** It voted for another agent though it had an answer of its own. */
    | "answer" /** It answered again after it had voted. */;
  /** Whom it was for before; empty for nobody. */
  readonly from: string;
  /** Whom it is for now. */
  readonly to: string;
  /** The voter's own words; of a new answer why the vote did not count any more; empty when nothing is known. */
  readonly why: string;
}

/** A valid vote for somebody else than the winner. */
export interface Dissent {
  readonly voter: AgentId;
  readonly target: string;
  readonly self: boolean;
  readonly reason: string;
}

/** Who changed their mind, in the order of rounds. Pure. */
export function changesOf({ lanes }: Timeline): readonly Change[] {
  return lanes.flatMap(changesIn).sort((a, b) => a.round - b.round);
}

/** Who voted for another than the one that was chosen. Pure. */
export function dissentOf({ decision }: RunResult): readonly Dissent[] {
  if (decision.winner === null) return [];
  return decision.ballots.filter(({ standing, target }) => standing === "valid" && target !== decision.winner);
}

// --- internal ---

function changesIn({ agent: { id }, cells }: Lane): Change[] {
  const changes: Change[] = [];
  /** Whom the agent is for. */
  let side = "";
  let before: Cell | null = null;
  for (const cell of cells) {
    if (cell?.outcome !== "vote" && cell?.outcome !== "answer") continue;
    const change = changeOf(id, cell, side, before);
    if (change) changes.push(change);
    side = cell.vote ? cell.vote.target : id;
    before = cell;
  }
  return changes;
}

function changeOf(agent: AgentId, cell: Cell, side: string, before: Cell | null): Change | null {
  if (!before) return null;
  const { round, vote } = cell;
  const common = { agent, round, from: side };
  if (!vote) return before.vote ? { ...common, kind: "answer", to: agent, why: before.vote.why } : null;
  if (vote.target === side) return null;
  return { ...common, kind: before.vote ? "vote" : "yield", to: vote.target, why: vote.reason };
}
