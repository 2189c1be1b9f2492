import { TeamError } from "../errors.ts";
import { nearest, quoted, shellWord } from "../text.ts";
import { allowedBy, exampleOf, type OptionDefinition, type Options } from "./options.ts";

/**
 * argv → command, options, words. Our own, because a query is free text and citty's router would take its first word for a command.
 * Pure; knows nothing of what values mean.
 */

/** A word that is neither an option nor the value of one; its text is exactly what the shell passed. */
export interface Word {
  readonly text: string;
  /** It follows `--models X` directly, so it may be one more model. */
  readonly afterModels: boolean;
  /** It stands behind `--`: never a command, an option or a clause. */
  readonly afterDashes: boolean;
}

/** What was typed for one command. */
export interface CommandLine {
  readonly command: string;
  /** The command was typed, not assumed. */
  readonly explicit: boolean;
  /** Values by option, in the order typed; a switch has the single value "". */
  readonly given: ReadonlyMap<string, readonly string[]>;
  readonly words: readonly Word[];
}

/** Which command is meant, and everything else that was typed. */
export interface PickedCommand {
  readonly command: string;
  readonly explicit: boolean;
  readonly rest: readonly string[];
}

/** Finds the command: the first word, if it is one; else `run`. Options before it are allowed. */
export function pickCommand(argv: readonly string[], commands: readonly string[], options: Options): PickedCommand {
  let valueFollows = false;
  let afterModels = false;
  for (const [index, text] of argv.entries()) {
    if (valueFollows) {
      valueFollows = false;
      continue;
    }
    if (text === "--") break;
    if (isOption(text)) {
      const found = findOption(text, options);
      valueFollows = found !== null && found.definition.type !== "boolean" && found.value === null;
      afterModels = found?.definition.words === true && valueFollows;
      continue;
    }
    if (commands.includes(text)) return { command: text, explicit: true, rest: argv.filter((_, at) => at !== index) };
    if (!afterModels) break;
  }
  return { command: "run", explicit: false, rest: argv };
}

/** Splits what belongs to a command into options and words. Throws a TeamError (usage) that names the option and what it wants. */
export function tokenise(picked: PickedCommand, options: Options): CommandLine {
  const given = new Map<string, string[]>();
  const words: Word[] = [];
  const { rest: argv } = picked;
  let afterModels = false;
  for (let at = 0; at < argv.length; at++) {
    const text = argv[at] ?? "";
    if (text === "--") {
      for (const word of argv.slice(at + 1)) words.push({ text: word, afterModels: false, afterDashes: true });
      break;
    }
    if (!isOption(text)) {
      words.push({ text, afterModels, afterDashes: false });
      continue;
    }
    const found = findOption(text, options);
    if (!found) throw unknownOption(text, options);
    const { name, definition } = found;
    const takesNext = definition.type !== "boolean" && found.value === null;
    const value = takesNext ? valueAfter(argv[at + 1], name, definition, options) : checkInline(name, definition, found.value);
    if (takesNext) at++;
    afterModels = takesNext && definition.words === true;
    add(given, name, definition, value);
  }
  return { command: picked.command, explicit: picked.explicit, given, words };
}

/** Whether a switch was given. */
export function isGiven(line: CommandLine, name: string): boolean {
  return line.given.has(name);
}

/** The value of an option that is given once at most. */
export function optionValue(line: CommandLine, name: string): string | undefined {
  return line.given.get(name)?.[0];
}

/** All values of an option, in the order typed. */
export function optionValues(line: CommandLine, name: string): readonly string[] {
  return line.given.get(name) ?? [];
}

// --- internal ---

interface Found {
  readonly name: string;
  readonly definition: OptionDefinition;
  /** What stands behind `=`; null without. */
  readonly value: string | null;
}

/** A single dash is a word: it means standard input elsewhere. */
function isOption(text: string): boolean {
  return text.startsWith("-") && text !== "-";
}

function findOption(text: string, options: Options): Found | null {
  const equals = text.indexOf("=");
  const typed = equals < 0 ? text : text.slice(0, equals);
  const value = equals < 0 ? null : text.slice(equals + 1);
  const entry = Object.entries(options).find(([name, definition]) => typed === `--${name}` || aliasesOf(definition).includes(typed));
  return entry ? { name: entry[0], definition: entry[1], value } : null;
}

function aliasesOf(definition: OptionDefinition): string[] {
  const alias = "alias" in definition ? (definition.alias ?? []) : [];
  return [alias].flat().map((name) => `-${name}`);
}

function valueAfter(next: string | undefined, name: string, definition: OptionDefinition, options: Options): string {
  if (next !== undefined && !next.startsWith("--") && findOption(next, options) === null) return next;
  throw new TeamError("usage", `--${name} needs a value: ${allowedBy(definition)}`, `For example: mg-team ${exampleOf(name, definition)}`);
}

function checkInline(name: string, definition: OptionDefinition, value: string | null): string {
  if (definition.type !== "boolean" || value === null) return value ?? "";
  throw new TeamError("usage", `--${name} takes no value, but was given ${quoted(value)}`, `Write --${name}, or leave it out.`);
}

function add(given: Map<string, string[]>, name: string, definition: OptionDefinition, value: string): void {
  const before = given.get(name);
  if (!before) given.set(name, [value]);
  else if (definition.multiple) before.push(value);
  else if (definition.type !== "boolean") {
    const both = `${quoted(before[0] ?? "")} and ${quoted(value)}`;
    throw new TeamError("usage", `--${name} was given twice: ${both}`, `Keep one of them: ${exampleOf(name, definition)}`);
  }
}

function unknownOption(text: string, options: Options): TeamError {
  const typed = text.split("=", 1)[0] ?? text;
  const dashes = `A query that starts with a dash goes after "--": mg-team -- ${shellWord(text)}`;
  if (/\s/.test(typed) || /^-[\d.]/.test(typed)) return new TeamError("usage", `there is no option ${quoted(text)}`, dashes);
  const name = typed.replace(/^-+/, "");
  const meant = nearest(name, Object.keys(options)) ?? (typed.startsWith("--no-") ? nearest(name.slice(3), Object.keys(options)) : null);
  const hint = meant ? `Did you mean --${meant}?` : "mg-team --help lists the options.";
  return new TeamError("usage", `there is no option ${quoted(typed)}`, hint);
}
