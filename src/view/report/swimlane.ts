import { formatDuration } from "../../text.ts";
import { type Cell, type Lane, signOf, type Timeline } from "../timeline.ts";
import { attribute, type Html, html } from "./html.ts";

/** The rounds as a picture: a lane for each agent, a column for each round, an arrow from each vote to the answer that it was for. Pure. */

export interface LaneScale {
  /** Pixels. */
  readonly lane: number;
  readonly column: number;
  readonly radius: number;
  /** Signs in the nodes, and how long each took. */
  readonly words: boolean;
  readonly arrows: boolean;
}

/** Height of the row with the numbers of the rounds, in pixels. */
export const headHeight = 30;

/** How large things are drawn: a hundred agents have no room for words. */
export function scaleOf({ rounds, lanes }: Timeline): LaneScale {
  if (lanes.length > 16 || rounds > 30) return { lane: 26, column: 26, radius: 7, words: false, arrows: false };
  return { lane: 68, column: rounds > 8 ? 68 : 96, radius: 15, words: true, arrows: true };
}

/** @param described id of the element that tells the same in words */
export function swimlane(timeline: Timeline, winner: string | null, described: string): Html {
  const scale = scaleOf(timeline);
  const { rounds, lanes } = timeline;
  const [width, height] = [rounds * scale.column, headHeight + lanes.length * scale.lane];
  return html`<svg class="lanes" role="img" aria-label="Swimlane: what each agent did in each round" aria-describedby="${described}" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
${lanes.map((lane, index) => background(lane, index, width, scale, winner))}
${Array.from({ length: rounds }, (_, index) => columnHead(index + 1, rounds, height, scale))}
${scale.arrows ? lanes.map((lane, index) => arrows(lane, index, timeline, scale)) : null}
${lanes.map((lane, index) => lane.cells.map((cell) => cell && node(cell, centre(cell.round, index, scale), scale, lane.agent.id === winner)))}
</svg>`;
}

// --- internal ---

interface Point {
  readonly x: number;
  readonly y: number;
}

function centre(round: number, lane: number, scale: LaneScale): Point {
  const rise = scale.words ? 8 : 0; // room for the seconds below
  return { x: (round - 0.5) * scale.column, y: headHeight + (lane + 0.5) * scale.lane - rise };
}

function background({ agent, cells }: Lane, index: number, width: number, scale: LaneScale, winner: string | null): Html {
  const top = headHeight + index * scale.lane;
  const first = cells.findIndex((cell) => cell !== null);
  const last = cells.findLastIndex((cell) => cell !== null);
  const from = centre(first + 1, index, scale);
  const to = centre(last + 1, index, scale);
  return html`${agent.id === winner && html`<rect class="won" x="0" y="${top + 2}" width="${width}" height="${scale.lane - 4}" rx="8"/>`}${
    last > first && html`<path class="way" d="M${from.x} ${from.y}H${to.x}"/>`
  }`;
}

function columnHead(round: number, rounds: number, height: number, scale: LaneScale): Html {
  const x = (round - 0.5) * scale.column;
  const named = scale.words || round === 1 || round % 5 === 0 || round === rounds;
  const edge = round * scale.column;
  return html`${named && html`<text class="head" x="${x}" y="18">${scale.words && scale.column > 90 ? `Round ${round}` : round}</text>`}${
    round < rounds && scale.words && html`<path class="bar" d="M${edge} ${headHeight}V${height}"/>`
  }`;
}

function node(cell: Cell, { x, y }: Point, { radius, words }: LaneScale, won: boolean): Html {
  const shape = `n ${cell.outcome}${cell.vote ? ` ${cell.vote.standing ?? "uncounted"}` : ""}`;
  const sign = words ? signIn(cell) : "";
  const below = words ? belowOf(cell) : "";
  const box = cell.outcome === "failed" || cell.outcome === "stopped" || cell.outcome === "skipped";
  const side = radius * 0.88;
  return html`${
    box
      ? html`<rect class="${shape}" x="${x - side}" y="${y - side}" width="${side * 2}" height="${side * 2}" rx="${radius / 3}"/>`
      : html`<circle class="${shape}" cx="${x}" cy="${y}" r="${radius}"/>`
  }${sign !== "" && html`<text class="in ${cell.outcome}${attributeOfVote(cell)}" x="${x}" y="${y + 5}">${sign}</text>`}${
    below !== "" && html`<text class="below${won && " on-won"}" x="${x}" y="${y + radius + 14}">${below}</text>`
  }`;
}

function attributeOfVote({ vote }: Cell): string {
  return vote ? ` ${vote.standing ?? "uncounted"}` : "";
}

function signIn(cell: Cell): string {
  switch (cell.outcome) {
    case "answer":
      return String(cell.answer ?? "");
    case "vote":
      return cell.vote?.target ? signOf(cell.vote.target) : "–";
    case "failed":
      return "×";
    case "skipped":
      return "–";
    case "stopped":
      return "■";
    case "unfinished":
      return "…";
  }
}

function belowOf({ seconds, earlierTries, outcome }: Cell): string {
  if (seconds === null || outcome === "skipped") return "";
  return `${formatDuration(seconds)}${earlierTries > 0 ? `, try ${earlierTries + 1}` : ""}`;
}

function arrows({ cells }: Lane, index: number, timeline: Timeline, scale: LaneScale): readonly (Html | null)[] {
  return cells.map((cell) => {
    if (!cell?.vote) return null;
    const { target, targetStep, standing } = cell.vote;
    const goal = timeline.lanes.findIndex(({ agent }) => agent.id === target);
    const answer = timeline.lanes[goal]?.cells.find((each) => each?.outcome === "answer" && each.step === targetStep);
    if (!answer || answer.round >= cell.round) return null;
    const from = centre(cell.round, index, scale);
    const to = centre(answer.round, goal, scale);
    return html`<path class="arrow ${standing ?? "uncounted"}" d="${curve(from, to, scale)}"${attribute("marker-end", standing === "valid" ? "url(#tip)" : "url(#dull-tip)")}/>`;
  });
}

/** From the left of a vote to the right of an answer; in one lane it is an arch, so that it runs through no node. */
function curve(from: Point, to: Point, { radius, column }: LaneScale): string {
  if (from.y === to.y) {
    const top = from.y - radius - 12;
    return `M${from.x - radius * 0.7} ${from.y - radius * 0.7}C${from.x - column / 3} ${top} ${to.x + column / 3} ${top} ${to.x + radius * 0.8} ${to.y - radius * 0.8}`;
  }
  const [start, end] = [from.x - radius - 1, to.x + radius + 4];
  const bend = Math.max(20, (start - end) / 2);
  return `M${start} ${from.y}C${start - bend} ${from.y} ${end + bend} ${to.y} ${end} ${to.y}`;
}
