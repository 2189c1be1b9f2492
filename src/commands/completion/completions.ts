import { shortNames } from "../../config/models.ts";
import { type Command, optionsOf, positionalsOf } from "../command.ts";

/** What can be completed, taken from the commands' own definitions. Pure. */

/** What may follow an option, or stand as an argument. */
export type Values =
  | { readonly kind: "none" }
  | { readonly kind: "words"; readonly words: readonly string[] }
  | { readonly kind: "files" }
  | { readonly kind: "text" };

export interface CompletedOption {
  /** `--quiet`, and `-q` where it has one. */
  readonly names: readonly string[];
  readonly description: string;
  readonly values: Values;
}

export interface CompletedCommand {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly CompletedOption[];
  /** Its first argument. */
  readonly first: Values;
}

export interface Completions {
  readonly commands: readonly CompletedCommand[];
  /** Short names of models. */
  readonly models: readonly string[];
}

/** Collects what the commands say of themselves. */
export function completionsOf(commands: readonly Command[]): Completions {
  const names = commands.map(({ name }) => name);
  return {
    models: Object.keys(shortNames),
    commands: commands.map((command) => ({
      name: command.name,
      summary: command.summary,
      options: Object.entries(optionsOf(command)).map(([name, definition]) => ({
        names: [`--${name}`, ...("alias" in definition ? [definition.alias ?? []].flat().map((alias) => `-${alias}`) : [])],
        description: definition.description ?? "",
        values: valuesOf(definition),
      })),
      first: command.name === "help" ? { kind: "words", words: names } : firstOf(command),
    })),
  };
}

// --- internal ---

type Definition = ReturnType<typeof optionsOf>[string];

function valuesOf(definition: Definition): Values {
  if (definition.type === "boolean") return { kind: "none" };
  if (definition.type === "enum") return { kind: "words", words: definition.options ?? [] };
  if (definition.words) return { kind: "words", words: Object.keys(shortNames) };
  return /FILE|PATH|CMD|DIR/.test(definition.valueHint ?? "") ? { kind: "files" } : { kind: "text" };
}

function firstOf(command: Command): Values {
  const [, definition] = positionalsOf(command)[0] ?? [];
  return definition?.choices ? { kind: "words", words: definition.choices } : { kind: "text" };
}
