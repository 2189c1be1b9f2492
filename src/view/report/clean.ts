/**
 * Text of others before it becomes part of the page. What `html` escapes needs none of this; Markdown does, where signs that belong to
 * right-to-left writing must stay.
 */

/** Without control characters, which HTML forbids, and without those that turn text around beyond the place where they stand. */
export function plainText(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(forbidden, "\ufffd");
}

/** The beginning of a text, cut at the end of a line where there is one near; `cut` tells whether something is missing. */
export function beginningOf(text: string, longest: number): { readonly text: string; readonly cut: boolean } {
  if (text.length <= longest) return { text, cut: false };
  const beginning = text.slice(0, longest).replace(/[\ud800-\udbff]$/, "");
  const end = beginning.lastIndexOf("\n");
  return { text: end > longest / 2 ? beginning.slice(0, end) : beginning, cut: true };
}

/** One line for headings: white space becomes single spaces, cut after `longest` characters. */
export function headline(text: string, longest: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  const { text: beginning, cut } = beginningOf(line, longest);
  return cut ? `${beginning.replace(/\s+\S{0,20}$/, "")}…` : beginning;
}

// --- internal ---

// C0 but for \n and \t, DEL, C1; embeddings, overrides and isolates; tags that no font shows. Marks (U+200E, U+200F, U+061C) stay.
const forbidden = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|[\u{e0000}-\u{e007f}]/gu;
