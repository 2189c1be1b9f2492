import { existsSync } from "node:fs";
import { TeamError } from "../errors.ts";
import { childVariable, cookieVariable } from "../process/environment.ts";
import { listOf, nearest, quoted } from "../text.ts";
import type { Choices } from "./choices.ts";
import { type ModelNames, requireModel } from "./models.ts";
import { allowedBy, type OptionDefinition, type Options, runOptions, variableOf } from "./options.ts";
import { absolute, readCommand, readContext } from "./paths.ts";
import { type CommandLine, optionValues } from "./tokenise.ts";
import { choice, duration, money, onOrOff, type Reader, wholeNumber } from "./values.ts";

/** Settings from flags and from MG_TEAM_* variables: the same options, read by the same code. */

/** Where options come from. */
export interface OptionSource {
  /** Values of an option, in order; empty when it was not given. A switch that is on has one value. */
  values(option: string): readonly string[];
  /** How errors call it: `--timeout`, `MG_TEAM_TIMEOUT`. */
  nameOf(option: string): string;
  /** How to write it: `--timeout 30m`, `MG_TEAM_TIMEOUT=30m`. */
  example(option: string, value: string): string;
  readonly errors: "usage" | "config";
}

/** Settings that have a variable of their own, beside the options: their keys in mg-team.yaml have no option with a value. */
export const variableOnly = {
  docker: { type: "enum", options: ["auto", "off"], example: "off" },
  report: { type: "boolean" },
  notify: { type: "boolean" },
  "ballot-fix": { type: "enum", options: ["auto", "on", "off"], example: "off" },
  synthesizer: { type: "string", allowed: "a model", example: "claude" },
} as const satisfies Options;

/** Variables that mg-team sets for the processes that it starts; a step may start mg-team again. */
const internalVariables: readonly string[] = [cookieVariable, childVariable];

/** The options that were typed. */
export function flagSource(line: CommandLine): OptionSource {
  return {
    values: (option) => optionValues(line, option),
    nameOf: (option) => `--${option}`,
    example: (option, value) => (value === "" ? `--${option}` : `--${option} ${value}`),
    errors: "usage",
  };
}

/** The MG_TEAM_* variables. An empty one counts as not set. */
export function variableSource(environment: Readonly<Record<string, string | undefined>>): OptionSource {
  return {
    values: (option) => (hasVariable(option) ? [environment[variableOf(option)] ?? ""].filter((value) => value !== "") : []),
    nameOf: variableOf,
    example: (option, value) => `${variableOf(option)}=${value === "" ? "1" : value}`,
    errors: "config",
  };
}

/** A warning for each MG_TEAM_* variable that is none of ours. */
export function unknownVariables(environment: Readonly<Record<string, string | undefined>>): string[] {
  const known = [...Object.keys(runOptions), ...Object.keys(variableOnly)].filter(hasVariable).map(variableOf);
  const given = Object.keys(environment).filter((name) => name.startsWith("MG_TEAM_") && environment[name] !== "");
  const unknown = given.filter((name) => !known.includes(name) && !internalVariables.includes(name));
  return unknown.sort().map((name) => {
    const meant = nearest(name.slice("MG_TEAM_".length), known.map(withoutPrefix));
    return `${name} is no setting of mg-team and is ignored${meant ? `; did you mean MG_TEAM_${meant}?` : ""}`;
  });
}

