import { relative, sep } from "node:path";
import { escapeMarkdown, linkTarget } from "mg-team";

/** Rows below a head, aligned for those who read the text itself. Cells are Markdown already, each on one line. */
export function table(head: readonly string[], rows: readonly (readonly string[])[], right: ReadonlySet<number> = new Set()): string {
  const widths = head.map((title, column) =>
    Math.max(3, ...[title, ...rows.map((row) => row[column] ?? "")].map((cell) => Bun.stringWidth(cell))),
  );
  const pad = (cell: string, column: number) => {
    const space = " ".repeat(Math.max(0, (widths[column] ?? 0) - Bun.stringWidth(cell)));
    return right.has(column) ? space + cell : cell + space;
  };
  const line = (cells: readonly string[]) => `| ${head.map((_, column) => pad(cells[column] ?? "", column)).join(" | ")} |`;
  const rule = widths.map((width, column) => (right.has(column) ? `${"-".repeat(width - 1)}:` : "-".repeat(width)));
  return [line(head), line(rule), ...rows.map(line)].join("\n");
}

/** Somebody's words, cut where they get long. */
export function words(text: string, longest: number): string {
  return escapeMarkdown(cut(text.replace(/\s+/g, " ").trim(), longest));
}

/** A link to a file, as seen from the directory of the document. */
export function link(text: string, path: string, directory: string): string {
  return `[${escapeMarkdown(text)}](${linkTarget(relative(directory, path).split(sep).join("/"))})`;
}

/** `12 KB`: for people, so in thousands. */
export function size(bytes: number): string {
  if (bytes < 1000) return bytes === 1 ? "1 byte" : `${bytes} bytes`;
  const [unit, value] = bytes < 1e6 ? ["KB", bytes / 1e3] : bytes < 1e9 ? ["MB", bytes / 1e6] : ["GB", bytes / 1e9];
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`;
}

/** At a space where there is one near, never within a character. */
export function cut(text: string, longest: number): string {
  const characters = Array.from(new Intl.Segmenter().segment(text.slice(0, longest * 8)), ({ segment }) => segment);
  if (characters.length <= longest && text.length <= longest * 8) return text;
  const kept = characters.slice(0, longest - 1).join("");
  const space = kept.lastIndexOf(" ");
  return `${(space > kept.length * 0.8 ? kept.slice(0, space) : kept).trimEnd()}…`;
}
