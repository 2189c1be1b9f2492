import { TeamError } from "../errors.ts";
import type { ResolvedConfig } from "./sources.ts";
import { configSubject, requireTrust, type TrustItem } from "./trust.ts";
import type { Environment } from "./trust-store.ts";

/** What to do with parts of a configuration file that need consent and have none. */
export type Untrusted = "refuse" | "leave out";

/**
 * Applies the user's consent to a configuration. Only what would be used needs it; flags and variables are consent themselves.
 * Throws a TeamError (untrusted) with the command to type; with "leave out" that is a warning, and the parts are gone.
 * @param modelsNamed models come from elsewhere, so that the file's own, with their configs, are not used
 */
export function applyTrust(
  config: ResolvedConfig,
  environment: Environment,
  cwd: string,
  modelsNamed: boolean,
  untrusted: Untrusted,
): ResolvedConfig {
  const subject = config.file === null ? null : configSubject(config.file);
  if (subject === null) return config;
  const unused: readonly TrustItem["kind"][] = [
    ...(usesOwnCommand(config) ? [] : (["massgen_command"] as const)),
    ...(modelsNamed ? (["agent_config"] as const) : []),
  ];
  const used = subject.items.filter(({ kind }) => !unused.includes(kind));
  try {
    requireTrust(subject, used, environment, cwd);
    return config;
  } catch (error) {
    if (untrusted === "refuse" || !(error instanceof TeamError)) throw error;
    return { ...withoutPrograms(config), warnings: [...config.warnings, `${error.message}. ${error.hint}`] };
  }
}

// --- internal ---

function usesOwnCommand({ choices, file }: ResolvedConfig): boolean {
  return choices.massgenSource === file?.choices.massgenSource;
}

function withoutPrograms(config: ResolvedConfig): ResolvedConfig {
  const { file, choices, plugins } = config;
  const models = file?.models?.map(({ model, backend, modelName }) => ({ model, backend, modelName })) ?? null;
  return {
    ...config,
    choices: usesOwnCommand(config) ? { ...choices, massgenCommand: null, massgenSource: null } : choices,
    file: file === null ? null : { ...file, models, plugins: [] },
    plugins: plugins.filter(({ source }) => source === "flag"),
  };
}
