import { plural } from "../../text.ts";
import { fit, oneLine, widthOf } from "../fit.ts";
import { paint, type Style } from "../paint.ts";
import { targetOf } from "../phrases.ts";
import { type Cell, table } from "../table.ts";
import type { TeamStatus, TimelineMark } from "./shape.ts";

/**
 * The timeline as lines: a row for each agent, a column for each round. In words where there is room, else in signs; the first columns are
 * left out where even those do not fit. Pure.
 */
export function renderTimeline({ agents, timeline, columns }: TeamStatus, width: number, color: boolean): string[] {
  const last = Math.max(0, ...timeline.map(({ column }) => column));
  if (last === 0) return [];
  const names = agents.map(({ id }) => oneLine(id));
  const nameWidth = Math.min(Math.max(...names.map(widthOf), 6), Math.floor(width / 3));
  const room = width - nameWidth;
  const cells = group(timeline);
  const wordy = sizeOf(cells, last, wordsOf, (column) => `${noun[columns]} ${column}`);
  const inWords = (wordy + gap) * last <= room;
  const size = inWords ? wordy : sizeOf(cells, last, signOf, String);
  const count = Math.max(1, Math.min(last, Math.floor(room / (size + gap))));
  const shown = Array.from({ length: count }, (_, index) => last - count + 1 + index);
  const title = (column: number) => (inWords ? `${noun[columns]} ${column}` : String(column));
  const cellOf = (id: string, column: number): Cell => {
    const mark = cells.get(id)?.get(column);
    return mark ? { text: (inWords ? wordsOf : signOf)(mark), style: looks[kindOf(mark)].style } : { text: "" };
  };
  const lines = table(
    [
      { cells: [{ text: "" }, ...names.map((text) => ({ text }))], least: nameWidth, steady: nameWidth, rank: last + 1 },
      ...shown.map((column) => ({
        cells: [{ text: title(column), style: "dim" } as const, ...agents.map(({ id }) => cellOf(id, column))],
        least: size,
        steady: size,
        rank: column,
      })),
    ],
    width,
    color,
  );
  if (count === last) return lines;
  const left = `${noun[columns]}s 1 to ${last - count} do not fit here; there are ${plural(last, noun[columns])}`;
  return [...lines, paint(fit(left, width), "dim", color)];
}

/** What the signs of a timeline mean, those that are in it. */
export function timelineLegend(timeline: readonly TimelineMark[]): string {
  const used = new Set(timeline.map(kindOf));
  const retried = timeline.some(({ tries }) => tries > 1);
  const meanings = kinds.filter(([kind]) => used.has(kind)).map(([, { sign, word }]) => `${sign} ${word}`);
  return [...meanings, ...(retried ? ["↻ retry"] : [])].join(", ");
}

// --- internal ---

type Kind = "new_answer" | "vote" | "stale" | "invalid" | "failed" | "skipped" | "stopped" | "running";
type Cells = ReadonlyMap<string, ReadonlyMap<number, TimelineMark>>;

const gap = 2;
const noun = { rounds: "round", steps: "step" } as const;

const looks: Readonly<Record<Kind, { readonly sign: string; readonly word: string; readonly style: Style }>> = {
  new_answer: { sign: "✓", word: "answer", style: "green" },
  vote: { sign: "→", word: "vote", style: "magenta" },
  stale: { sign: "~", word: "stale vote", style: "yellow" },
  invalid: { sign: "?", word: "invalid vote", style: "yellow" },
  failed: { sign: "✗", word: "failed", style: "red" },
  skipped: { sign: "-", word: "skipped", style: "yellow" },
  stopped: { sign: "■", word: "stopped", style: "yellow" },
  running: { sign: "●", word: "at work", style: "cyan" },
};
const kinds = Object.entries(looks) as [Kind, (typeof looks)[Kind]][];

function kindOf({ action, standing }: TimelineMark): Kind {
  return action === "vote" && standing !== null && standing !== "valid" ? standing : action;
}

/** `✓ answer`, `→ agent_b`, `↻✗ auth` after a retry. */
function wordsOf(mark: TimelineMark): string {
  const { action, target, agent, class: failure, tries } = mark;
  const { sign, word } = looks[kindOf(mark)];
  return `${"↻".repeat(Math.min(tries - 1, 3))}${sign} ${action === "vote" ? oneLine(targetOf(target ?? "", agent)) : (failure ?? word)}`;
}

/** `✓`, `→b`, `↻✗` after a retry. */
function signOf(mark: TimelineMark): string {
  const target = mark.action === "vote" ? oneLine(mark.target ?? "").replace(/^agent_/, "") : "";
  return `${mark.tries > 1 ? "↻" : ""}${looks[kindOf(mark)].sign}${target.length > 2 ? "" : target}`;
}

function group(timeline: readonly TimelineMark[]): Cells {
  const cells = new Map<string, Map<number, TimelineMark>>();
  for (const mark of timeline) {
    const row = cells.get(mark.agent) ?? new Map<number, TimelineMark>();
    cells.set(mark.agent, row.set(mark.column, mark));
  }
  return cells;
}

function sizeOf(cells: Cells, last: number, textOf: (mark: TimelineMark) => string, title: (column: number) => string): number {
  let size = widthOf(title(last));
  for (const row of cells.values()) for (const mark of row.values()) size = Math.max(size, widthOf(textOf(mark)));
  return Math.min(size, 24);
}
