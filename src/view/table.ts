import { pad, widthOf } from "./fit.ts";
import { paint, type Style } from "./paint.ts";

/** Rows in aligned columns that fit any width: columns are narrowed first, then left out, the least important first. Pure. */

export interface Cell {
  /** One line, without control characters. */
  readonly text: string;
  readonly style?: Style;
}

export interface Column {
  /** One for each row. */
  readonly cells: readonly Cell[];
  readonly align?: "left" | "right";
  /** It is left out when it would have to be narrower than this; it never has to be wider than its cells. */
  readonly least: number;
  /** It gets this much while there is room, also when its cells take less, so that nothing moves when they change; default: what they take. */
  readonly steady?: number;
  /** Who gets room first, and stays longest. */
  readonly rank: number;
}

/** One line for each row, none wider than `width`. */
export function table(columns: readonly Column[], width: number, color: boolean): string[] {
  const placed = place(columns, width);
  const rows = Math.max(0, ...columns.map(({ cells }) => cells.length));
  return Array.from({ length: rows }, (_, row) => {
    const last = placed.findLastIndex(({ column }) => (column.cells[row]?.text ?? "") !== "");
    const parts = placed.slice(0, last + 1).map(({ column, size }, index) => {
      const { text, style } = column.cells[row] ?? { text: "" };
      const padded = pad(text, size, column.align);
      return paint(index === last && column.align !== "right" ? padded.trimEnd() : padded, style, color);
    });
    return parts.join(gap);
  });
}

// --- internal ---

const gap = "  ";

function place(columns: readonly Column[], width: number): { readonly column: Column; readonly size: number }[] {
  const measured = columns
    .map((column) => ({ column, natural: Math.max(0, ...column.cells.map(({ text }) => widthOf(text))) }))
    .filter(({ natural }) => natural > 0)
    .map((each) => ({ ...each, size: Math.min(each.natural, each.column.least) }));
  const total = () => measured.reduce((sum, { size }) => sum + size, gap.length * (measured.length - 1));
  const byRank = () => measured.toSorted((a, b) => b.column.rank - a.column.rank);
  while (measured.length > 1 && total() > width) {
    const least = byRank().at(-1);
    measured.splice(least ? measured.indexOf(least) : 0, 1);
  }
  const grow = (each: (typeof measured)[number], wanted: number) => {
    each.size = Math.max(0, Math.min(Math.max(each.size, wanted), each.size + width - total()));
  };
  for (const each of byRank()) grow(each, each.column.steady ?? each.natural);
  for (const each of byRank()) grow(each, each.natural);
  return measured;
}
