/** Plain text that fits a terminal of 80 columns. Pure. */

/** Width of everything that is not asked for by a terminal. */
export const width = 80;

/**
 * Breaks a text between words; lines of the text stay lines, and keep their margin. A word that is longer than `columns` gets a line of its
 * own.
 */
export function wrap(text: string, columns = width): string[] {
  return text.split("\n").flatMap((line) => {
    const margin = /^ */.exec(line)?.[0] ?? "";
    const lines: string[] = [];
    let current = margin;
    for (const word of line.slice(margin.length).split(" ")) {
      const longer = current === margin ? margin + word : `${current} ${word}`;
      if (current !== margin && Bun.stringWidth(longer) > columns) {
        lines.push(current);
        current = margin + word;
      } else current = longer;
    }
    return [...lines, current];
  });
}

/**
 * Two columns, the second aligned and wrapped. A first column beyond 24 gets a line of its own, so that one long name doesn't push all others
 * aside; `least` widens it, to align several blocks.
 */
export function columns(rows: readonly (readonly [string, string])[], least = 0): string[] {
  const at = 2 + Math.max(least, leftWidth(rows)) + 2;
  return rows.flatMap(([left, right]) => {
    const [first = "", ...others] = wrap(right, width - at);
    const rest = others.map((line) => " ".repeat(at) + line);
    const gap = at - 2 - Bun.stringWidth(left);
    return gap < 2 ? [`  ${left}`, " ".repeat(at) + first, ...rest] : [`  ${left}${" ".repeat(gap)}${first}`.trimEnd(), ...rest];
  });
}

/** How wide the first column of `columns` is. */
export function leftWidth(rows: readonly (readonly [string, string])[]): number {
  return Math.max(0, ...rows.map(([left]) => Bun.stringWidth(left)).filter((length) => length <= 24));
}

/** Lines with a margin; empty ones stay empty. */
export function indented(lines: readonly string[], by = 2): string[] {
  return lines.map((line) => (line === "" ? "" : " ".repeat(by) + line));
}
