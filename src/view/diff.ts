import { structuredPatch } from "diff";
import { neutralise } from "../session/text.ts";
import { paint, type Style } from "./paint.ts";

/** A text with the name that a diff calls it. */
export interface NamedText {
  readonly name: string;
  readonly text: string;
}

/**
 * What changed, as a unified diff with three lines around each change; empty when nothing did. With `color`, it is for a terminal: in colour,
 * and control characters are made visible.
 */
export function unifiedDiff(from: NamedText, to: NamedText, terminal: { readonly color: boolean } | null): string {
  const [old, fresh] = [from.text, to.text].map(withNewline) as [string, string];
  if (old === fresh) return "";
  const clean = terminal ? neutralise : (text: string) => text;
  const show = (line: string, style: Style | undefined) => paint(clean(line), style, terminal?.color ?? false);
  const lines = [show(`--- ${from.name}`, "bold"), show(`+++ ${to.name}`, "bold")];
  for (const { oldStart, oldLines, newStart, newLines, lines: changed } of hunksOf(old, fresh)) {
    lines.push(show(`@@ -${rangeOf(oldStart, oldLines)} +${rangeOf(newStart, newLines)} @@`, "cyan"));
    for (const line of changed) lines.push(show(line, styles[line.charAt(0)]));
  }
  return `${lines.join("\n")}\n`;
}

// --- internal ---

type Hunk = Pick<ReturnType<typeof structuredPatch>["hunks"][number], "oldStart" | "oldLines" | "newStart" | "newLines" | "lines">;

const styles: Readonly<Record<string, Style>> = { "+": "green", "-": "red", "\\": "dim" };

/** Milliseconds that a good diff may take; two long texts that have nothing in common could take minutes. */
const patience = 3000;

function hunksOf(old: string, fresh: string): readonly Hunk[] {
  return structuredPatch("", "", old, fresh, "", "", { context: 3, timeout: patience })?.hunks ?? [replacement(old, fresh)];
}

/** Everything old goes, everything new comes. */
function replacement(old: string, fresh: string): Hunk {
  const [gone, come] = [linesOf(old), linesOf(fresh)];
  const lines = [...gone.map((line) => `-${line}`), ...come.map((line) => `+${line}`)];
  return { oldStart: 1, oldLines: gone.length, newStart: 1, newLines: come.length, lines };
}

function linesOf(text: string): string[] {
  return text.split("\n").slice(0, -1);
}

/** Answers end where the model stopped: whether with a line feed is no difference. */
function withNewline(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

// As git and diff write it: a count of one is left out, an empty range starts one line earlier.
function rangeOf(start: number, lines: number): string {
  if (lines === 1) return String(start);
  return `${lines === 0 ? start - 1 : start},${lines}`;
}
