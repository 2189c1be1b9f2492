/**
 * The status lines of step mode (massgen.md, "What it prints"): on stdout, or on stderr when events have stdout. Coloured or not, with
 * anything in between. `STATUS:` comes twice and says nothing that we need.
 */
export type StatusLine =
  | { readonly kind: "log_dir"; readonly path: string }
  | { readonly kind: "action"; readonly action: "new_answer" | "vote" };

/** Reads one line; null when it is no status line, or none that matters. */
export function parseStatusLine(line: string): StatusLine | null {
  const match = /^(LOG_DIR|ACTION):\s*(\S.*?)\s*$/.exec(Bun.stripANSI(line.slice(0, longest)).trim());
  if (match === null) return null;
  const [, name, value = ""] = match;
  if (name === "LOG_DIR") return { kind: "log_dir", path: value };
  return value === "new_answer" || value === "vote" ? { kind: "action", action: value } : null;
}

// --- internal ---

/** Paths are shorter than this. */
const longest = 8192;
