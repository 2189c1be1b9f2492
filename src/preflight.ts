import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { Clock } from "./clock.ts";
import { defaultModels } from "./config/default-models.ts";
import { createModelNames, type ModelNames } from "./config/models.ts";
import { secretsOf } from "./config/secrets.ts";
import type { DraftSettings } from "./config/settings.ts";
import { runsNatively } from "./engine/choose.ts";
import type { MassgenInstall } from "./engine/massgen/install.ts";
import { errorOf, failOf, type PreflightCheck, warningsOf } from "./preflight/check.ts";
import { planEngine, wantsMassgen } from "./preflight/engine.ts";
import { checkModels, checkPrograms, checkSynthesizer, isInstalled } from "./preflight/models.ts";
import { argumentSpace, checkContext, checkCriteria, checkDisk, checkProject } from "./preflight/places.ts";
import { checkQuery, checkReferences } from "./preflight/query.ts";
import {
  askPrograms,
  cacheDirectory,
  checkDocker,
  checkEnvironment,
  type Files,
  type LookInput,
  lookAtFiles,
  writeIfMissing,
} from "./preflight/surroundings.ts";
import type { Agent } from "./types.ts";

export type { PreflightCheck } from "./preflight/check.ts";
export { longestQueryBytes, synthesisHeadroomBytes } from "./preflight/query.ts";
export { cacheDirectory } from "./preflight/surroundings.ts";

export interface PreflightInput {
  readonly settings: DraftSettings;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The user's home directory, absolute. */
  readonly home: string;
  /** Short names and aliases, for the default choice of models. */
  readonly names?: ModelNames;
  /** Forget cached answers of programs (`--refresh`). */
  readonly refresh?: boolean;
  /** Write nothing (`--dry-run`). */
  readonly dryRun?: boolean;
  readonly clock?: Clock;
  /** Told, in a sentence, what takes long: for stderr. */
  note?(message: string): void;
}

/** What a run needs to know before its first launch. */
export interface PreflightReport {
  /** Null when the engine is native. */
  readonly install: MassgenInstall | null;
  /** As requested, or the default choice by the keys that were found. */
  readonly agents: readonly Agent[];
  /** To be set in the children's environment. Secret: never print, log or store a value. */
  readonly keysEnv: Readonly<Record<string, string>>;
  /** Values to be removed from whatever is shown or stored. */
  readonly secrets: readonly string[];
  /** To be set in the children's environment as well: DOCKER_HOST where the engine is not at its usual address. */
  readonly dockerEnv: Readonly<Record<string, string>>;
  /** Run the agents' code in docker. */
  readonly docker: boolean;
  /** One line each, with what to do. */
  readonly warnings: readonly string[];
  readonly checks: readonly PreflightCheck[];
}

/**
 * Everything that is checked before any money is spent (design.md). Throws a TeamError that lists all problems and carries the code of
 * the first: those that files tell at once, before any program is asked; then those of MassGen and docker, which are asked together.
 */
export async function preflight(input: PreflightInput): Promise<PreflightReport> {
  const { settings, env, home } = input;
  const look: LookInput = { ...input, ...settings, command: commandOf(settings), cacheDir: cacheDirectory(env, home) };
  const files = await lookAtFiles(look);
  const team = chooseAgents(input, files);
  const needed = wantsMassgen(settings.engine, team.agents);
  const quick = [
    ...checkQuery({ query: settings.query, env, space: argumentSpace() }),
    ...(await checkPlaces(settings)),
    ...files.checks,
    ...team.checks,
  ];
  throwIfFailed(quick);

  const programs = await askPrograms(needed ? look : { ...look, engine: "native" }, files.environment);
  const plan = planEngine(settings.engine, team.agents, programs.massgen, look.command !== null);
  const { install } = plan;
  const docker = install !== null && (programs.docker?.available ?? false);
  const leavesReferences = install === null || install.flags.has("--no-parse-at-references");
  const exists = (path: string) => existsSync(isAbsolute(path) ? path : join(settings.projectDir, path));
  const slow = [
    ...plan.checks,
    ...checkReferences({ query: settings.query, exists, leavesReferences }),
    ...checkPrograms(
      team.agents.filter((agent) => !runsNatively(agent, plan.native)),
      docker,
      (name) => isInstalled(name, env, home),
    ),
    ...(install === null ? [] : checkDocker(programs.docker)),
    ...(needed ? checkEnvironment(files, programs) : []),
    ...(input.dryRun || !needed ? [] : await writeIfMissing(settings.projectDir, files, programs)),
    // A login lets MassGen in, but not mg-team itself.
    ...(plan.native && settings.engine === "auto" ? chooseAgents(input, files, true).checks.filter(({ status }) => status !== "ok") : []),
  ];
  throwIfFailed(slow);

  const checks = [...quick, ...slow];
  const keysEnv = Object.fromEntries(Object.entries(files.keys.variables).map(([name, { value }]) => [name, value]));
  const host = programs.docker?.host ?? null;
  return {
    install,
    agents: team.agents,
    keysEnv,
    secrets: secretsOf(
      files.keys,
      team.agents.map(({ model }) => model),
    ),
    dockerEnv: docker && host !== null ? { DOCKER_HOST: host } : {},
    docker,
    warnings: warningsOf(checks),
    checks,
  };
}

// --- internal ---

function commandOf({ massgenCommand, massgenSource }: DraftSettings): LookInput["command"] {
  return massgenCommand === null ? null : { command: massgenCommand, source: massgenSource ?? "the configuration" };
}

async function checkPlaces({ projectDir, context, criteriaPath }: DraftSettings): Promise<PreflightCheck[]> {
  const [project, disk, paths, criteria] = await Promise.all([
    checkProject(projectDir),
    checkDisk(projectDir),
    checkContext(context),
    criteriaPath === null ? [] : checkCriteria(criteriaPath),
  ]);
  return [project, disk, ...paths, criteria].flat();
}

/** The team and its ways in. The default choice counts keys only: a login says nothing about what it pays for. */
function chooseAgents(
  { settings, names = createModelNames(), home, env }: PreflightInput,
  { keys, claimed }: Files,
  teamIsNative = settings.engine === "native",
) {
  try {
    const agents = settings.agents ?? defaultModels([...Object.keys(keys.variables), ...claimed], names);
    const access = { keys, claimed, home, env, teamIsNative };
    const synthesizer = settings.synthesis === "agent" ? settings.synthesizer : null;
    return { agents, checks: [...checkModels(agents, access), ...checkSynthesizer(synthesizer, agents, access)] };
  } catch (error) {
    return { agents: [], checks: [failOf("models", error)] };
  }
}

function throwIfFailed(checks: readonly PreflightCheck[]): void {
  const error = errorOf(checks);
  if (error !== null) throw error;
}
