/**
 * Colours of everything that is drawn on a terminal: only those of the 16 that its owner chose for it, and never black or white, so that
 * light and dark backgrounds both read well.
 */
export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "magenta" | "cyan";

/** The text in a style; as it is without one, and without colour. */
export function paint(text: string, style: Style | undefined, color: boolean): string {
  if (!color || style === undefined || text === "") return text;
  const [on, off] = codes[style];
  return `\u001b[${on}m${text}\u001b[${off}m`;
}

// --- internal ---

const codes: Readonly<Record<Style, readonly [on: number, off: number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  magenta: [35, 39],
  cyan: [36, 39],
};
