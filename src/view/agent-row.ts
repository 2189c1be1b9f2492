import { markBallots } from "../consensus.ts";
import type { AgentCost } from "../session/result.ts";
import { type AgentState, deliberationOf, type RunState } from "../session/state.ts";
import { totalCost } from "../session/totals.ts";
import type { AgentId, Ballot } from "../types.ts";
import type { Activity, AgentActivity } from "./activity.ts";

/** What an agent is at, in one word. */
export type AgentPhase =
  | "waiting"
  | "starting"
  | "thinking"
  | "tool"
  | "answered"
  | "voted"
  | "stale"
  | "invalid"
  | "failed"
  | "retrying"
  | "skipped"
  | "stopped"
  | "out";

/** One agent as every view shows it. */
export interface AgentRow {
  readonly id: AgentId;
  readonly model: string;
  readonly phase: AgentPhase;
  /** Of a tool its name, of a vote its target, of all that went wrong the reason; else empty. */
  readonly detail: string;
  /** Why a vote is stale or invalid; empty otherwise. */
  readonly why: string;
  /** Whether a step of it is under way. */
  readonly running: boolean;
  /** Of the step under way, or of its last one; 0 before the first. */
  readonly round: number;
  readonly try: number;
  /** Seconds that this step has taken; null before the first. */
  readonly seconds: number | null;
  /** Null where nobody counted. */
  readonly cost: AgentCost | null;
}

/**
 * Every agent as it is at this moment.
 * @param elapsed seconds that the run has taken by now
 */
export function agentRows(
  state: RunState,
  activity: Activity,
  elapsed: number,
  { by_agent: costs } = totalCost(state),
): readonly AgentRow[] {
  const ballots = currentBallots(state);
  return state.agents.map((agent) => {
    const { id, model } = agent.agent;
    const cost = costs[id] ?? freeCost;
    const busy = activity.steps.get(id);
    return { id, model, cost, ...(busy ? busyRow(busy, elapsed) : restingRow(agent, ballots.get(id) ?? null, activity)) };
  });
}

/** Ballots as they stand now: a vote is stale from the moment that somebody answers, not only from the next barrier. */
export function currentBallots(state: RunState): ReadonlyMap<AgentId, Ballot> {
  const deliberation = deliberationOf(state, Number.POSITIVE_INFINITY, null);
  markBallots(deliberation);
  return new Map(
    deliberation.agents.flatMap(({ id, ballot }) => {
      if (!ballot) return [];
      // What a barrier has marked stays, plugins have a say in it.
      const told = state.agents.find(({ agent }) => agent.id === id)?.ballot;
      return [[id, told && told.standing !== "valid" ? told : ballot] as const];
    }),
  );
}

/** The phase of a step under way. It answers and votes before it ends: whom it voted for is known at its end. */
export function phaseOf({ phase }: Pick<AgentActivity, "phase">): AgentPhase {
  return phase === "waiting" ? "starting" : phase;
}

// --- internal ---

type Part = Omit<AgentRow, "id" | "model" | "cost">;

const freeCost: AgentCost = { usd: 0, known: "all", input_tokens: 0, output_tokens: 0, unpriced_tokens: 0 };

function busyRow(step: AgentActivity, elapsed: number): Part {
  const { tool, round, try: attempt, startedAt } = step;
  const seconds = Math.max(0, elapsed - startedAt);
  return { phase: phaseOf(step), detail: tool, why: "", running: true, round, try: attempt, seconds };
}

function restingRow({ live, failure, steps }: AgentState, ballot: Ballot | null, activity: Activity): Part {
  const last = steps.findLast(({ kind }) => kind === "round" || kind === "retry");
  if (!last) return { phase: "waiting", detail: "", why: "", running: false, round: 0, try: 1, seconds: null };
  const { action, interrupted } = last;
  const done = { running: false, round: action.round, try: action.try, seconds: action.seconds, why: "" };
  if (!live) return { phase: "out", detail: failure ? `${failure.class}: ${failure.message}` : "", ...done };
  if (interrupted) return { phase: "stopped", detail: "", ...done };
  switch (action.kind) {
    case "new_answer":
      return { phase: "answered", detail: "", ...done };
    case "vote": {
      const phase = ballot === null || ballot.standing === "valid" ? "voted" : ballot.standing;
      return { phase, detail: action.target, ...done, why: ballot?.why ?? "" };
    }
    case "failed":
      return { phase: activity.ended ? "failed" : "retrying", detail: `${action.class}: ${action.message}`, ...done };
    case "skipped":
      return { phase: "skipped", detail: `by ${action.by}: ${action.reason}`, ...done };
  }
}
