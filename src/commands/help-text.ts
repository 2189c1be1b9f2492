import type { OptionDefinition, Options } from "../config/options.ts";
import { type Command, optionsOf, positionalsOf } from "./command.ts";
import { columns, indented, leftWidth, wrap } from "./layout.ts";

/** Help, rendered from citty's definitions: its own renderer neither wraps lines nor groups options. Pure; nothing over 80 columns. */

/** What `mg-team` alone says. */
export function shortHelp(): string {
  return [
    "mg-team asks several AI models one question and delivers the answer that they vote for.",
    "",
    "  mg-team QUERY [with MODELS] [options]",
    "",
    ...indented(firstExamples),
    "",
    "mg-team --help lists commands and options.",
  ]
    .flatMap((line) => wrap(line))
    .join("\n")
    .concat("\n");
}

/** What `mg-team --help` says. */
export function mainHelp(commands: readonly Command[], version: string): string {
  const run = commands.find(({ name }) => name === "run");
  const options: Options = run ? optionsOf(run) : {};
  const usual = usualOptions.flatMap((name): [string, OptionDefinition][] => (options[name] ? [[name, options[name]]] : []));
  const lines = [
    `mg-team ${version}: several AI models, one question, one answer they voted for`,
    "",
    "Usage",
    "  mg-team QUERY [with|using MODELS] [options]",
    "  mg-team COMMAND [options]",
    "",
    ...section("Examples", indented(firstExamples)),
    ...section("Commands", columns(commands.map(({ name, summary }) => [name, summary]))),
    ...(usual.length > 0 ? section("Options that are used most", columns(usual.map(optionRow))) : []),
    "mg-team run --help lists every option; mg-team COMMAND --help explains a",
    "command.",
  ];
  return `${lines.join("\n")}\n`;
}

/** What `mg-team COMMAND --help` says. */
export function commandHelp(command: Command): string {
  const positionals = positionalsOf(command);
  const least = leftWidth(Object.entries(optionsOf(command)).map(optionRow));
  const usage = command.help?.usage ?? [...positionals.map(positionalWord), "[options]"].join(" ");
  const lines = [
    `Usage: mg-team ${command.name === "run" ? "[run]" : command.name} ${usage}`,
    "",
    ...wrap(command.definition.meta.description ?? command.summary),
    "",
    ...section("Examples", indented(command.help?.examples ?? [])),
    ...section(
      "Arguments",
      columns(
        positionals.map(([name, { description }]) => [name.toUpperCase(), description ?? ""]),
        least,
      ),
    ),
    ...grouped(optionsOf(command)).flatMap(({ title, options }) => section(title, columns(options.map(optionRow), least))),
    ...(command.help?.sections ?? []).flatMap(({ title, rows }) => section(title, columns(rows, least))),
  ];
  return `${lines.join("\n").trimEnd()}\n`;
}

// --- internal ---

const firstExamples = [
  'mg-team "Build a landing page" with codex, gemini, and grok',
  'mg-team "Why is this test flaky?" --context ./src --cost-budget 2',
];

const usualOptions = ["models", "context", "max-rounds", "timeout", "cost-budget", "no-docker", "dry-run", "json"];

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [title, ...lines, ""];
}

function grouped(options: Options): { title: string; options: [string, OptionDefinition][] }[] {
  const entries = Object.entries(options);
  const titles = [...new Set(entries.map(([, { group }]) => group ?? "Options"))];
  return titles.map((title) => ({ title, options: entries.filter(([, { group }]) => (group ?? "Options") === title) }));
}

function optionRow([name, definition]: readonly [string, OptionDefinition]): [string, string] {
  const alias = "alias" in definition && definition.alias !== undefined ? `-${[definition.alias].flat().join(", -")}, ` : "";
  const value = definition.type === "boolean" ? "" : ` ${definition.valueHint ?? "VALUE"}`;
  return [`${alias}--${name}${value}`, definition.description ?? ""];
}

function positionalWord([name, { required }]: readonly [string, OptionDefinition]): string {
  return required === false ? `[${name.toUpperCase()}]` : name.toUpperCase();
}
