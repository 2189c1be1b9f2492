import { isInside, real } from "../config/paths.ts";
import type { RunFile } from "../config/run-file.ts";
import { isOwnMark } from "../config/run-mark.ts";
import type { ResolvedConfig } from "../config/sources.ts";
import type { Environment } from "../config/trust-store.ts";
import { TeamError } from "../errors.ts";

/** The run that is to go on, as it was found. */
export interface FoundRun {
  readonly id: string;
  readonly file: RunFile;
  /** Of `config.json`; null without. */
  readonly mark: string | null;
  /** Absolute path of the project that it belongs to. */
  readonly project: string;
}

/**
 * What of a run's `config.json` may count. The files of a run lie in the project, so they are no consent: programs come from flags, variables
 * and the trusted mg-team.yaml alone, and an agent's own config must be named there too. What reaches out of the project counts for a run that
 * this user started (see run-mark.ts), or when it is named again; that code runs outside of docker likewise.
 * @throws TeamError `untrusted` with what to type
 */
export function consentedFile(run: FoundRun, config: ResolvedConfig, environment: Environment, warn: (line: string) => void): RunFile {
  const { id, file, mark } = run;
  requireConfigs(file, config);
  if (isOwnMark(mark, id, file, environment)) return file;
  requireContext(run, config);
  requireCriteria(run, config);
  const { settings } = file;
  const { docker } = config.choices;
  if (settings.docker === "off" && docker !== "off" && settings.engine !== "native")
    warn(
      `${id} says that the agents' code runs outside of docker, but not that you said so; for that, type: MG_TEAM_NO_DOCKER=1 mg-team resume`,
    );
  return { ...file, docker: docker === "auto", settings: { ...settings, docker } };
}

// --- internal ---

function requireConfigs({ settings }: RunFile, { file }: ResolvedConfig): void {
  const named = new Set(file?.models?.map(({ config }) => config));
  for (const { id, config } of settings.agents) {
    if (config === undefined || named.has(config)) continue;
    const hint = `Name it there again: models: [{ model: …, config: ${config} }]`;
    throw new TeamError("untrusted", `${id} ran with its own config ${config}, which mg-team.yaml no longer names`, hint);
  }
}

function requireContext({ id, file, project }: FoundRun, { choices }: ResolvedConfig): void {
  for (const { path, permission } of file.settings.context) {
    const named = choices.context.some((other) => other.path === path && (other.permission === "write" || permission === "read"));
    if (named || isInside(real(path), real(project))) continue;
    const what = `${id} gives the models ${path} to ${permission}, outside of the project, and was not started by you here`;
    throw new TeamError(
      "untrusted",
      what,
      `If they may, name it in mg-team.yaml: context: [${path}${permission === "write" ? ":rw" : ""}]`,
    );
  }
}

function requireCriteria({ id, file, project }: FoundRun, { choices }: ResolvedConfig): void {
  const { criteriaPath: path } = file.settings;
  if (path === null || path === choices.criteriaPath || isInside(real(path), real(project))) return;
  const what = `${id} takes its criteria from ${path}, outside of the project, and was not started by you here`;
  throw new TeamError("untrusted", what, `If it may, name it in mg-team.yaml: eval_criteria: ${path}`);
}
