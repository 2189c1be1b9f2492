import { createHash } from "node:crypto";
import { formatCost } from "../../session/totals.ts";
import { formatDuration, plural } from "../../text.ts";
import { headline } from "./clean.ts";
import { type Html, html, trusted } from "./html.ts";
import type { MarkdownRenderer } from "./markdown.ts";
import type { ReportModel } from "./model.ts";
import type { Section } from "./parts.ts";
import { aboutSection, pluginsSection } from "./sections/about.ts";
import { agentsSection } from "./sections/agents.ts";
import { answerSection } from "./sections/answer.ts";
import { costSection } from "./sections/cost.ts";
import { decisionSection } from "./sections/decision.ts";
import { failuresSection, warningsSection } from "./sections/failures.ts";
import { checksSection, filesSection } from "./sections/files.ts";
import { limitsSection } from "./sections/limits.ts";
import { roundsSection } from "./sections/rounds.ts";
import style from "./style.css" with { type: "text" };
import { dateWords, kindWords, verdictOf } from "./words.ts";

/** When and by what the report is written. */
export interface Colophon {
  readonly date: Date;
  /** Of the mg-team that writes it. */
  readonly version: string;
}

/** The whole page. To add a section: its function in sections/, and a line in {@link sectionsOf}. Pure. */
export function renderPage(model: ReportModel, markdown: MarkdownRenderer, colophon: Colophon): string {
  const sections = sectionsOf(model, markdown);
  const title = headline(model.query, 90);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${trusted(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title} – mg-team</title>
<style>${trusted(style)}</style>
</head>
<body>
<a class="skip" href="#answer">To the answer</a>
${markers}
${header(model)}
<nav aria-label="Contents"><ol>${sections.map(({ id, title: name }) => html`<li><a href="#${id}">${name}</a></li>`)}</ol></nav>
<main>
${sections.map(
  ({ id, title: name, body }) => html`<section id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${name}</h2>
${body}
</section>
`,
)}</main>
<footer><p>Written by mg-team ${colophon.version} on ${dateWords(colophon.date)}. Links lead to files beside this page, in the directory <bdi>${model.result.session_id}</bdi>.</p></footer>
</body>
</html>
`.text;
}

// --- internal ---

/** Nothing runs and nothing is loaded, even if the sanitiser should miss something: no script, image, font, frame or form; the one style is ours. */
const policy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

function sectionsOf(model: ReportModel, markdown: MarkdownRenderer): readonly Section[] {
  return [
    answerSection(model, markdown),
    decisionSection(model),
    roundsSection(model),
    filesSection(model),
    checksSection(model),
    agentsSection(model, markdown),
    costSection(model),
    limitsSection(model),
    failuresSection(model),
    warningsSection(model),
    pluginsSection(model),
    aboutSection(model),
  ].filter((section) => section !== null);
}

function header(model: ReportModel): Html {
  const { result, finished, query, timeline } = model;
  const { kind } = result.decision;
  const facts = [
    ["Agents", String(timeline.lanes.length)],
    ["Rounds", String(result.rounds)],
    ["Time", formatDuration(result.duration_seconds)],
    ["Cost", formatCost(result.cost)],
    ["Started", dateWords(new Date(result.started_at))],
  ] as const;
  const word = finished || kind !== "none" ? kindWords[kind] : "Not finished";
  const problems = model.warnings.length + model.failures.length;
  return html`<header>
<p class="kicker">mg-team</p>
<h1 dir="auto">${headline(query, 180)}</h1>
<p class="verdict"><span class="badge ${kind}">${word}</span> ${verdictOf(result, finished)}</p>
<dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
${problems > 0 && html`<p class="dim">${troubles(model)}</p>`}
</header>`;
}

function troubles({ warnings, failures, unlistedFailures }: ReportModel): Html {
  const failed = failures.length + unlistedFailures;
  return html`${failed > 0 && html`<a href="#failures">${plural(failed, "failed step")}</a>`}${failed > 0 && warnings.length > 0 && ", "}${
    warnings.length > 0 && html`<a href="#warnings">${plural(warnings.length, "warning")}</a>`
  }.`;
}

/** Heads of arrows, for all pictures. */
const markers = html`<svg class="defs" width="0" height="0" aria-hidden="true"><defs>
<marker id="tip" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="tip" d="M0 0.5L8 4L0 7.5z"/></marker>
<marker id="dull-tip" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="tip dull" d="M0 0.5L8 4L0 7.5z"/></marker>
</defs></svg>`;
