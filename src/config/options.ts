import type { ArgDef } from "citty";

/**
 * Every option of the command line, as citty's definitions: help, parsing, environment variables and shell completion all start from
 * here. To add one, add an entry, and read it in choices.ts or resolve.ts.
 */

/** What an option says beside citty's own fields. */
export interface OptionExtras {
  /** Heading in the help. */
  readonly group?: string;
  /** May be given more than once. */
  readonly multiple?: true;
  /** Takes the words that follow as well, while each is a model. */
  readonly words?: true;
  /** What a value must be, to follow "must be": `a whole number, 1 or more`. */
  readonly allowed?: string;
  /** The words that an argument may be. */
  readonly choices?: readonly string[];
  /** A value that works. */
  readonly example?: string;
  /** Not read from an MG_TEAM_* variable: it is about this one call. */
  readonly onlyHere?: true;
}

export type OptionDefinition = ArgDef & OptionExtras;
export type Options = Readonly<Record<string, OptionDefinition>>;

const time = "a number of seconds, or a time such as 90s, 30m or 2h";
const count = "a whole number, 1 or more";
const [models, limits, files, how, output] = ["Models", "Limits", "Query and files", "How to run", "Output"];

/** Options that every command has. */
export const commonOptions = {
  quiet: { type: "boolean", alias: "q", group: output, description: "Say nothing on stderr but warnings and errors" },
  verbose: { type: "boolean", alias: "v", group: output, description: "Say more, and show the stack of an internal error" },
  "no-color": { type: "boolean", group: output, description: "No colours; NO_COLOR does the same" },
  version: { type: "boolean", alias: "V", group: output, onlyHere: true, description: "Print the version" },
  help: { type: "boolean", alias: "h", group: output, onlyHere: true, description: "Print this help" },
} as const satisfies Options;

/** The project's configuration file, and JSON on stdout: options that some other commands share with `run`. */
export const sharedOptions = {
  config: {
    type: "string",
    valueHint: "FILE",
    group: how,
    allowed: "the path of a configuration file",
    example: "team.yaml",
    description: "Settings; default ./mg-team.yaml if there is one",
  },
  json: { type: "boolean", group: output, description: "Print the result as one JSON object" },
} as const satisfies Options;

/** Limits: also what `resume` may raise. */
export const limitOptions = {
  "max-rounds": {
    type: "string",
    valueHint: "N",
    group: limits,
    allowed: count,
    example: "5",
    description: "Steps that each model may take; default 5",
  },
  timeout: {
    type: "string",
    valueHint: "TIME",
    group: limits,
    allowed: time,
    example: "30m",
    description: "For the whole run; default 30m",
  },
  "step-timeout": {
    type: "string",
    valueHint: "TIME",
    group: limits,
    allowed: time,
    example: "10m",
    description: "For one step; default: none of its own",
  },
  "cost-budget": {
    type: "string",
    valueHint: "USD",
    group: limits,
    allowed: "an amount of US dollars above 0",
    example: "2.50",
    description: "Stop when the run has cost this much; default: no limit",
  },
  "allow-unpriced": { type: "boolean", group: limits, description: "Go on under a budget when a step's price is unknown" },
  retries: {
    type: "string",
    valueHint: "N",
    group: limits,
    allowed: "a whole number, 0 or more",
    example: "1",
    description: "New attempts at a step that failed; default 1",
  },
  "max-parallel": {
    type: "string",
    valueHint: "N",
    group: limits,
    allowed: count,
    example: "2",
    description: "Steps at the same time; default: all of a round",
  },
} as const satisfies Options;

/** Options of `mg-team [run] QUERY`. */
export const runOptions = {
  models: {
    type: "string",
    valueHint: "M...",
    group: models,
    multiple: true,
    words: true,
    allowed: "two or more models",
    example: "codex gemini",
    description: "Who takes part: codex gemini, or codex/gpt-5.4",
  },
  literal: { type: "boolean", group: models, description: "Select no models from the text of QUERY" },
  "query-file": {
    type: "string",
    valueHint: "FILE",
    group: files,
    onlyHere: true,
    allowed: 'the path of a text file, or "-" for standard input',
    example: "task.md",
    description: 'Read QUERY from a file, or from standard input with "-"',
  },
  context: {
    type: "string",
    valueHint: "PATH[:rw]",
    group: files,
    multiple: true,
    onlyHere: true,
    allowed: "a path that exists, with :rw at its end if the models may write there",
    example: "./docs",
    description: "What the models may read, or with :rw also change",
  },
  "eval-criteria": {
    type: "string",
    valueHint: "FILE",
    group: files,
    allowed: "the path of a JSON file with criteria",
    example: "criteria.json",
    description: "What a good answer must fulfil, passed to every step",
  },
  ...limitOptions,
  synthesis: {
    type: "enum",
    options: ["agent", "markdown"],
    valueHint: "KIND",
    group: how,
    example: "markdown",
    description:
      "agent (default): the winner's model writes the final answer in one more step; markdown: the answer as it won, no more steps",
  },
  "no-docker": { type: "boolean", group: how, description: "Run the models' code locally" },
  engine: {
    type: "enum",
    options: ["auto", "massgen", "native"],
    valueHint: "NAME",
    group: how,
    example: "massgen",
    description: "What runs a step: auto (default), massgen, or native",
  },
  massgen: {
    type: "string",
    valueHint: "CMD",
    group: how,
    allowed: "a command that starts MassGen",
    example: "massgen",
    description: "How to start MassGen; default: look for it",
  },
  "no-ballot-fix": { type: "boolean", group: how, description: "Leave MassGen's ballot as it is" },
  plugin: {
    type: "string",
    valueHint: "FILE",
    group: how,
    multiple: true,
    onlyHere: true,
    allowed: "the path of a plugin file",
    example: "./my-plugin.ts",
    description: "Run this plugin's code too",
  },
  "without-plugin": {
    type: "string",
    valueHint: "NAME",
    group: how,
    multiple: true,
    onlyHere: true,
    allowed: "the name of a plugin",
    example: "checks",
    description: "Leave a plugin out, built in or not",
  },
  config: sharedOptions.config,
  "dry-run": { type: "boolean", group: how, description: "Print what would run, and spend nothing" },
  refresh: { type: "boolean", group: how, description: "Forget cached probes and configs" },
  json: sharedOptions.json,
  events: { type: "boolean", group: output, description: "Print one JSON event a line, as it happens" },
  strict: { type: "boolean", group: output, description: "Exit with 6 unless the models reach a consensus" },
  "no-report": { type: "boolean", group: output, description: "Write no report.html" },
  "no-notify": { type: "boolean", group: output, description: "No bell or notification of the terminal at the end" },
  ...commonOptions,
} as const satisfies Options;

/** `MG_TEAM_MAX_ROUNDS` for `max-rounds`. */
export function variableOf(option: string): string {
  return `MG_TEAM_${option.toUpperCase().replaceAll("-", "_")}`;
}

/** What a value of an option must be, to follow "must be"; empty for a switch. */
export function allowedBy(definition: OptionDefinition): string {
  if (definition.type === "enum") return (definition.options ?? []).join(" or ");
  return definition.allowed ?? (definition.type === "boolean" ? "" : "text");
}

/** `--timeout 30m`: an option as one would type it. */
export function exampleOf(name: string, definition: OptionDefinition): string {
  return definition.type === "boolean" ? `--${name}` : `--${name} ${definition.example ?? definition.valueHint ?? "VALUE"}`;
}
