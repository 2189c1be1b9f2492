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

// --- internal ---

/** Characters that no font shows and that models read all the same: tags, and what turns the direction of text. */
const hidden = /[\u{e0000}-\u{e007f}]|[\u202a-\u202e\u2066-\u2069\ufeff]/gu;

const control = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g;

/** Marks of ours and of MassGen (its message_templates.py), and what the templates of common local models begin and end messages with. */
const tokens =
  /<\/?(?:end of )?(?:agent|task|answers?|files?)[\w-]*\.\d+>|<(?:end of )?agent_?\w*(?:\.\d+)?>|<(?:END OF )?(?:ORIGINAL MESSAGE|CURRENT ANSWERS|CONVERSATION_HISTORY)[^>]*>|<\|[\w\s-]{1,60}\|>|<\/?(?:start_of_turn|end_of_turn|tool_call|tool_response|function_calls|system)>|<<\/?SYS>>|\[\/?(?:INST|TOOL_CALLS|AVAILABLE_TOOLS|TOOL_RESULTS)\]/gi;

const broken: Readonly<Record<string, string>> = { "<": "‹", "[": "⟦" };
