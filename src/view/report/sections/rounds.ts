import { formatDuration, plural } from "../../../text.ts";
import type { Cell, CellOutcome, Timeline } from "../../timeline.ts";
import { beginningOf } from "../clean.ts";
import { editList } from "../edits.ts";
import { type Html, html, type Value, whole } from "../html.ts";
import type { ReportModel } from "../model.ts";
import { agentName, dataTable, fold, type Section } from "../parts.ts";
import { scaleOf, swimlane } from "../swimlane.ts";

/** Who did what in which round: as a picture, in words, and as a table. */
export function roundsSection({ timeline, result, edits }: ReportModel): Section | null {
  if (timeline.rounds === 0) return null;
  const { words } = scaleOf(timeline);
  const names = timeline.lanes.map(
    ({ agent, live }) => html`<li>${agentName(agent.id)}<span class="model">${agent.model}${!live && ", out"}</span></li>`,
  );
  const body = html`<div class="swim${!words && " small"}"><ol class="names" aria-hidden="true">${names}</ol><div class="scroll" tabindex="0" role="group" aria-label="Swimlane">${swimlane(timeline, result.decision.winner, "rounds-told")}</div></div>
${legend(timeline, words)}
<p class="unseen" id="rounds-told">${whole(beginningOf(inWords(timeline), longestTold).text)}</p>
${timeline.lanes.length * timeline.rounds <= mostCells && fold("The same as a table", asTable(timeline))}
${editList(edits)}`;
  return { id: "rounds", title: "Rounds", body };
}

// --- internal ---

const mostCells = 800;
/** Lanes that are told in words beside the picture. */
const mostTold = 16;
const longestTold = 20_000;

const legendWords: readonly (readonly [kind: string, words: string, when: (cell: Cell) => boolean, detail?: string])[] = [
  ["answer", "an answer", (cell) => cell.outcome === "answer", ", with its number"],
  ["vote valid", "a vote", (cell) => cell.vote?.standing === "valid", ", with the agent that it was for"],
  ["vote stale", "a vote that became stale: a newer answer came", (cell) => cell.vote?.standing === "stale"],
  ["vote invalid", "an invalid vote", (cell) => cell.vote?.standing === "invalid"],
  ["vote uncounted", "a vote that was not counted", (cell) => cell.vote !== null && cell.vote.standing === null],
  ["failed", "a failed step", (cell) => cell.outcome === "failed"],
  ["skipped", "skipped by a plugin", (cell) => cell.outcome === "skipped"],
  ["stopped", "stopped before it acted", (cell) => cell.outcome === "stopped"],
  ["unfinished", "not finished", (cell) => cell.outcome === "unfinished"],
];

function legend({ lanes }: Timeline, detailed: boolean): Html {
  const cells = lanes.flatMap((lane) => lane.cells.filter((cell) => cell !== null));
  const items = legendWords
    .filter(([, , when]) => cells.some(when))
    .map(
      ([kind, words, , detail = ""]) =>
        html`<li><svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true">${shape(kind)}</svg>${words}${detailed && detail}</li>`,
    );
  return html`<ul class="legend">${items}</ul>`;
}

function shape(kind: string): Html {
  const isBox = ["failed", "skipped", "stopped"].includes(kind);
  return isBox
    ? html`<rect class="n ${kind}" x="2" y="2" width="14" height="14" rx="3"/>`
    : html`<circle class="n ${kind}" cx="9" cy="9" r="7"/>`;
}

function inWords({ lanes }: Timeline): string {
  const told = lanes.slice(0, mostTold).map(({ agent, cells }) => {
    const acts = cells.flatMap((cell) => (cell ? [`round ${cell.round}: ${actOf(cell, agent.id)}`] : []));
    return `${agent.id}: ${acts.join("; ") || "nothing"}.`;
  });
  const more = lanes.length - mostTold;
  return `${told.join(" ")}${more > 0 ? ` And ${plural(more, "more agent")}.` : ""}`;
}

const outcomeWords: Readonly<Record<CellOutcome, string>> = {
  answer: "answered",
  vote: "voted",
  failed: "failed",
  skipped: "skipped",
  stopped: "stopped",
  unfinished: "not finished",
};

function actOf(cell: Cell, agent: string): string {
  const { vote, failure, skip, outcome } = cell;
  if (vote)
    return `voted for ${vote.target === agent ? "itself" : vote.target || "nobody"}${vote.standing === "valid" ? "" : `, ${vote.standing ?? "not counted"}`}`;
  if (failure) return `failed (${failure.class})`;
  if (skip) return `skipped by ${skip.by}: ${skip.reason}`;
  return outcomeWords[outcome];
}

function asTable({ rounds, lanes }: Timeline): Html {
  const columns = [{ title: "Agent" }, ...Array.from({ length: rounds }, (_, index) => ({ title: `Round ${index + 1}` }))];
  const rows = lanes.map(({ agent, cells }): Value[] => [
    agentName(agent.id),
    ...cells.map((cell) => (cell ? cellText(cell, agent.id) : "–")),
  ]);
  return dataTable("Rounds", columns, rows);
}

function cellText(cell: Cell, agent: string): Html {
  const { seconds, earlierTries, notes } = cell;
  const more = [seconds === null ? "" : formatDuration(seconds), earlierTries > 0 ? plural(earlierTries + 1, "try", "tries") : ""].filter(
    (part) => part !== "",
  );
  return html`${actOf(cell, agent)}${more.length > 0 && html`<br><span class="dim">${more.join(", ")}</span>`}${notes.map((note) => html`<br><span class="dim">${note}</span>`)}`;
}
