import type { RunResult } from "../../session/result.ts";
import type { RunState } from "../../session/state.ts";
import type { AgentId } from "../../types.ts";
import { type Timeline, timelineOf } from "../timeline.ts";
import { readAnswers, type ShownAnswers } from "./answers.ts";
import { type DeliveredAnswer, deliveredAnswer } from "./document.ts";
import { type Failure, readFailures } from "./failures.ts";
import { outcomeOf } from "./outcome.ts";
import type { ReportSource } from "./source.ts";
import { type Spending, spendingOf } from "./spending.ts";
import { type Change, changesOf, type Dissent, dissentOf } from "./story.ts";

/** Everything that the report shows, in data. Texts are as they were written: whoever renders them escapes them. */
export interface ReportModel {
  /** Of an unfinished run what is known so far, see `finished`. */
  readonly result: RunResult;
  readonly finished: boolean;
  /** Unfinished, and a process works on it at this moment. */
  readonly atWork: boolean;
  readonly query: string;
  readonly answer: DeliveredAnswer | null;
  readonly timeline: Timeline;
  readonly changes: readonly Change[];
  readonly dissent: readonly Dissent[];
  readonly answers: ReadonlyMap<AgentId, ShownAnswers>;
  readonly spending: Spending;
  readonly failures: readonly Failure[];
  readonly unlistedFailures: number;
  readonly files: ReportSource["files"];
  /** Queries that a plugin edited before a launch. */
  readonly edits: readonly Edit[];
  readonly warnings: readonly string[];
  /** Version of mg-team that ran it; empty when it is not known. */
  readonly ranBy: string;
  readonly resumes: number;
  readonly state: RunState;
}

export interface Edit {
  readonly agent: AgentId;
  readonly round: number;
  /** The text that was sent, or its beginning. */
  readonly query: string;
}

/** @param redact takes secrets out of what agents wrote; the report may be shown to others */
export function modelOf(source: ReportSource, redact: (text: string) => string): ReportModel {
  const { state, events, document, problems } = source;
  const result = outcomeOf(source);
  const timeline = timelineOf(state, events);
  const { failures, unlisted } = readFailures(source, redact);
  return {
    result,
    finished: source.result !== null,
    atWork: source.result === null && source.atWork,
    query: source.query,
    answer: deliveredAnswer(result, document, state),
    timeline,
    changes: changesOf(timeline),
    dissent: dissentOf(result),
    answers: readAnswers(source, redact),
    spending: spendingOf(state),
    failures,
    unlistedFailures: unlisted,
    files: source.files,
    edits: editsOf(state),
    warnings: [...problems, ...result.warnings],
    ranBy: events.flatMap((event) => (event.type === "run.started" ? [event.mg_team] : [])).at(-1) ?? "",
    resumes: events.filter(({ type }) => type === "run.resumed").length,
    state,
  };
}

// --- internal ---

function editsOf({ startedSteps }: RunState): Edit[] {
  return [...startedSteps.values()].flatMap(({ agent, round, query }) => (query === undefined ? [] : [{ agent, round, query }]));
}
