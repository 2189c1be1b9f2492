import { closeSync, existsSync, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { TeamError } from "../../errors.ts";
import { listTeamIds, sessionsPath, type TeamDirectory, teamDirectory } from "../../session/directory.ts";
import { readJournal } from "../../session/journal.ts";
import { isLocked, readHolder } from "../../session/lock.ts";
import { readResult } from "../../session/read-result.ts";
import { unwaiting } from "../../session/regular-file.ts";
import type { CostKnown, RunResult } from "../../session/result.ts";
import { applyEvent, emptyState, type RunState } from "../../session/state.ts";
import { totalCost } from "../../session/totals.ts";
import type { AgentId, DecisionKind, DecisionReason } from "../../types.ts";
import { conditionOf, type RunCondition } from "../condition.ts";
import { readTeamConfig } from "../status/read.ts";

/** One run of a project, as `mg-team sessions --json` prints it. */
export interface SessionEntry {
  readonly session_id: string;
  /** Absolute path of the team directory. */
  readonly directory: string;
  /** `unknown` for a run that another program started, or that cannot be read. */
  readonly state: RunCondition;
  /** ISO 8601; null when nobody wrote it down. */
  readonly started_at: string | null;
  readonly query: string | null;
  readonly models: readonly string[];
  /** Null while it is not decided. */
  readonly decision: {
    readonly kind: DecisionKind;
    readonly reason: DecisionReason;
    readonly winner: AgentId | null;
    readonly winner_model: string | null;
  } | null;
  readonly rounds: number | null;
  /** US dollars; null when nothing is known. */
  readonly total_usd: number | null;
  readonly cost_known: CostKnown;
  /** Seconds that mg-team has worked on it. */
  readonly duration_seconds: number | null;
}

/** All runs of a project, newest first. */
export function readSessions(projectDir: string): SessionEntry[] {
  return listTeamIds(projectDir)
    .reverse()
    .map((id) => readOrUnknown(id, join(projectDir, sessionsPath, id)));
}

// --- internal ---

type Facts = Pick<SessionEntry, "started_at" | "decision" | "rounds" | "total_usd" | "cost_known" | "duration_seconds">;

/** One run that cannot be read must not hide the others: a run of another user, or a damaged one. */
function readOrUnknown(id: string, root: string): SessionEntry {
  try {
    return readSession(teamDirectory(root));
  } catch (error) {
    if (!(error instanceof TeamError)) throw error;
    const nothing = {
      started_at: null,
      decision: null,
      rounds: null,
      total_usd: null,
      cost_known: "none",
      duration_seconds: null,
    } as const;
    return { session_id: id, directory: root, state: "unknown", query: null, models: [], ...nothing };
  }
}

function readSession(directory: TeamDirectory): SessionEntry {
  const { id, root } = directory;
  const { query, models } = readTeamConfig(directory);
  // Whoever holds a lock has left word of it; to try the lock of every run there ever was would take a second.
  const locked = readHolder(root) !== null && isLocked(root);
  const delivered = !locked && hasEnded(directory.journal);
  const result = delivered ? readResult(directory.result).result : null;
  const facts = result ? factsOfResult(result) : factsOfJournal(directory);
  const started = facts.started_at !== null;
  const ours = started || locked || directory.cookie !== "";
  const state = ours
    ? conditionOf({ locked, delivered: delivered && existsSync(directory.result), started, reason: facts.decision?.reason ?? null })
    : "unknown";
  return { session_id: id, directory: root, state, query, models: Object.values(models), ...facts };
}

/** Whether the last word of a journal is that the run has finished. Only its end is read: there may be many runs. */
function hasEnded(journal: string): boolean {
  let file: number | null = null;
  try {
    file = openSync(journal, unwaiting);
    const { size } = fstatSync(file);
    const tail = Buffer.alloc(Math.min(size, 2 * lineBytes));
    readSync(file, tail, 0, tail.length, size - tail.length);
    const last = tail.toString().trimEnd().split("\n").at(-1) ?? "";
    return (JSON.parse(last) as { readonly type?: unknown }).type === "run.finished";
  } catch {
    return false;
  } finally {
    if (file !== null) closeSync(file);
  }
}

/** Lines of a journal are shorter. */
const lineBytes = 8192;

function factsOfResult({ started_at, decision, rounds, cost, duration_seconds }: RunResult): Facts {
  const { kind, reason, winner, winner_model } = decision;
  return {
    started_at,
    decision: { kind, reason, winner, winner_model },
    rounds,
    total_usd: cost.total_usd,
    cost_known: cost.known,
    duration_seconds,
  };
}

function factsOfJournal({ journal }: TeamDirectory): Facts {
  const state = emptyState();
  for (const event of readJournal(journal).events) applyEvent(state, event);
  const { total_usd, known } = totalCost(state);
  const begun = state.startedAt !== "";
  return {
    started_at: begun ? state.startedAt : null,
    decision: decisionOf(state),
    rounds: begun ? state.round : null,
    total_usd: begun ? total_usd : null,
    cost_known: begun ? known : "none",
    duration_seconds: begun ? state.elapsed : null,
  };
}

function decisionOf({ decision, agents }: RunState): SessionEntry["decision"] {
  if (!decision) return null;
  const { kind, reason, winner } = decision;
  return { kind, reason, winner, winner_model: agents.find(({ agent }) => agent.id === winner)?.agent.model ?? null };
}
