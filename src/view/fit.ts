import { neutralise } from "../session/text.ts";

/**
 * Text in columns of a terminal. Widths are those of Bun's own `stringWidth`, `sliceAnsi` and `wrapAnsi` (string-width, cli-truncate and wrap-ansi, built in): wide
 * characters and emoji count two, combining marks none. Pure.
 */

/** Anybody's text on one line: control characters become visible, white space becomes single spaces. */
export function oneLine(text: string): string {
  return neutralise(text).replace(/\s+/g, " ").trim();
}

/** How many columns a text takes. */
export function widthOf(text: string): number {
  return Bun.stringWidth(text);
}

/** The text itself when it fits, else its beginning with "…"; never wider than `width`. */
export function fit(text: string, width: number): string {
  if (width <= 0) return "";
  if (widthOf(text) <= width) return text;
  // `sliceAnsi` can give one column too many where a wide character lies across the edge (Bun 1.4.5).
  for (let end = width - 1; end > 0; end--) {
    const head = Bun.sliceAnsi(text, 0, end);
    if (widthOf(head) < width) return `${head}…`;
  }
  return "…";
}

/** The text cut or filled to exactly `width` columns. */
export function pad(text: string, width: number, align: "left" | "right" = "left"): string {
  const fitted = fit(text, width);
  const space = " ".repeat(Math.max(0, width - widthOf(fitted)));
  return align === "left" ? fitted + space : space + fitted;
}

/** Breaks a text of one line between words, and inside of those that are too long; at most `most` lines, the last one then ends with "…". */
export function wrapLine(text: string, width: number, most = Number.POSITIVE_INFINITY): string[] {
  if (width <= 0 || most <= 0 || text === "") return [];
  // A character may be wider than the line.
  const lines = Bun.wrapAnsi(text, width, { hard: true })
    .split("\n")
    .map((line) => fit(line, width))
    .filter((line) => line !== "");
  if (lines.length <= most) return lines;
  return [...lines.slice(0, most - 1), fit(`${lines[most - 1]} ${lines[most]}`, width)];
}

/** Breaks a message for people between words only, so that paths can still be copied. */
export function wrapWords(text: string, width: number): string {
  return Bun.wrapAnsi(text, Math.max(1, width));
}

/** As many of the parts as fit beside each other; the first is cut when even it does not. */
export function joinParts(parts: readonly string[], width: number, separator = " · "): string {
  let line = "";
  for (const part of parts) {
    if (part === "") continue;
    const longer = line === "" ? part : line + separator + part;
    if (line !== "" && widthOf(longer) > width) break;
    line = longer;
  }
  return fit(line, width);
}
