import { formatDuration, plural } from "../../../text.ts";
import type { Failure } from "../failures.ts";
import { type Html, html, whole } from "../html.ts";
import type { ReportModel } from "../model.ts";
import { agentName, fileLink, fold, type Section } from "../parts.ts";
import { countWords } from "../words.ts";

/** Steps that failed, each with the end of its log; null when none did. */
export function failuresSection({ failures, unlistedFailures }: ReportModel): Section | null {
  if (failures.length === 0) return null;
  const body = html`<ul class="plain">${failures.map((failure) => html`<li>${item(failure)}</li>`)}</ul>
${unlistedFailures > 0 && html`<p>And ${countWords(unlistedFailures)} more, in ${fileLink("events.jsonl")}.</p>`}`;
  return { id: "failures", title: "Failures", body };
}

/** What went beside the plan without ending a step; null without any. */
export function warningsSection({ warnings }: ReportModel): Section | null {
  if (warnings.length === 0) return null;
  const body = html`<ul>${warnings.slice(0, listed).map((warning) => html`<li>${warning}</li>`)}</ul>
${warnings.length > listed && html`<p>And ${plural(warnings.length - listed, "more warning")}, in ${fileLink("result.json")}.</p>`}`;
  return { id: "warnings", title: "Warnings", body };
}

// --- internal ---

const listed = 100;

function item({ agent, round, try: attempt, class: kind, message, seconds, recovered, log, tail }: Failure): Html {
  const place = `${round === 0 ? "after the rounds" : `round ${round}`}${attempt > 1 ? `, try ${attempt}` : ""}, ${formatDuration(seconds)}`;
  return html`${agentName(agent)} <span class="tag invalid">${kind}</span> <span class="dim">${place}${recovered && ", tried again"}</span>
<p>${message}</p>${tail !== null && fold("The end of its log", html`<pre class="text" tabindex="0">${whole(tail)}</pre>`)}${log !== "" && html`<p class="dim">Log: ${fileLink(log)}</p>`}`;
}
