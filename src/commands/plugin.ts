import { runOptions, sharedOptions } from "../config/options.ts";
import { isGiven, optionValues } from "../config/tokenise.ts";
import { ExitCode, TeamError } from "../errors.ts";
import { listOf, nearest, quoted, shellWord } from "../text.ts";
import type { Command, CommandContext } from "./command.ts";
import { writeJson } from "./print.ts";

/** What can be done about plugins, with the options that are for it. To add something, add a line, and a case below. */
const actions = {
  new: ["dir"],
  list: ["plugin", "without-plugin", "config", "json"],
  types: ["dir", "stdout"],
} as const;
type Action = keyof typeof actions;

const [forList, forFiles] = ["For list", "For new and types"];

/** Writes plugins, lists those of a run, gives types to editors. */
export const command: Command = {
  name: "plugin",
  summary: "Write a plugin, list the plugins of a run, get their types",
  definition: {
    meta: {
      name: "plugin",
      description:
        "new writes a plugin file that works, for you to change, and beside it the types for your editor. list says which plugins a run here " +
        "would load, in order, and whether each of them can be; a file that you have not trusted is not run. types writes the types anew.",
    },
    args: {
      action: {
        type: "positional",
        required: true,
        choices: Object.keys(actions),
        example: "new my-report",
        description: "new, list or types",
      },
      name: { type: "positional", required: false, description: "For new: lower-case words with dashes, such as my-report" },
      dir: {
        type: "string",
        valueHint: "DIR",
        group: forFiles,
        allowed: "the path of a directory",
        example: "./plugins",
        description: "Where to write; default ./plugins",
      },
      stdout: { type: "boolean", group: forFiles, description: "Print the types, and write no file" },
      plugin: { ...runOptions.plugin, group: forList, description: "Also this file, as a run would" },
      "without-plugin": { ...runOptions["without-plugin"], group: forList },
      config: { ...sharedOptions.config, group: forList },
      json: { ...sharedOptions.json, group: forList, description: "Print the list as one JSON object" },
    },
  },
  help: {
    usage: "new NAME | list | types [options]",
    examples: ["mg-team plugin new my-report", 'mg-team "QUERY" --plugin ./plugins/my-report.ts', "mg-team plugin list"],
    sections: [
      {
        title: "Types",
        rows: [
          [
            "mg-team.d.ts",
            "needs no node_modules: it has the types of mg-team and tapable, and the usual schemas of zod; the rest of zod, and node:, are any",
          ],
          ["all of zod and node:", "npm install -D zod @types/node, and editors use those instead; a run needs neither"],
        ],
      },
      {
        title: "Exit codes of list",
        rows: [
          ["0", "a run would load all of them"],
          ["3", "a run would be refused: a file is not trusted, or cannot be loaded"],
        ],
      },
    ],
  },
  async run(context) {
    const action = actionOf(context);
    refuseOthersOptions(action, context);
    switch (action) {
      case "new":
        return (await import("./plugin/new.ts")).writePlugin(context);
      case "types":
        return (await import("./plugin/types.ts")).writeTypes(context);
      case "list":
        return list(context);
    }
  },
};

// --- internal ---

async function list(context: CommandContext): Promise<ExitCode> {
  const [{ listPlugins }, { renderPlugins }] = await Promise.all([import("./plugin/list.ts"), import("./plugin/list-text.ts")]);
  const found = await listPlugins(context);
  const ready = found.plugins.every(({ problem }) => problem === null);
  const { stdout, options, cwd } = context;
  if (isGiven(options, "json")) writeJson(stdout, { version: 1, ready, ...found }, 2);
  else stdout.write(renderPlugins(found, cwd));
  return ready ? ExitCode.ok : ExitCode.preflight;
}

function actionOf({ positionals, options }: CommandContext): Action {
  const { action: word = "", name } = positionals;
  const names = Object.keys(actions);
  const action = names.find((each) => each === word) as Action | undefined;
  if (action === undefined) {
    const query = shellWord(["plugin", ...options.words.map(({ text }) => text)].join(" "));
    const next = `mg-team plugin ${nearest(word, names) ?? "list"}`;
    const hint = `${nearest(word, names) === null ? "For example" : "Did you mean"}: ${next}\nTo ask the models about it: mg-team run ${query}`;
    throw new TeamError("usage", `ACTION must be ${listOf(names, "or")}, not ${quoted(word)}`, hint);
  }
  if (action !== "new" && name !== undefined) {
    throw new TeamError(
      "usage",
      `mg-team plugin ${action} takes no arguments; ${quoted(name)} is too much`,
      `Type: mg-team plugin ${action}`,
    );
  }
  return action;
}

/** An option of another action is a mistake; without this it would be ignored. */
function refuseOthersOptions(action: Action, { options }: CommandContext): void {
  const own: readonly string[] = actions[action];
  const others = Object.values(actions).flat();
  const wrong = others.find((name) => !own.includes(name) && optionValues(options, name).length > 0);
  if (wrong === undefined) return;
  const owners = (Object.keys(actions) as Action[]).filter((each) => (actions[each] as readonly string[]).includes(wrong));
  throw new TeamError("usage", `--${wrong} is for mg-team plugin ${listOf(owners, "or")}, not for ${action}`, "Leave it out.");
}
