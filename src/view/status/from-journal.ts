import type { TeamDirectory } from "../../session/directory.ts";
import type { TeamEvent } from "../../session/events.ts";
import { applyEvent, deliberationOf, emptyState, type RunState } from "../../session/state.ts";
import { totalCost } from "../../session/totals.ts";
import type { AgentId, Ballot } from "../../types.ts";
import { type Activity, applyActivity, emptyActivity } from "../activity.ts";
import { type AgentRow, agentRows, currentBallots } from "../agent-row.ts";
import { conditionOf } from "../condition.ts";
import { votesOf } from "../live/model.ts";
import { type Cell, timelineOf } from "../timeline.ts";
import { previewOf } from "./answers.ts";
import { consensusSentence } from "./sentence.ts";
import type { StatusAgent, TeamStatus, TimelineMark } from "./shape.ts";

/** What else is known of a run of mg-team, beside its journal. */
export interface Surroundings {
  readonly query: string | null;
  /** A process holds the run's lock. */
  readonly locked: boolean;
  /** Its result.json is there. */
  readonly hasResult: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The status of a run, from its journal; answers are read for their beginnings. */
export function statusFromJournal(directory: TeamDirectory, events: readonly TeamEvent[], around: Surroundings): TeamStatus {
  const state = emptyState();
  const activity = emptyActivity();
  for (const event of events) {
    applyEvent(state, event);
    applyActivity(activity, event);
  }
  if (!around.locked) Object.assign(activity, { ...emptyActivity(), ended: true });
  const elapsed = elapsedOf(state, events.at(-1), around);
  const cost = totalCost(state);
  const ballots = currentBallots(state);
  const { tally, needed } = votesOf(state);
  const condition = conditionOf({
    locked: around.locked,
    delivered: state.finished && around.hasResult,
    started: state.startedAt !== "",
    reason: state.decision?.reason ?? null,
  });
  return {
    version: 1,
    session_id: directory.id,
    directory: directory.root,
    source: "journal",
    state: condition,
    query: around.query,
    started_at: state.startedAt || null,
    elapsed_seconds: Math.round(elapsed * 1000) / 1000,
    round: state.round,
    limits: state.limits,
    cost,
    agents: agentsOf(agentRows(state, activity, elapsed, cost), state, activity, directory.session),
    ballots: [...ballots.values()].map(({ voter, target, step, standing, why, self, reason }) => {
      return { voter, target, step, standing, why, self, reason };
    }),
    tally: Object.fromEntries(tally.map(({ agent, votes }) => [agent, votes])),
    votes_needed: needed,
    decision: state.decision,
    consensus: consensusSentence(deliberationOf(state, Number.POSITIVE_INFINITY, null), state.decision),
    columns: "rounds",
    timeline: timelineOf(state, events).lanes.flatMap(({ agent, cells }) =>
      cells.flatMap((cell) => (cell ? [markOf(agent.id, cell, ballots.get(agent.id), around.locked)] : [])),
    ),
    warnings: [...state.warnings],
    unknown: [],
  };
}

// --- internal ---

function agentsOf(rows: readonly AgentRow[], state: RunState, activity: Activity, sessionDir: string): StatusAgent[] {
  const current = new Map(state.agents.map(({ agent, answers, failure }) => [agent.id, { answer: answers.at(-1), failure }] as const));
  return rows.map((row): StatusAgent => {
    const { answer, failure = null } = current.get(row.id) ?? {};
    const words = wordsOf(activity, row.id);
    const seconds = row.seconds === null ? null : Math.round(row.seconds * 1000) / 1000;
    return { ...row, seconds, words, answer: answer ? previewOf(sessionDir, row.id, answer.step, answer.round) : null, failure };
  });
}

function wordsOf({ steps, extra }: Activity, id: AgentId): string {
  return steps.get(id)?.words || (extra?.agent === id ? extra.words : "");
}

function markOf(agent: AgentId, cell: Cell, ballot: Ballot | undefined, locked: boolean): TimelineMark {
  const { round: column, earlierTries, step, vote, failure } = cell;
  const place = { agent, column, tries: earlierTries + 1, step, target: null, standing: null, class: null };
  switch (cell.outcome) {
    case "answer":
      return { ...place, action: "new_answer" };
    case "vote": {
      // An answer since the last barrier may have made the latest vote stale.
      const standing = ballot?.step === step ? ballot.standing : (vote?.standing ?? "valid");
      return { ...place, action: "vote", target: vote?.target ?? "", standing };
    }
    case "failed":
      return { ...place, action: "failed", class: failure?.class ?? null };
    case "unfinished":
      return { ...place, action: locked ? "running" : "stopped" };
    default:
      return { ...place, action: cell.outcome };
  }
}

/** A run at work goes on after its last event; one that crashed has worked until then, as far as its journal knows. */
function elapsedOf(state: RunState, last: TeamEvent | undefined, { locked, now }: Surroundings): number {
  if (!locked || !last || state.finished) return state.elapsed;
  return state.elapsed + Math.max(0, (now - Date.parse(last.ts)) / 1000 || 0);
}
