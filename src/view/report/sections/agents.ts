import type { ResultAgent } from "../../../session/result.ts";
import { formatDuration, plural } from "../../../text.ts";
import type { Lane } from "../../timeline.ts";
import type { ShownAnswer } from "../answers.ts";
import { type Html, html, type Value } from "../html.ts";
import type { MarkdownRenderer } from "../markdown.ts";
import type { ReportModel } from "../model.ts";
import { agentName, fileLink, fold, type Section } from "../parts.ts";
import { costWords } from "../words.ts";

/** Each agent with its answers, the latest first. */
export function agentsSection(model: ReportModel, markdown: MarkdownRenderer): Section {
  const cards = model.timeline.lanes.map((lane) => {
    const agent = model.result.agents.find(({ id }) => id === lane.agent.id);
    return html`<article class="card" id="${idOf(lane)}"><h3>${agentName(lane.agent.id)} <span class="model">${lane.agent.model}</span></h3>
<p class="dim">${factsOf(lane, agent, model)}</p>${notesOf(lane)}${answersOf(lane, model, markdown)}</article>`;
  });
  return { id: "agents", title: "Agents and their answers", body: html`${cards}` };
}

// --- internal ---

function idOf({ agent }: Lane): string {
  return `agent-${agent.id.replace(/[^A-Za-z0-9_-]/g, "-")}`;
}

function factsOf({ agent, live, cells }: Lane, reported: ResultAgent | undefined, { result, spending }: ReportModel): Value {
  const seconds = cells.reduce((sum, cell) => sum + (cell?.seconds ?? 0), 0);
  const cost = spending.agents.find(({ id }) => id === agent.id)?.total;
  const facts: Value[] = [`worked ${formatDuration(seconds)}`, `cost ${costWords(cost)}`];
  if (result.decision.winner === agent.id) facts.unshift(html`<strong class="tag valid">chosen</strong>`);
  const out = !live || reported?.status === "out";
  if (out)
    facts.unshift(
      html`<strong class="tag invalid">out</strong> ${reported?.failure ? `${reported.failure.class}: ${reported.failure.message}` : ""}`,
    );
  return facts.map((fact, index) => html`${index > 0 && " · "}${fact}`);
}

function notesOf({ cells }: Lane): Html | null {
  const notes = cells.flatMap((cell) =>
    (cell?.notes ?? []).map((note) => html`<li><span class="dim">round ${cell?.round}</span> ${note}</li>`),
  );
  return notes.length === 0 ? null : html`<ul>${notes.slice(0, 20)}</ul>`;
}

function answersOf({ agent }: Lane, model: ReportModel, markdown: MarkdownRenderer): Html {
  const { answers = [], unlisted = 0 } = model.answers.get(agent.id) ?? {};
  if (answers.length === 0) return html`<p class="none">No answer.</p>`;
  const count = answers.length + unlisted;
  const folded = answers.map((answer, index) => {
    const chosen = index === 0 && agent.id === model.result.decision.winner && model.answer?.kind === "winner";
    const title = html`Answer ${count - index} <span class="dim">round ${answer.round}${index === 0 && count > 1 && ", latest"}</span>`;
    return fold(
      title,
      html`${chosen ? html`<p>This is <a href="#answer">the answer above</a>.</p>` : textOf(answer, markdown)}${places(answer)}`,
    );
  });
  return html`${folded}${unlisted > 0 && html`<p class="dim">${plural(unlisted, "earlier answer")} in ${fileLink(`session/agents/${agent.id}`)}.</p>`}`;
}

function textOf({ text, cut, missing }: ShownAnswer, markdown: MarkdownRenderer): Html {
  if (text === null) return html`<p class="none">${missing}</p>`;
  return html`<div class="prose" dir="auto">${markdown(text, 4)}</div>${cut && html`<p class="cut">This is only its beginning.</p>`}`;
}

function places({ file, workspace }: ShownAnswer): Html {
  return html`<p class="dim">The whole: ${fileLink(file)}${workspace && html`; its files: ${fileLink(workspace)}`}</p>`;
}
