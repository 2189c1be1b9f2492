import { formatDuration, formatMoney } from "../../../text.ts";
import { html, type Value } from "../html.ts";
import type { ReportModel } from "../model.ts";
import { dataTable, type Section } from "../parts.ts";
import { costWords, reachedWords } from "../words.ts";

/** The limits as they were set, what was used of them, and which of them ended the run. */
export function limitsSection({ result, spending, timeline }: ReportModel): Section {
  const { limits, duration_seconds } = result;
  const {
    max_rounds: rounds,
    timeout_seconds: seconds,
    cost_budget: budget,
    step_timeout_seconds: stepSeconds,
    retries,
    max_parallel: atOnce,
  } = limits;
  const over = budget !== null && spending.total.usd !== null && spending.total.usd > budget ? spending.total.usd - budget : 0;
  const rows: Value[][] = [
    ["Rounds of an agent", String(rounds), String(timeline.rounds)],
    ["Time", formatDuration(seconds), formatDuration(duration_seconds)],
    ["Money", budget === null ? "no limit" : formatMoney(budget), costWords(spending.total)],
    ["Time of a step", stepSeconds === null ? "none of its own" : formatDuration(stepSeconds), formatDuration(longestStep(timeline))],
    ["Retries of a step", String(retries), ""],
    ["Steps at the same time", atOnce === null ? "all" : String(atOnce), ""],
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
