import type { CommandDef, CommandMeta } from "citty";
import { commonOptions, type OptionDefinition, type Options } from "../config/options.ts";
import type { CommandLine } from "../config/tokenise.ts";
import type { Environment } from "../config/trust-store.ts";
import type { Log } from "../plugin/plugin.ts";
import type { Signals } from "../signals.ts";
import type { Output, StandardInput } from "./io.ts";

/** What a command gets. Everything of the process comes from here, so that a test can bring its own. */
export interface CommandContext {
  /** What was typed: options are known and have values where they need one; the values themselves are not checked yet. */
  readonly options: CommandLine;
  /** Words by the names of the command's positional arguments; required ones are there. Empty for a command with free words. */
  readonly positionals: Readonly<Record<string, string>>;
  readonly environment: Environment;
  /** The project's directory, absolute. */
  readonly cwd: string;
  readonly stdin: StandardInput;
  /** For the result only. */
  readonly stdout: Output;
  /** For progress and messages. */
  readonly stderr: Output;
  /** Lines on stderr; obeys --quiet and --verbose. */
  readonly log: Log;
  /** Nobody listens yet: until the command does, a signal ends the program at once. */
  readonly signals: Signals;
}

/**
 * A command's definition: a `CommandDef` of citty in plain data, because help and completion read it too. `meta.description` is a sentence
 * or two; each of `args` may have the extras of `OptionDefinition`.
 */
export interface Definition extends CommandDef {
  readonly meta: CommandMeta;
  readonly args?: Record<string, OptionDefinition>;
}

/**
 * A command. Its file is `src/commands/NAME.ts`, exports it as `command`, and has a line in `index.ts`.
 * Options that every command has (`commonOptions`) are added to its definition.
 */
export interface Command {
  readonly name: string;
  /** One line, without a full stop, for the list of commands. */
  readonly summary: string;
  readonly definition: Definition;
  /** What its help says beside its options. */
  readonly help?: {
    /** After the command's name; default: its positional arguments and [options]. */
    readonly usage?: string;
    readonly examples?: readonly string[];
    /** More sections, each with a heading and two columns. */
    readonly sections?: readonly { readonly title: string; readonly rows: readonly (readonly [string, string])[] }[];
  };
  /** Its words are free text, which it sorts itself (`context.options.words`). */
  readonly freeWords?: boolean;
  /** Resolves to the exit code. Throws a TeamError for what the user can do something about; anything else is reported as a bug. */
  run(context: CommandContext): Promise<number>;
}

/** Its options and those that every command has, without the positional arguments. */
export function optionsOf(command: Command): Options {
  return { ...Object.fromEntries(argumentsOf(command).filter(([, { type }]) => type !== "positional")), ...commonOptions };
}

/** Its positional arguments, in order. */
export function positionalsOf(command: Command): readonly (readonly [string, OptionDefinition])[] {
  return argumentsOf(command).filter(([, { type }]) => type === "positional");
}

// --- internal ---

function argumentsOf({ definition }: Command): [string, OptionDefinition][] {
  return Object.entries(definition.args ?? {});
}
