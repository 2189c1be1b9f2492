import { existsSync } from "node:fs";
import { join } from "node:path";
import { TeamError } from "../errors.ts";
import { formatDuration, quoted } from "../text.ts";
import { type Choices, defaultChoices, firstOf } from "./choices.ts";
import { type ConfigFile, readConfigFile } from "./file.ts";
import { flagSource, readOptions, readSynthesizer, unknownVariables, variableSource } from "./flags.ts";
import { createModelNames, type ModelNames } from "./models.ts";
import { absolute, isInside, real, shown } from "./paths.ts";
import type { OutputSettings, PluginRequest } from "./settings.ts";
import { type CommandLine, optionValues } from "./tokenise.ts";
import type { Environment } from "./trust-store.ts";

/** Everything that is settled about a project before any query: flags, then variables, then mg-team.yaml, then defaults. */
export interface ResolvedConfig {
  readonly choices: Choices;
  /** What flags alone said: `resume` raises limits with them. */
  readonly flags: Partial<Choices>;
  readonly names: ModelNames;
  /** The configuration file; null when there is none. */
  readonly file: ConfigFile | null;
  readonly output: OutputSettings;
  /** Those of the file, then those of `--plugin`. */
  readonly plugins: readonly PluginRequest[];
  readonly withoutPlugins: readonly string[];
  /** Lines for stderr. */
  readonly warnings: readonly string[];
}

/**
 * Reads every source and merges them. Whether the file may be trusted is not asked: see `applyTrust`. Prints nothing.
 * Throws a TeamError: `usage` for flags, `config` for variables and the file.
 */
export function readSources(line: CommandLine, environment: Environment, cwd: string): ResolvedConfig {
  const flags = readOptions(flagSource(line), cwd);
  const variables = variableSource(environment);
  const found = readOptions(variables, cwd);
  const path = configPathOf(line, environment, cwd);
  const file = path === null ? null : readConfigFile(path, cwd);
  const names = file?.names ?? createModelNames();
  const synthesizer = readSynthesizer(variables, names);
  const choices = firstOf(flags, { ...found, synthesizer }, file?.choices ?? {}, defaultChoices);
  return {
    choices,
    flags,
    names,
    file,
    output: outputOf(choices, flags, environment),
    plugins: [...(file?.plugins ?? []), ...pluginsOf(line, cwd)],
    withoutPlugins: optionValues(line, "without-plugin"),
    warnings: [...unknownVariables(environment), ...doubts(choices, file, cwd)],
  };
}

/** The files of `--plugin`. Throws a TeamError (usage) for one that does not exist. */
export function pluginsOf(line: CommandLine, cwd: string): PluginRequest[] {
  return optionValues(line, "plugin").map((text) => {
    const path = absolute(text, cwd);
    if (text.trim() !== "" && existsSync(path)) return { path, source: "flag" };
    throw new TeamError("usage", `--plugin: there is no file ${quoted(text, 200)}`, "Name the file of a plugin: --plugin ./my-plugin.ts");
  });
}

// --- internal ---

function configPathOf(line: CommandLine, environment: Environment, cwd: string): string | null {
  const [flag] = optionValues(line, "config");
  const variable = environment.MG_TEAM_CONFIG || undefined;
  const named = flag ?? variable;
  if (named === undefined) {
    const usual = join(cwd, "mg-team.yaml");
    return existsSync(usual) ? usual : null;
  }
  const path = absolute(named, cwd);
  if (named.trim() !== "" && existsSync(path)) return path;
  const from = flag === undefined ? "MG_TEAM_CONFIG" : "--config";
  const hint = `Name a file that exists, or leave ${from} out: ./mg-team.yaml is read when it is there.`;
  throw new TeamError(flag === undefined ? "config" : "usage", `${from}: there is no file ${quoted(named, 200)}`, hint);
}

function outputOf({ mode, quiet, verbose, color, notify }: Choices, flags: Partial<Choices>, environment: Environment): OutputSettings {
  const noColor = (environment.NO_COLOR ?? "") !== "" || environment.TERM === "dumb";
  return {
    mode,
    quiet: quiet && flags.verbose !== true,
    verbose: verbose && flags.quiet !== true,
    color: color && !noColor,
    notify,
  };
}

/** What is allowed, but hardly meant. */
function doubts({ timeoutSeconds, stepTimeoutSeconds, context }: Choices, file: ConfigFile | null, cwd: string): string[] {
  const warnings: string[] = [];
  if (stepTimeoutSeconds !== null && stepTimeoutSeconds >= timeoutSeconds) {
    const [step, whole] = [formatDuration(stepTimeoutSeconds), formatDuration(timeoutSeconds)];
    warnings.push(`the step timeout of ${step} has no effect: the whole run ends after ${whole}`);
  }
  if (file === null && existsSync(join(cwd, "mg-team.yml"))) warnings.push("mg-team.yml is not read; rename it to mg-team.yaml");
  if (file === null || context !== file.choices.context) return warnings;
  for (const { path, permission } of context) {
    if (isInside(real(path), real(cwd))) continue;
    warnings.push(
      `${shown(file.path, cwd)} lets the models ${permission === "read" ? "read" : "change"} files outside of this project: ${path}`,
    );
  }
  return warnings;
}
