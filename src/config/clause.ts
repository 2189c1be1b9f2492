import { nearest } from "../text.ts";
import type { Model, ModelNames } from "./models.ts";

/** Lists of models as people write them: `codex, gemini, and grok`, alone or behind `with` or `using`. Pure. */

/** A clause of the query that names two or more models. */
export interface Clause {
  /** As it stands in the query: `with codex and gemini`. */
  readonly text: string;
  readonly models: readonly Model[];
}

/** What a query says about models. */
export interface QueryModels {
  /** The first `with …` or `using …` that names two or more; null when there is none. */
  readonly clause: Clause | null;
  /** A word next to a model in such a clause that looks like a mistyped one, with what it may mean. */
  readonly doubt: { readonly word: string; readonly meant: string } | null;
}

/** Looks for a clause in a query, which is never changed. One name selects nothing: "Compare codex with gemini" is about models. */
export function findClause(query: string, names: ModelNames): QueryModels {
  let doubt: QueryModels["doubt"] = null;
  for (const opening of query.matchAll(/(?<![\p{L}\p{N}_/-])(?:with|using)\s+/giu)) {
    const list = readList(query, opening.index + opening[0].length, names);
    const meant = list.next === null || list.models.length === 0 ? null : nearest(list.next, names.words);
    if (list.next !== null && meant) doubt ??= { word: list.next, meant };
    if (list.models.length > 1) return { clause: { text: query.slice(opening.index, list.end), models: list.models }, doubt };
  }
  return { clause: null, doubt };
}

/** The separate words of a list: `codex, gemini, and grok` → codex, gemini, grok. Whether they are models is not asked. */
export function listWords(text: string): string[] {
  return text.split(/[\s,]+/).filter((word) => word !== "" && !joiners.has(word.toLowerCase()));
}

/** The list behind `with` or `using` when a text is nothing but such a clause; null otherwise. */
export function clauseList(text: string): string | null {
  return /^\s*(?:with|using)\s+(\S[\s\S]*)$/i.exec(text)?.[1] ?? null;
}

/** Whether a word is only there to join others: `and`, `&`, `+`. */
export function isJoiner(word: string): boolean {
  return joiners.has(word.toLowerCase());
}

// --- internal ---

const joiners: ReadonlySet<string> = new Set(["and", "&", "+", "plus"]);

/** Reads models from `at` on, as long as one follows another; `next` is the word that ended the list, null at the end of a sentence. */
function readList(text: string, at: number, names: ModelNames): { models: Model[]; end: number; next: string | null } {
  const models: Model[] = [];
  let end = at;
  for (let position = at; position < text.length; ) {
    const raw = matchAt(/[^\s,]+/y, text, position) ?? "";
    const opening = /^["'`(*_]*/.exec(raw)?.[0] ?? "";
    const closing = /[.;:!?)"'`*_\]]*$/.exec(raw.slice(opening.length))?.[0] ?? "";
    const word = raw.slice(opening.length, raw.length - closing.length);
    const model = names.find(word);
    if (!model) return { models, end, next: word === "" ? null : word };
    models.push(model);
    end = position + raw.length - closing.length;
    const separator = matchAt(/\s*,\s*(?:(?:and|&|\+|plus)\s+)?|\s+(?:(?:and|&|\+|plus)\s+)?/iy, text, position + raw.length);
    if (separator === null || /[.;:!?)]/.test(closing)) break;
    position += raw.length + separator.length;
  }
  return { models, end, next: null };
}

function matchAt(pattern: RegExp, text: string, at: number): string | null {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? null;
}
