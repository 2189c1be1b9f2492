import { formatDuration, plural } from "../../../text.ts";
import { beginningOf } from "../clean.ts";
import { html, type Value, whole } from "../html.ts";
import type { ReportModel } from "../model.ts";
import { fold, type Section } from "../parts.ts";
import { dateWords } from "../words.ts";

/** What plugins have added; null without any. */
export function pluginsSection({ result }: ReportModel): Section | null {
  const plugins = Object.entries(result.plugins).filter(([name]) => !shownElsewhere.has(name));
  if (plugins.length === 0) return null;
  const body = plugins.map(([name, data]) => {
    const { text, cut } = beginningOf(typeof data === "string" ? data : (JSON.stringify(data, null, 2) ?? ""), longestData);
    return html`<h3><bdi>${name}</bdi></h3><pre class="text" tabindex="0">${whole(text)}</pre>${cut && html`<p class="cut">The rest is in result.json.</p>`}`;
  });
  return { id: "plugins", title: "Data of plugins", body: html`${body}` };
}

/** What ran, and with what. */
export function aboutSection(model: ReportModel): Section {
  const { result, ranBy, resumes, query } = model;
  const { engine, synthesis } = result;
  const rows: (readonly [string, Value])[] = [
    ["Run", result.session_id],
    ["Started", dateWords(new Date(result.started_at))],
    ["Worked", `${formatDuration(result.duration_seconds)}${resumes > 0 ? `, resumed ${plural(resumes, "time")}` : ""}`],
    ["mg-team", ranBy || "unknown"],
    ["Engine", `${engine.name === "massgen" ? "MassGen" : "mg-team's own"} ${engine.version}`],
    [
      "Ballot repair",
      engine.ballot_fix === "on" ? "on: agents could vote for each other in spite of MassGen's fault" : "off, or not needed",
    ],
    ["Final answer", finalAnswer(synthesis)],
  ];
  const { text, cut } = beginningOf(query, longestQuery);
  const body = html`<dl class="facts long">${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
${fold("The question, word for word", html`<pre class="text" tabindex="0" dir="auto">${whole(text)}</pre>${cut && html`<p class="cut">The rest is in config.json.</p>`}`)}`;
  return { id: "about", title: "About this run", body };
}

// --- internal ---

/** The built-in `checks` has a section of its own. */
const shownElsewhere: ReadonlySet<string> = new Set(["checks"]);
const longestData = 20_000;
const longestQuery = 40_000;

function finalAnswer({ kind, why_not_agent }: ReportModel["result"]["synthesis"]): string {
  if (kind === "agent") return "a synthesis by a model";
  if (kind === "none") return "none";
  return `the answer that was chosen, as it is${why_not_agent === null ? "" : ` (no synthesis: ${why_not_agent})`}`;
}
