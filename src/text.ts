import { distance } from "fastest-levenshtein";

/** Words for people: nearest names, lists, durations, money, quoting. Pure. */

/**
 * The candidate that a mistyped word most likely means, or null. First by edits (at most `edits`, and never as many as the word has
 * letters; upper case and `-` for `_` count for nothing), then a candidate that contains the word or is contained in it.
 */
export function nearest(word: string, candidates: Iterable<string>, edits = 2): string | null {
  const wanted = plainName(word);
  let best: { readonly name: string; readonly edits: number } | null = null;
  let containing: string | null = null;
  for (const name of candidates) {
    const candidate = plainName(name);
    const needed = distance(wanted, candidate);
    if (needed <= edits && needed < wanted.length && needed < (best?.edits ?? Number.POSITIVE_INFINITY)) best = { name, edits: needed };
    if (wanted.length >= 4 && candidate.length >= 4 && (candidate.includes(wanted) || wanted.includes(candidate))) containing ??= name;
  }
  return best?.name ?? containing;
}

/** How many single letters must be added, removed or replaced to turn one word into the other; upper case counts for nothing. */
export function editsBetween(one: string, other: string): number {
  return distance(one.toLowerCase(), other.toLowerCase());
}

/** `a`, `a and b`, `a, b, and c`; empty for nothing. */
export function listOf(items: readonly string[], joiner: "and" | "or" = "and"): string {
  if (items.length < 3) return items.join(` ${joiner} `);
  return `${items.slice(0, -1).join(", ")}, ${joiner} ${items.at(-1)}`;
}

/** `1 agent`, `3 agents`. */
export function plural(count: number, noun: string, many = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : many}`;
}

/** Seconds of `1800`, `90s`, `30m`, `2h`, `1.5h`, `1h30m`; null when it is no length of time above 0. */
export function parseDuration(text: string): number | null {
  const word = text.trim().toLowerCase();
  const plain = /^\d+(\.\d+)?$/.test(word) ? Number(word) : null;
  const parts = plain === null && /^(\d+(\.\d+)?[hms])+$/.test(word) ? [...word.matchAll(/(\d+(?:\.\d+)?)([hms])/g)] : [];
  if (new Set(parts.map((part) => part[2])).size < parts.length) return null;
  const seconds = plain ?? parts.reduce((sum, [, count, unit]) => sum + Number(count) * (secondsOf[unit ?? ""] ?? 0), 0);
  return seconds > 0 && Number.isFinite(seconds) ? seconds : null;
}

/** `8s`, `25m`, `12m 5s`, `2h 3m`: two units at most, rounded down; below 10 s with one decimal where it has one. Input in seconds. */
export function formatDuration(seconds: number): string {
  const safe = Number.isFinite(seconds) ? Math.max(0, seconds) : 0;
  if (safe < 10) return `${Number(safe.toFixed(1))}s`;
  const whole = Math.floor(safe);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), whole % 60];
  if (hours > 0) return minutes > 0 ? `${hours}h ${minutes}m` : `${hours}h`;
  if (minutes > 0) return rest > 0 ? `${minutes}m ${rest}s` : `${minutes}m`;
  return `${rest}s`;
}

/** `$5.00`, `$0.42`, `$0.0031`: US dollars with cents, and with two digits that say something below a cent. */
export function formatMoney(usd: number): string {
  const size = Math.abs(usd);
  const digits = size === 0 || size >= 0.01 ? 2 : Math.min(8, Math.ceil(-Math.log10(size)) + 1);
  return `${usd < 0 ? "-" : ""}$${size.toFixed(digits)}`;
}

/** A user's word as errors show it: in double quotes, control characters made visible, cut after `longest` characters. */
export function quoted(text: string, longest = 60): string {
  const characters = [...text];
  const shown = characters.length > longest ? `${characters.slice(0, longest - 1).join("")}…` : text;
  return `"${shown.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, visible)}"`;
}

/** A word as one would type it in a POSIX shell: bare when that is safe, else quoted. */
export function shellWord(text: string): string {
  if (/^[A-Za-z0-9_@%+=:,./-]+$/.test(text)) return text;
  if (!/["$`\\!\u0000-\u001f]/.test(text) && text !== "") return `"${text}"`;
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The words of a command line, split as a POSIX shell would (quotes and backslashes, nothing expanded); null when a quote stays open. */
export function splitCommand(text: string): string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  let quote = "";
  for (let at = 0; at < text.length; at++) {
    const letter = text.charAt(at);
    if (letter === "\\" && escapes(quote, text.charAt(at + 1))) word = (word ?? "") + text.charAt(++at);
    else if (quote !== "" && letter === quote) quote = "";
    else if (quote === "" && (letter === '"' || letter === "'")) [quote, word] = [letter, word ?? ""];
    else if (quote === "" && /\s/.test(letter)) {
      if (word !== null) words.push(word);
      word = null;
    } else word = (word ?? "") + letter;
  }
  if (word !== null) words.push(word);
  return quote === "" ? words : null;
}

// --- internal ---

function escapes(quote: string, next: string): boolean {
  return quote === "" ? next !== "" : quote === '"' && /["$`\\]/.test(next);
}

const secondsOf: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };

function plainName(name: string): string {
  return name.toLowerCase().replaceAll("-", "_");
}

function visible(character: string): string {
  const short: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };
  return short[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
