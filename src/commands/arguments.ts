import { findClause } from "../config/clause.ts";
import { createModelNames } from "../config/models.ts";
import type { CommandLine, Word } from "../config/tokenise.ts";
import { TeamError } from "../errors.ts";
import { editsBetween, plural, quoted, shellWord } from "../text.ts";
import { type Command, positionalsOf } from "./command.ts";

/** The words of a command. Pure. */

/** Gives each word to a positional argument. Throws a TeamError (usage) for one that is missing, and for a word too many. */
export function readPositionals(command: Command, line: CommandLine): Record<string, string> {
  const expected = positionalsOf(command);
  const help = `mg-team ${command.name} --help explains it.`;
  const [extra] = line.words.slice(expected.length);
  if (extra) {
    const takes = expected.length === 0 ? "no arguments" : plural(expected.length, "argument");
    throw new TeamError("usage", `mg-team ${command.name} takes ${takes}; ${quoted(extra.text)} is too much`, help);
  }
  const given: Record<string, string> = {};
  for (const [index, [name, definition]] of expected.entries()) {
    const word = line.words[index]?.text;
    if (word !== undefined) given[name] = word;
    else if (definition.required !== false) {
      const example = `mg-team ${command.name} ${definition.example ?? definition.choices?.[0] ?? name.toUpperCase()}`;
      throw new TeamError(
        "usage",
        `mg-team ${command.name} needs ${name.toUpperCase()}: ${definition.description}`,
        `For example: ${example}`,
      );
    }
  }
  return given;
}

/**
 * Refuses a query that looks like a mistyped command: one lone word within two edits of one. Words behind `run` or `--` are never meant,
 * and who names models after it means a query. Throws a TeamError (usage).
 */
export function refuseMistypedCommand(line: CommandLine, commands: readonly string[]): void {
  const [word, ...others] = line.words;
  if (line.explicit || word === undefined || word.afterDashes || word.afterModels || /\s/.test(word.text)) return;
  if (namesModels(others)) return;
  const distances = commands
    .map((name) => ({ name, edits: editsBetween(word.text, name) }))
    .sort((one, other) => one.edits - other.edits || Number(sameLetters(other.name, word.text)) - Number(sameLetters(one.name, word.text)));
  const [closest] = distances;
  if (closest === undefined || closest.edits > 2) return;
  const query = shellWord([word, ...others].map(({ text }) => text).join(" "));
  const hint = `Did you mean ${closest.name}? mg-team ${closest.name} --help explains it.\nTo ask the models about it: mg-team run ${query}`;
  throw new TeamError("usage", `there is no command ${quoted(word.text)}`, hint);
}

// --- internal ---

/** Letters in the wrong order are the likeliest slip. */
function sameLetters(one: string, other: string): boolean {
  const sorted = (text: string) => [...text.toLowerCase()].sort().join("");
  return sorted(one) === sorted(other);
}

function namesModels(words: readonly Word[]): boolean {
  return words.length > 0 && findClause(words.map(({ text }) => text).join(" "), createModelNames()).clause !== null;
}
