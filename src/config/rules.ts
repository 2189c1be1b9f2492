import { existsSync } from "node:fs";
import { quoted } from "../text.ts";
import type { Issue } from "./issues.ts";
import { checkAlias, explainUnknown, type ModelNames } from "./models.ts";
import { absolute, readCommand, readContext } from "./paths.ts";
import type { FileValues } from "./schema.ts";

/** What a rule may look at beside the values themselves. */
export interface RuleContext {
  /** Directory of the file, absolute; its relative paths start there. */
  readonly directory: string;
  readonly names: ModelNames;
}

/** Something that must hold in mg-team.yaml beyond the kinds of its values. */
export interface Rule {
  /** What must hold. */
  readonly name: string;
  check(values: FileValues, context: RuleContext): readonly Issue[];
}

/** Every rule. To add one, add an entry; it sees only keys whose values are of the right kind. */
export const rules: readonly Rule[] = [
  {
    name: "an alias leads to a model",
    check: ({ aliases = {} }) =>
      Object.keys(aliases).flatMap((alias): Issue[] => {
        const wrong = checkAlias(alias, aliases);
        return wrong === null ? [] : [{ path: ["aliases", alias], at: "key", message: `aliases.${alias}: ${wrong}` }];
      }),
  },
  {
    name: "every model is known",
    check: ({ models = [] }, { names }) =>
      models.flatMap((entry, index) =>
        typeof entry === "string"
          ? modelIssues(entry, ["models", index], names)
          : modelIssues(entry.model, ["models", index, "model"], names),
      ),
  },
  {
    name: "the synthesizer is a model",
    check: ({ synthesizer }, { names }) => (synthesizer === undefined ? [] : modelIssues(synthesizer, ["synthesizer"], names)),
  },
  {
    name: "an agent's own config exists",
    check: ({ models = [] }, context) =>
      models.flatMap((entry, index) =>
        typeof entry === "string" ? [] : fileIssues(entry.config, ["models", index, "config"], context.directory),
      ),
  },
  {
    name: "plugin files exist",
    check: ({ plugins = [] }, { directory }) =>
      plugins.flatMap((entry, index) =>
        typeof entry === "string"
          ? fileIssues(entry, ["plugins", index], directory)
          : fileIssues(entry.path, ["plugins", index, "path"], directory),
      ),
  },
  {
    name: "plugin options are plain data",
    check: ({ plugins = [] }) =>
      plugins.flatMap((entry, index): Issue[] =>
        typeof entry === "string" || isTree(entry.options)
          ? []
          : [{ path: ["plugins", index, "options"], message: "these options contain themselves", hint: "Write them without & and *." }],
      ),
  },
  {
    name: "context paths exist",
    check: ({ context = [] }, { directory }) =>
      context.flatMap((path, index) => fileIssues(path, ["context", index], directory, readContext(path, directory).path)),
  },
  {
    name: "the criteria file exists",
    check: ({ eval_criteria }, { directory }) => fileIssues(eval_criteria, ["eval_criteria"], directory),
  },
  {
    name: "the MassGen command can be split into words",
    check: ({ massgen }, { directory }) =>
      massgen?.command === undefined || readCommand(massgen.command, directory) !== null
        ? []
        : [
            {
              path: ["massgen", "command"],
              message: "a quote in massgen.command is not closed",
              hint: "Close it, or write the path alone.",
            },
          ],
  },
];

// --- internal ---

function modelIssues(word: string, path: Issue["path"], names: ModelNames): Issue[] {
  if (names.find(word)) return [];
  // An alias that leads nowhere is reported where it is defined.
  if (Object.hasOwn(names.aliases, word)) return [];
  return [{ path, ...explainUnknown(word, names) }];
}

function fileIssues(path: string | undefined, at: Issue["path"], directory: string, where = absolute(path ?? "", directory)): Issue[] {
  if (path === undefined || existsSync(where)) return [];
  return [
    { path: at, message: `there is nothing at ${quoted(path, 200)}`, hint: `Relative paths start at the file's directory, ${directory}` },
  ];
}

function isTree(value: unknown): boolean {
  try {
    JSON.stringify(value);
    return true;
  } catch {
    return false;
  }
}
