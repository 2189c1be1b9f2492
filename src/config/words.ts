import { TeamError } from "../errors.ts";
import { nearest, quoted, shellWord } from "../text.ts";
import { clauseList, isJoiner, listWords } from "./clause.ts";
import { type Model, type ModelNames, requireModel } from "./models.ts";
import type { Word } from "./tokenise.ts";

/** The words of `mg-team run`: QUERY, a clause behind it, and what follows `--models`. Pure. */

export interface RunWords {
  /** Exactly as passed; null when there is none. */
  readonly query: string | null;
  /** Models of `with …` or `using …` behind the query; null without a clause. */
  readonly clause: readonly Model[] | null;
  /** Models among the words that directly follow `--models X`. */
  readonly more: readonly Model[];
}

/**
 * Sorts the words. `lastModels` is the last value of `--models`, null when there was none; `fromFile` says that the query comes from a file,
 * so that no word is one. Throws a TeamError (usage) for a word that is no model where one must stand, and for words too many.
 */
export function sortWords(words: readonly Word[], names: ModelNames, lastModels: string | null, fromFile: boolean): RunWords {
  const { more, rest } = takeModels(words, names, lastModels);
  const [first, ...others] = rest;
  if (first === undefined) return { query: null, clause: null, more };
  if (fromFile) return { query: null, clause: readClause(onlyClause(rest), names), more };
  if (startsClause(first.text, names) && (others.length > 0 || !isClauseWord(first.text))) throw noQueryBefore(rest, names);
  if (others.length === 0) return { query: first.text, clause: null, more };
  const list = clauseList(textOf(others));
  if (list === null) throw tooManyWords(rest, names);
  return { query: first.text, clause: readClause(list, names), more };
}

/** The models of a list such as `codex,gemini`, or of several. `from` says where it stands: `--models`. */
export function readModels(texts: readonly string[], names: ModelNames, from: string, code: "usage" | "config" = "usage"): Model[] {
  const words = texts.flatMap(listWords);
  if (words.length === 0) throw new TeamError(code, `${from} names no model`, "Name two or more, for example: codex,gemini");
  return words.map((word) => requireModel(word, names, from, code));
}

// --- internal ---

function takeModels(words: readonly Word[], names: ModelNames, lastModels: string | null) {
  const rest: Word[] = [];
  const more: Model[] = [];
  let open = true;
  let expecting = lastModels?.trimEnd().endsWith(",") ?? false;
  for (const [index, word] of words.entries()) {
    if (!word.afterModels || !open) {
      rest.push(word);
      continue;
    }
    const next = words[index + 1];
    if (isJoiner(word.text) && next?.afterModels && takesAll(next.text, names)) continue;
    if (takesAll(word.text, names)) {
      more.push(...readModels([word.text], names, "--models"));
      expecting = word.text.trimEnd().endsWith(",");
      continue;
    }
    const lone = !/\s/.test(word.text);
    if (expecting && lone) requireModel(word.text.replace(/,$/, ""), names, "--models");
    if (lone && !isClauseWord(word.text)) refuseTypo(word.text, names, rest.length === 0 && next === undefined);
    open = false;
    rest.push(word);
  }
  return { more, rest };
}

function takesAll(text: string, names: ModelNames): boolean {
  const words = listWords(text);
  return words.length > 0 && words.every((word) => names.find(word) !== null);
}

function textOf(words: readonly Word[]): string {
  return words.map(({ text }) => text).join(" ");
}

function isClauseWord(text: string): boolean {
  return ["with", "using"].includes(text.toLowerCase());
}

function startsClause(text: string, names: ModelNames): boolean {
  return isClauseWord(text) || takesAll(clauseList(text) ?? "", names);
}

/** Beside a query from a file there is no place for words but a clause. */
function onlyClause(words: readonly Word[]): string {
  const list = clauseList(textOf(words));
  if (list !== null) return list;
  const hint = "Leave out one of them: the words, or --query-file.";
  throw new TeamError("usage", `there are two queries: --query-file and ${quoted(textOf(words))}`, hint);
}

function readClause(list: string, names: ModelNames): Model[] {
  return listWords(list).map((word) => requireModel(word, names, "the models after the query"));
}

/** Where a model may stand, a word that is almost one is taken for a mistake, not for the query. */
function refuseTypo(word: string, names: ModelNames, alone: boolean): void {
  const meant = nearest(word.replace(/,$/, ""), names.words);
  if (meant === null) return;
  const asQuery = alone ? `\nIf it is the query, put it first: mg-team ${shellWord(word)} --models codex gemini` : "";
  const hint = `Did you mean ${meant}?${asQuery}`;
  throw new TeamError("usage", `--models: there is no model ${quoted(word)}`, hint);
}

function noQueryBefore(words: readonly Word[], names: ModelNames): TeamError {
  const clause = textOf(words);
  if (!takesAll(clauseList(clause) ?? "", names)) return tooManyWords(words, names);
  return new TeamError(
    "usage",
    `there is no query before ${quoted(clause)}`,
    `The query goes first: mg-team "Build a landing page" ${clause}`,
  );
}

/** `mg-team Build a page with codex and gemini`: shows the same with the query in quotes. */
function tooManyWords(words: readonly Word[], names: ModelNames): TeamError {
  const at = words.findIndex((_, index) => index > 0 && takesAll(clauseList(textOf(words.slice(index))) ?? "", names));
  const query = textOf(at < 0 ? words : words.slice(0, at));
  const clause = at < 0 ? "" : ` ${textOf(words.slice(at))}`;
  const hint = `Put the query in quotes: mg-team ${shellWord(query)}${clause}`;
  return new TeamError("usage", `the query must be one word for the shell, but there are ${words.length}`, hint);
}
