import { formatDuration, plural } from "../../text.ts";
import type { AgentRow } from "../agent-row.ts";
import { joinParts, oneLine, wrapLine } from "../fit.ts";
import { paint, type Style } from "../paint.ts";
import { briefPhraseOf, phraseOf, shortCost, signs } from "../phrases.ts";
import { type Cell, type Column, table } from "../table.ts";
import type { LiveModel, Votes } from "./model.ts";

/**
 * The live view as lines: no line wider than `width`, no more of them than `height`. Where there is no room for all, the agents at work stay
 * longest. Pure.
 */
export function renderLive(model: LiveModel, width: number, height: number, color: boolean): string[] {
  if (height <= 0 || width <= 0) return [];
  const head = joinParts([oneLine(model.headline), ...model.facts], width);
  if (height === 1)
    return [paint(joinParts([oneLine(model.headline), countsOf(model.rows), ...model.facts.slice(1)], width), "bold", color)];
  const agents = fitRows(model.rows, width, height - 1, color);
  const below = belowOf(model, width, color).slice(0, Math.max(0, height - 1 - agents.length));
  const lines = [paint(head, "bold", color), ...agents, ...below];
  // Air comes last: between the agents and what is below them, then above them, then above all.
  if (below.length > 0 && lines.length < height) lines.splice(1 + agents.length, 0, "");
  if (lines.length < height) lines.splice(1, 0, "");
  if (lines.length < height) lines.unshift("");
  return lines;
}

/** The rows of a table of agents, one line each. */
export function renderRows(rows: readonly AgentRow[], width: number, color: boolean): string[] {
  const cells = (text: (row: AgentRow) => string, style?: (row: AgentRow) => Style): Cell[] =>
    rows.map((row) => (style ? { text: text(row), style: style(row) } : { text: text(row) }));
  const columns: Column[] = [
    {
      cells: cells(
        ({ phase }) => signs[phase].sign,
        ({ phase }) => signs[phase].style,
      ),
      least: 1,
      rank: 8,
    },
    { cells: cells(({ id }) => oneLine(id)), least: 7, rank: 9 },
    { cells: cells(({ model }) => modelName(model, width)), least: 8, rank: 4 },
    {
      cells: cells(
        (row) => stateOf(row, width),
        ({ phase }) => signs[phase].style,
      ),
      least: 10,
      steady: 24,
      rank: 7,
    },
    { cells: cells(({ round }) => (round === 0 ? "" : `r${round}`)), least: 3, steady: 3, rank: 3, align: "right" },
    { cells: cells(timeOf), least: 7, steady: 7, rank: 5, align: "right" },
    { cells: cells(({ cost }) => (cost ? shortCost(cost) : "")), least: 9, steady: 7, rank: 6, align: "right" },
  ];
  return table(columns, width, color);
}

/** `agent_b 2, agent_a 1 · 1 stale · 2 needed`. */
export function renderVotes({ tally, stale, invalid, needed }: Votes, width: number): string {
  const counts = tally.map(({ agent, votes }) => `${agent} ${votes}`).join(", ");
  const others = [stale > 0 ? `${stale} stale` : "", invalid > 0 ? `${invalid} invalid` : ""];
  return joinParts([counts || "none yet", ...others, `${needed} needed`], width);
}

// --- internal ---

function belowOf(model: LiveModel, width: number, color: boolean): string[] {
  const lines = [`${paint("votes", "dim", color)}  ${renderVotes(model.votes, width - 7)}`];
  if (width < 20) lines.length = 0;
  if (model.words) {
    const said = wrapLine(`${model.words.agent}: ${oneLine(model.words.words)}`, width, 2);
    lines.push(...said.map((line) => paint(line, "dim", color)));
  }
  return lines;
}

function fitRows(rows: readonly AgentRow[], width: number, height: number, color: boolean): string[] {
  if (rows.length <= height) return renderRows(rows, width, color);
  const chosen = new Set(rows.toSorted((a, b) => urgency(b) - urgency(a)).slice(0, height - 1));
  const shown = rows.filter((row) => chosen.has(row));
  const rest = rows.filter((row) => !chosen.has(row));
  const more = joinParts([`… ${rest.length} more`, countsOf(rest)], width, ": ");
  return [...renderRows(shown, width, color), paint(more, "dim", color)];
}

function urgency({ running, phase }: AgentRow): number {
  if (running) return 2;
  return phase === "retrying" || phase === "stale" ? 1 : 0;
}

/** `3 at work, 2 voted`. */
function countsOf(rows: readonly AgentRow[]): string {
  const counts = new Map<string, number>();
  for (const { running, phase } of rows) {
    const word = running ? "at work" : phase;
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return counts.size === 0 ? plural(0, "agent") : [...counts].map(([word, count]) => `${count} ${word}`).join(", ");
}

function stateOf(row: AgentRow, width: number): string {
  const phrase = width < 60 ? briefPhraseOf(row) : phraseOf(row);
  return row.running && row.try > 1 ? `${phrase}, try ${row.try}` : phrase;
}

function timeOf({ seconds }: AgentRow): string {
  return seconds === null ? "" : formatDuration(Math.floor(seconds));
}

/** `codex/gpt-5.4`, or where room is short, `gpt-5.4`. */
function modelName(model: string, width: number): string {
  const whole = oneLine(model);
  return width >= 100 ? whole : whole.slice(whole.indexOf("/") + 1);
}
