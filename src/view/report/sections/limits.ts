import { formatDuration, formatMoney } from "../../../text.ts";
import { html, type Value } from "../html.ts";
import type { ReportModel } from "../model.ts";
import { dataTable, type Section } from "../parts.ts";
import { costWords, reachedWords } from "../words.ts";

/** The limits as they were set, what was used of them, and which of them ended the run. */
export function limitsSection({ result, spending, timeline }: ReportModel): Section {
  const { limits, duration_seconds } = result;
  const { maxRounds, timeoutSeconds, costBudget, stepTimeoutSeconds, retries, maxParallel } = limits;
  const over = costBudget !== null && spending.total.usd !== null && spending.total.usd > costBudget ? spending.total.usd - costBudget : 0;
  const rows: Value[][] = [
    ["Rounds of an agent", String(maxRounds), String(timeline.rounds)],
    ["Time", formatDuration(timeoutSeconds), formatDuration(duration_seconds)],
    ["Money", costBudget === null ? "no limit" : formatMoney(costBudget), costWords(spending.total)],
    [
      "Time of a step",
      stepTimeoutSeconds === null ? "none of its own" : formatDuration(stepTimeoutSeconds),
      formatDuration(longestStep(timeline)),
    ],
    ["Retries of a step", String(retries), ""],
    ["Steps at the same time", maxParallel === null ? "all" : String(maxParallel), ""],
  ];
  const reached = reachedWords(limits);
  const body = html`<p>${reached ?? "No limit was reached."}${over > 0 && ` The budget was exceeded by ${formatMoney(over)}.`}</p>
${dataTable("Limits", [{ title: "Limit" }, { title: "Set to", right: true }, { title: "Used", right: true }], rows)}`;
  return { id: "limits", title: "Limits", body };
}

// --- internal ---

function longestStep({ lanes }: ReportModel["timeline"]): number {
  return lanes.reduce((longest, { cells }) => cells.reduce((most, cell) => Math.max(most, cell?.seconds ?? 0), longest), 0);
}
