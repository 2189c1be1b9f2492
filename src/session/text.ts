/**
 * Text of others made harmless for a terminal: escapes and other control characters become visible signs (␛), line feeds and tabs stay.
 * Colours are taken out. Characters that turn the direction of text, which can make a line read as another, become visible too.
 */
export function neutralise(text: string): string {
  return text.replace(colours, "").replace(/\r\n/g, "\n").replace(control, visible);
}

/** JSON made harmless for a terminal, and still the same JSON: what {@link neutralise} would make visible becomes `\\u` escapes. */
export function escapeControls(json: string): string {
  return json.replace(control, (character) => character.split("").map(escaped).join(""));
}

// --- internal ---

const colours = /\x1b\[[\d;:]*m/g;

// C0 but for \n and \t, DEL, C1; marks, embeddings, overrides and isolates of bidirectional text; tags that no font shows.
const control = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/gu;

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function visible(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "␡";
  return `<${code.toString(16).toUpperCase().padStart(2, "0")}>`;
}