/** Reads every setting of a source. Throws one TeamError for all values that are not allowed. Relative paths start at `cwd`. */
export function readOptions(source: OptionSource, cwd: string): Partial<Choices> {
  const problems: TeamError[] = [];
  const read = <Value>(option: string, reader: Reader<Value>): Value | undefined => {
    const [text] = source.values(option);
    const value = text === undefined ? undefined : reader(text);
    if (text !== undefined && value === undefined) problems.push(notAllowed(source, option, text));
    return value;
  };
  const on = (option: string): boolean | undefined => read(option, (text) => (text === "" ? true : onOrOff(text)));
  const off = (option: string): boolean | undefined => negated(on(option));
  const path = (text: string) => (text.trim() === "" ? undefined : absolute(text, cwd));
  const noBallotFix = on("no-ballot-fix");
  const noDocker = on("no-docker");
  const massgenCommand = read("massgen", (text) => readCommand(text, cwd) ?? undefined);
  const choices: Partial<Choices> = {
    maxRounds: read("max-rounds", wholeNumber(1)),
    timeoutSeconds: read("timeout", duration),
    stepTimeoutSeconds: read("step-timeout", duration),
    costBudget: read("cost-budget", money),
    allowUnpriced: on("allow-unpriced"),
    retries: read("retries", wholeNumber(0)),
    maxParallel: read("max-parallel", wholeNumber(1)),
    docker: noDocker === undefined ? read("docker", choice(["auto", "off"])) : noDocker ? "off" : "auto",
    context: contextOf(source, cwd, problems),
    criteriaPath: read("eval-criteria", path),
    synthesis: read("synthesis", choice(["agent", "markdown"])),
    ballotFix: noBallotFix === undefined ? read("ballot-fix", choice(["auto", "on", "off"])) : noBallotFix ? "off" : "auto",
    engine: read("engine", choice(["auto", "massgen", "native"])),
    massgenCommand,
    massgenSource: massgenCommand === undefined ? undefined : source.nameOf("massgen"),
    report: off("no-report") ?? on("report"),
    notify: off("no-notify") ?? on("notify"),
    literal: on("literal"),
    strict: on("strict"),
    dryRun: on("dry-run"),
    refresh: on("refresh"),
    quiet: on("quiet"),
    verbose: on("verbose"),
    color: off("no-color"),
    mode: modeOf(source, on("json"), on("events"), problems),
  };
  if (choices.quiet && choices.verbose) problems.push(exclusive(source, "quiet", "verbose"));
  throwAll(problems, source.errors);
  return choices;
}

/** The model of the synthesis step, where a variable names it. */
export function readSynthesizer(source: OptionSource, names: ModelNames): string | undefined {
  const [word] = source.values("synthesizer");
  return word === undefined ? undefined : requireModel(word, names, source.nameOf("synthesizer"), source.errors).model;
}

// --- internal ---

function hasVariable(option: string): boolean {
  const definition: OptionDefinition | undefined = { ...runOptions, ...variableOnly }[option as keyof typeof runOptions];
  return definition !== undefined && definition.onlyHere !== true;
}

function withoutPrefix(name: string): string {
  return name.slice("MG_TEAM_".length);
}

function negated(value: boolean | undefined): boolean | undefined {
  return value === undefined ? undefined : !value;
}

function contextOf(source: OptionSource, cwd: string, problems: TeamError[]): Choices["context"] | undefined {
  const paths = source.values("context").map((text) => ({ text, context: readContext(text, cwd) }));
  for (const { text, context } of paths) {
    if (text.trim() !== "" && existsSync(context.path)) continue;
    const hint = "Name a path that exists; with :rw the models may change it: --context ./src:rw";
    problems.push(new TeamError("usage", `--context: there is nothing at ${quoted(text)}`, hint));
  }
  return paths.length === 0 ? undefined : paths.map(({ context }) => context);
}

function modeOf(source: OptionSource, json: boolean | undefined, events: boolean | undefined, problems: TeamError[]) {
  if (json && events) problems.push(exclusive(source, "json", "events"));
  if (json === undefined && events === undefined) return undefined;
  return json ? "json" : events ? "events" : "text";
}

function exclusive(source: OptionSource, one: string, other: string): TeamError {
  const names = listOf([source.nameOf(one), source.nameOf(other)]);
  return new TeamError(source.errors, `${names} exclude each other`, `Keep one of them: ${source.example(one, "")}`);
}

function notAllowed(source: OptionSource, option: string, text: string): TeamError {
  const definition: OptionDefinition = { ...variableOnly, ...runOptions }[option as keyof typeof runOptions];
  const allowed = allowedBy(definition) || "1 or 0";
  const example = "example" in definition && definition.example ? definition.example : "";
  return new TeamError(
    source.errors,
    `${source.nameOf(option)} must be ${allowed}, not ${quoted(text)}`,
    `For example: ${source.example(option, example)}`,
  );
}

function throwAll(problems: readonly TeamError[], code: "usage" | "config"): void {
  const [first, ...more] = problems;
  if (!first) return;
  if (more.length === 0) throw first;
  const lines = problems.map(({ message, hint }) => `${message}\n  ${hint}`);
  throw new TeamError(code, `${problems.length} values are not allowed:\n${lines.join("\n")}`, "Correct them and try again.");
}
