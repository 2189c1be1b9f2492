import { shellWord } from "../../../text.ts";
import { answerLimits } from "../answers.ts";
import { beginningOf } from "../clean.ts";
import { type Html, html } from "../html.ts";
import type { MarkdownRenderer } from "../markdown.ts";
import type { ReportModel } from "../model.ts";
import { fileLink, type Section } from "../parts.ts";
import { because } from "../words.ts";

/** What the run was for. */
export function answerSection(model: ReportModel, markdown: MarkdownRenderer): Section {
  const { answer } = model;
  if (answer === null) return { id: "answer", title: "Answer", body: noAnswer(model) };
  const { text, cut } = beginningOf(answer.text, answerLimits.chosen);
  const body = html`${origin(model)}
<div class="prose" dir="auto">${markdown(text, 3)}</div>
${cut && html`<p class="cut">The answer is longer than what is shown here. The whole of it: ${document}.</p>`}`;
  return { id: "answer", title: "Answer", body };
}

// --- internal ---

const document = fileLink("synthesis/final_answer.md");

/** Whose words they are. */
function origin({ answer, result }: ReportModel): Html | null {
  const { winner, winner_model: model } = result.decision;
  const whose = html`<bdi>${model ?? "a model"}</bdi> (<bdi>${winner ?? "nobody"}</bdi>)`;
  switch (answer?.kind) {
    case "synthesis":
      return html`<p class="origin">A synthesis by <bdi>${answer.madeBy ?? "a model"}</bdi>: the chosen answer, by ${whose}, with what the others had to add.
What it merged or tested is its own word. The chosen answer itself: ${fileLink("synthesis/winner/answer.md")}.</p>`;
    case "winner":
      return html`<p class="origin">By ${whose}, as it was voted on: nothing was merged or tested.</p>`;
    default:
      return null;
  }
}

function noAnswer({ finished, atWork, result, answers }: ReportModel): Html {
  const submitted = [...answers.values()].some(({ answers: own }) => own.length > 0);
  const resume = `mg-team resume ${shellWord(result.session_id)}`;
  const kept = submitted && html`<p>What the agents have answered is kept: see <a href="#agents">the agents</a>.</p>`;
  if (atWork) return html`<p class="none">There is no answer yet: the agents were still at work when this page was written.</p>${kept}`;
  if (!finished) {
    const before = result.decision.kind === "none" ? "decide" : "write it";
    return html`<p class="none">There is no answer: mg-team ended before it could ${before}.</p><p>Go on with <code>${resume}</code>.</p>${kept}`;
  }
  return html`<p class="none">There is no answer: ${because(result)}.</p>
${result.decision.reason === "interrupted" && html`<p>Go on with <code>${resume}</code>.</p>`}${kept}`;
}
