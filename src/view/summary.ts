import { relative } from "node:path";
import type { RunResult } from "../session/result.ts";
import { formatCost } from "../session/totals.ts";
import { formatDuration, plural } from "../text.ts";

export interface SummaryLine {
  readonly text: string;
  /** Also shown under `--quiet`. */
  readonly important: boolean;
}

/** What is said at the end of a run; the total spent is the last line. @param report path of the report; null without */
export function summaryOf(result: RunResult, report: string | null): readonly SummaryLine[] {
  const { decision, synthesis, session_id, exit_code } = result;
  const lines: SummaryLine[] = [];
  const say = (text: string, important = false) => lines.push({ text, important });
  if (decision.kind === "none") {
    say(`no answer: ${decision.rule}`, true);
    for (const { id, model, failure } of result.agents) if (failure) say(`  ${id} (${model}), ${failure.class}: ${failure.message}`, true);
    if (decision.reason === "interrupted") say(`go on with: mg-team resume ${session_id}`, true);
  }
  if (synthesis.path !== null) say(`answer: ${near(synthesis.path)}`);
  if (synthesis.deliverable !== null) say(`files: ${near(synthesis.deliverable)}`);
  if (report !== null) say(`report: ${near(report)}`);
  if (result.checks.length > 0) say(`checks: ${plural(result.checks.length, "finding")}, listed in the answer's document`);
  if (exit_code === 7) say("the result could not be written as it should be; see the warnings above", true);
  say(`total spent: ${formatCost(result.cost)} in ${formatDuration(result.duration_seconds)}`);
  return lines;
}

/** The run in a few words: `consensus for codex/gpt-5.4 after 12m 5s, $0.42`. */
export function headlineOf({ decision, cost, duration_seconds }: RunResult): string {
  const { kind, winner, winner_model } = decision;
  const outcome = winner === null ? "no answer" : `${kind} for ${winner_model ?? winner}`;
  return `${outcome} after ${formatDuration(Math.floor(duration_seconds))}, ${formatCost(cost)}`;
}

// --- internal ---

function near(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith("..") ? path : short;
}
