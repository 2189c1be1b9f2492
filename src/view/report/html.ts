import { neutralise } from "../../session/text.ts";

/** Markup that is safe to put into the page: made by {@link html}, or vouched for with {@link trusted}. */
export class Html {
  constructor(readonly text: string) {}
}

/** What a template takes. Text is escaped; nothing, false and an empty list leave no trace. */
export type Value = Html | string | number | null | undefined | false | readonly Value[];

/**
 * HTML by template. Every value is escaped, in text and in quoted attributes alike, unless it is `Html` itself; so attributes are always
 * quoted. Control characters and those that turn the direction of text become visible signs. A text is cut after {@link longestText} characters:
 * what may be longer comes through {@link whole}.
 */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return new Html(parts.reduce((text, part, index) => text + render(values[index - 1]) + part));
}

/** Characters; more than any name, reason or message has, and few enough for thousands of them. */
export const longestText = 4000;

/** A text of any length; whoever uses it has limited it. */
export function whole(text: string): Html {
  return new Html(escapeHtml(text));
}

/** Vouches for markup: only for what a sanitiser returned, and for text of our own. */
export function trusted(text: string): Html {
  return new Html(text);
}

/** An attribute with its value and a space before it; nothing without a value: `html\`<a${attribute("title", title)}>\``. */
export function attribute(name: string, value: string | number | null | undefined): Html | null {
  return value === null || value === undefined ? null : html`${trusted(` ${name}="`)}${value}${trusted('"')}`;
}

/** Text as it stands in HTML. */
export function escapeHtml(text: string): string {
  return neutralise(text).replace(/[&<>"'`]/g, (character) => entities[character] ?? "");
}

// --- internal ---

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;", "`": "&#96;" };

function render(value: Value): string {
  if (value === null || value === undefined || value === false) return "";
  if (value instanceof Html) return value.text;
  if (typeof value === "object") return value.map(render).join("");
  const text = String(value);
  return escapeHtml(text.length > longestText ? `${text.slice(0, longestText)}…` : text);
}
