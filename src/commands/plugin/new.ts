import { existsSync } from "node:fs";
import { join } from "node:path";
import { builtIns } from "../../../plugins/index.ts";
import { absolute, shown } from "../../config/paths.ts";
import { optionValue } from "../../config/tokenise.ts";
import { ExitCode, TeamError } from "../../errors.ts";
import { quoted, shellWord } from "../../text.ts";
import type { CommandContext } from "../command.ts";
import template from "./template.ts.txt" with { type: "text" };
import { pluginsDirectory, provideTypes, referenceTo } from "./types.ts";
import { writeNewFile } from "./write-new.ts";

/** `mg-team plugin new NAME`: writes a plugin that works, and the types for its editor. Throws a TeamError: `usage`, `write`. */
export function writePlugin({ options, positionals, cwd, stdout }: CommandContext): ExitCode {
  const name = checkName(positionals.name);
  const directory = absolute(optionValue(options, "dir") ?? pluginsDirectory, cwd);
  const path = join(directory, `${name}.ts`);
  const file = shown(path, cwd);
  if (existsSync(path)) throw taken(file, name);
  const types = provideTypes(directory, cwd);
  const place = file === path ? path : `./${file.replaceAll("\\", "/")}`;
  const values: Readonly<Record<string, string>> = { REFERENCE: referenceTo(types.path, directory), NAME: name, PATH: yamlWord(place) };
  if (
    !writeNewFile(
      path,
      template.replace(/REFERENCE|NAME|PATH/g, (word) => values[word] ?? word),
    )
  )
    throw taken(file, name);
  const lines = [
    `Written: ${file}`,
    ...(types.written ? [`         ${shown(types.path, cwd)}, the types of "mg-team" for your editor`] : []),
    ...(types.hint === null ? [] : [`${shown(types.path, cwd)} is of another version of mg-team. To renew it: ${types.hint}`]),
    "",
    "Try it with scripted models, at no cost, then with real ones:",
    `  mg-team demo --plugin ${shellWord(place)}`,
    `  mg-team "QUERY" --plugin ${shellWord(place)}`,
    "",
    "To have it in every run, put it into mg-team.yaml and type mg-team trust:",
    `  plugins: [${yamlWord(place)}]`,
  ];
  stdout.write(`${lines.join("\n")}\n`);
  return ExitCode.ok;
}

// --- internal ---

/** Names of Windows devices are left out of this: they are rare, and the system says so. */
const pattern = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;

function checkName(name: string | undefined): string {
  const rule = "lower-case words with dashes";
  if (name === undefined) {
    throw new TeamError("usage", `mg-team plugin new needs NAME: ${rule}`, "For example: mg-team plugin new my-report");
  }
  if (builtIns.some((plugin) => plugin.name === name)) {
    const hint = `Choose another, for example: mg-team plugin new my-${name}`;
    throw new TeamError("usage", `${quoted(name)} is the name of a built-in plugin`, hint);
  }
  if (pattern.test(name)) return name;
  const better = likely(name);
  throw new TeamError("usage", `NAME must be ${rule}, not ${quoted(name)}`, `For example: mg-team plugin new ${better ?? "my-report"}`);
}

/** `my-report` for `plugins/My Report.ts`; null when nothing of it can be kept. */
function likely(name: string): string | null {
  const base = name.replace(/^.*[\\/]/, "").replace(/\.[cm]?[jt]sx?$/, "");
  const words = base.replace(/([a-z0-9])([A-Z])/g, "$1-$2").toLowerCase();
  const made = words.replace(/[^a-z0-9]+/g, "-").replace(/^[-0-9]+|-+$/g, "");
  return pattern.test(made) && !builtIns.some((plugin) => plugin.name === made) ? made : null;
}

function taken(file: string, name: string): TeamError {
  const hint = `Choose another name, or move that file away: mg-team plugin new ${name}-2`;
  return new TeamError("usage", `${file} exists already, so nothing was written`, hint);
}

/** A path in a list of YAML: bare where that is safe, else in quotes as JSON has them. */
function yamlWord(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : JSON.stringify(path);
}
