import { readRunFile } from "../../config/run-file.ts";
import { TeamError } from "../../errors.ts";
import { listFiles } from "../../session/deliverable.ts";
import type { TeamDirectory } from "../../session/directory.ts";
import type { TeamEvent } from "../../session/events.ts";
import { damagedLines, readJournal } from "../../session/journal.ts";
import { isLocked } from "../../session/lock.ts";
import { readResult } from "../../session/read-result.ts";
import { readRegularText } from "../../session/regular-file.ts";
import type { RunResult } from "../../session/result.ts";
import { applyEvent, emptyState, type RunState } from "../../session/state.ts";

/** Everything of a run that a report is made of, as it lies on the disk. */
export interface ReportSource {
  readonly directory: TeamDirectory;
  readonly events: readonly TeamEvent[];
  readonly state: RunState;
  /** Null while the run has none: it goes on, or ended before one was written. */
  readonly result: RunResult | null;
  /** A process works on it at this moment. */
  readonly atWork: boolean;
  readonly query: string;
  /** The text of final_answer.md; null without. */
  readonly document: string | null;
  /** Files of the deliverable, paths relative to it. */
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
  /** What could not be read, in sentences. */
  readonly problems: readonly string[];
}

/**
 * Reads a run, finished or not.
 * @throws TeamError `not_found` when the directory has no journal to tell of a run
 */
export async function readSource(directory: TeamDirectory): Promise<ReportSource> {
  const journal = readJournal(directory.journal);
  const { events } = journal;
  const state = emptyState();
  for (const event of events) applyEvent(state, event);
  if (state.agents.length === 0) {
    const hint = `Look at it with: mg-team status ${directory.root}`;
    throw new TeamError("not_found", `${directory.root} has no journal of a run that mg-team started`, hint);
  }
  const { result, problem } = readResult(directory.result);
  const problems = [...(problem === null ? [] : [problem]), ...(journal.damaged === 0 ? [] : [damagedLines(journal.damaged)])];
  return {
    directory,
    events,
    state,
    result,
    atWork: isLocked(directory.root),
    query: result?.query ?? queryOf(directory),
    document: textOf(directory.finalAnswer),
    files: await listFiles(directory.deliverable),
    problems,
  };
}

// --- internal ---

function queryOf(directory: TeamDirectory): string {
  try {
    return readRunFile(directory).settings.query;
  } catch {
    return "(the question is not known: config.json cannot be read)";
  }
}

function textOf(path: string): string | null {
  try {
    return readRegularText(path);
  } catch {
    return null;
  }
}
