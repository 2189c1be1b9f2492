import { relative } from "node:path";
import type { RunResult } from "../session/result.ts";
import { formatCost } from "../session/totals.ts";
import { formatDuration, plural } from "../text.ts";

export interface SummaryLine {
  readonly text: string;
  /** Also shown under `--quiet`. */
  readonly important: boolean;
}

/** What is said at the end of a run; the total spent is the last line. */
export function summaryOf(result: RunResult): readonly SummaryLine[] {
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
  if (result.checks.length > 0) say(`checks: ${plural(result.checks.length, "finding")}, listed in the answer's document`);
  if (exit_code === 7) say("the result could not be written as it should be; see the warnings above", true);
  say(`total spent: ${formatCost(result.cost)} in ${formatDuration(result.duration_seconds)}`);
  return lines;
}

// --- internal ---

function near(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith("..") ? path : short;
}
