import { randomInt } from "node:crypto";

/**
 * Text of others inside of a prompt. It stands between two marks with a number that is drawn for this one step, so whoever wrote it cannot
 * have known it; and what would look like one of our marks, or like a token that local models read as the end of a message, is broken up.
 */

/** A number of twelve digits that nobody knows before the step begins. */
export function drawMark(): string {
  return `${randomInt(100_000, 1_000_000)}${randomInt(100_000, 1_000_000)}`;
}

/** A text between its marks: `<agent1.123456789012>` … `<end of agent1.123456789012>`. */
export function fenced(label: string, mark: string, text: string): string {
  return `<${label}.${mark}>\n${harmless(text)}\n<end of ${label}.${mark}>`;
}

/** A text that cannot be taken for anything but text. What it says to people stays the same. */
export function harmless(text: string): string {
  return text
    .toWellFormed()
    .replace(hidden, "")
    .replace(control, "�")
    .replace(tokens, (found) => `${broken[found[0] ?? ""]}${found.slice(1)}`);
}

/** A name or a path of others on one line, as text. */
export function harmlessName(name: string): string {
  return harmless(name.replace(/\s/g, " "));
}

/** A place in a text that was found by what {@link harmless} shows of it. */
export interface FoundText {
  /** Where it really stands: from, and behind its last character. */
  readonly from: number;
  readonly to: number;
  /** What a text that was written after what is shown really means: the marks that stand here are whole again in it. */
  restore(text: string): string;
}

/** All places, one behind the other, where a text shows `wanted`, although other characters stand there. Length in UTF-16 units throughout. */
export function findShown(text: string, wanted: string): readonly FoundText[] {
  const shown = harmless(text);
  if (wanted === "" || !shown.includes(wanted)) return [];
  // Only what is hidden is left out; all else keeps its length.
  const real = new Uint32Array(shown.length);
  let length = 0;
  let next = 0;
  for (const { index, 0: left } of [...text.toWellFormed().matchAll(hidden), { index: text.length, 0: "" }]) {
    for (; next < index; next++) real[length++] = next;
    next = index + left.length;
  }
  const found: FoundText[] = [];
  for (let at = shown.indexOf(wanted); at >= 0; at = shown.indexOf(wanted, at + wanted.length)) {
    const [from, to] = [real[at] ?? 0, (real[at + wanted.length - 1] ?? 0) + 1];
    const marks = [...new Set(text.slice(from, to).replace(hidden, "").match(tokens) ?? [])];
    found.push({ from, to, restore: (given) => marks.reduce((whole, mark) => whole.replaceAll(harmless(mark), () => mark), given) });
  }
  return found;
}

// --- internal ---

/** Characters that no font shows and that models read all the same: tags, and what turns the direction of text. */
const hidden = /[\u{e0000}-\u{e007f}]|[\u202a-\u202e\u2066-\u2069\ufeff]/gu;

const control = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g;

/** Marks of ours and of MassGen (its message_templates.py), and what the templates of common local models begin and end messages with. */
const tokens =
  /<\/?(?:end of )?(?:agent|task|answers?|files?)[\w-]*\.\d+>|<(?:end of )?agent_?\w*(?:\.\d+)?>|<(?:END OF )?(?:ORIGINAL MESSAGE|CURRENT ANSWERS|CONVERSATION_HISTORY)[^>]*>|<\|[\w\s-]{1,60}\|>|<\/?(?:start_of_turn|end_of_turn|tool_call|tool_response|function_calls|system)>|<<\/?SYS>>|\[\/?(?:INST|TOOL_CALLS|AVAILABLE_TOOLS|TOOL_RESULTS)\]/gi;

const broken: Readonly<Record<string, string>> = { "<": "‹", "[": "⟦" };
