import { readdirSync } from "node:fs";
import { join } from "node:path";
import { defaultChoices } from "../config/choices.ts";
import { defaultModels } from "../config/default-models.ts";
import { loginOf, placeOf } from "../config/keys.ts";
import { agentsOf, type FileModel } from "../config/models.ts";
import { configuredModels } from "../config/selection.ts";
import type { ResolvedConfig } from "../config/sources.ts";
import { scriptSubject, trustState } from "../config/trust.ts";
import { runsNatively } from "../engine/choose.ts";
import { askBallotNeed } from "../engine/massgen/ballot/known.ts";
import type { BallotCheck } from "../engine/massgen/ballot/need.ts";
import type { MassgenInstall } from "../engine/massgen/install.ts";
import { listOf, plural, shellWord } from "../text.ts";
import type { Agent } from "../types.ts";
import { checkBallot } from "./ballot.ts";
import { fail, failOf, ok, type PreflightCheck } from "./check.ts";
import { planEngine } from "./engine.ts";
import { knownFlags } from "./massgen.ts";
import { checkModels, checkPrograms, checkSynthesizer, isInstalled } from "./models.ts";
import { checkContext, checkCriteria, checkDisk, checkProject } from "./places.ts";
import { askPrograms, checkDocker, checkEnvironment, type Files, type LookInput, lookAtFiles } from "./surroundings.ts";

export interface InspectInput extends LookInput {
  /** The configuration, with what is not trusted left out; null when it is broken. */
  readonly config: ResolvedConfig | null;
  /** What reading the configuration brought up, trust included. */
  readonly configChecks: readonly PreflightCheck[];
}

/** Everything that can be told about a project without a query. Nothing in it is secret. */
export interface Inspection {
  /** Whether a run could start. */
  readonly ready: boolean;
  readonly checks: readonly PreflightCheck[];
  readonly install: MassgenInstall | null;
  /** Whether MassGen's ballot needs the repair; null without MassGen. */
  readonly ballot: BallotCheck | null;
  /** Engine version; null when none answers. */
  readonly docker: string | null;
  /** Where each key comes from, by variable. */
  readonly keys: Readonly<Record<string, string>>;
  /** The file of each login, by backend. */
  readonly logins: Readonly<Record<string, string>>;
  /** Who would take part when the query names nobody. */
  readonly agents: readonly Agent[];
}

/** Looks at everything, and stops at nothing. Writes nothing but the cache. */
export async function inspect(input: InspectInput): Promise<Inspection> {
  const { projectDir, home, env, config } = input;
  const files = await lookAtFiles(input);
  const [programs, project, disk, context, criteria] = await Promise.all([
    askPrograms(input, files.environment),
    checkProject(projectDir),
    checkDisk(projectDir),
    checkContext(config?.choices.context ?? []),
    config?.choices.criteriaPath ? checkCriteria(config.choices.criteriaPath) : [],
  ]);
  const named = namedModels(input);
  const plan = planEngine(input.engine, named === null ? [] : agentsOf(named), programs.massgen, input.command !== null);
  const { install } = plan;
  const ballot = install === null ? null : await askBallotNeed(install, input);
  const keys = Object.fromEntries(Object.entries(files.keys.variables).map(([name, { source }]) => [name, source]));
  const logins = Object.fromEntries(["codex", "claude_code", "gemini_cli"].flatMap((backend) => loginEntry(backend, home, env)));
  const team = teamOf(input, files, install !== null && (programs.docker?.available ?? false), plan.native);
  const checks = [
    ...plan.checks,
    ...(install === null ? [] : describe(install)),
    ...(ballot === null ? [] : [checkBallot(ballot, config?.choices.ballotFix ?? defaultChoices.ballotFix)]),
    ...(install === null && plan.native ? [] : checkDocker(programs.docker)),
    ...checkKeys(files),
    ...Object.entries(logins).map(([backend, path]) => ok("logins", `${backend}: ${path}`)),
    ...team.checks,
    ...input.configChecks,
    ...checkTrust(input, files),
    ...files.checks,
    ...(files.environment === null && files.checks.every(({ name }) => name !== "environment")
      ? [ok("environment", "there is no environment.json; the first run writes it, or mg-team init")]
      : checkEnvironment(files, programs)),
    ...[criteria].flat(),
    ...context,
    project,
    disk,
    ...checkDirectories(input),
  ];
  const docker = programs.docker?.available ? programs.docker.version : null;
  return { ready: checks.every(({ status }) => status !== "fail"), checks, install, ballot, docker, keys, logins, agents: team.agents };
}

// --- internal ---

function describe(install: MassgenInstall): PreflightCheck[] {
  return [ok("MassGen", `started as ${install.argv.map(shellWord).join(" ")}`), ok("MassGen", `has ${knownFlags(install).join(" ")}`)];
}

function loginEntry(backend: string, home: string, env: InspectInput["env"]): [string, string][] {
  const path = loginOf(backend, home, env);
  return path === null ? [] : [[backend, path]];
}

function checkKeys({ keys }: Files): PreflightCheck[] {
  const found = Object.entries(keys.variables).map(([name, { source }]) => ok("keys", `${name} from ${placeOf(source)}`));
  const blank = Object.entries(keys.blank).map(([name, source]) =>
    ok("keys", `${name} is blank in ${placeOf(source)}, which does not count`),
  );
  return found.length === 0 ? [ok("keys", "none found"), ...blank] : [...found, ...blank];
}

/** Null also where the models that are named cannot be used: `teamOf` says so. */
function namedModels({ config, env }: InspectInput): readonly FileModel[] | null {
  try {
    return config === null ? null : configuredModels(config, env);
  } catch {
    return null;
  }
}

/** The team of variables and configuration, else the default one. */
function teamOf(
  input: InspectInput,
  { keys, claimed }: Files,
  docker: boolean,
  teamIsNative: boolean,
): { agents: readonly Agent[]; checks: readonly PreflightCheck[] } {
  const { config, home, env } = input;
  try {
    const named = config === null ? null : configuredModels(config, env);
    const access = { keys, claimed, home, env, teamIsNative };
    const agents = named === null ? defaultModels([...Object.keys(keys.variables), ...claimed], config?.names) : agentsOf(named);
    return {
      agents,
      checks: [
        ...checkModels(agents, access),
        ...checkSynthesizer(config?.choices.synthesis === "agent" ? config.choices.synthesizer : null, agents, access),
        ...checkPrograms(
          agents.filter((agent) => !runsNatively(agent, teamIsNative)),
          docker,
          (name) => isInstalled(name, env, home),
        ),
      ],
    };
  } catch (error) {
    return { agents: [], checks: [failOf("models", error)] };
  }
}

/** Of the plugin's wrapper; that of the configuration is among its own checks. */
function checkTrust({ projectDir, env }: InspectInput, { environment }: Files): PreflightCheck[] {
  const script = environment?.pluginDir ? join(environment.pluginDir, "scripts", "run-massgen.sh") : null;
  const subject = script === null ? null : scriptSubject(script, projectDir);
  if (subject === null) return [];
  const state = trustState(subject, env);
  const what = listOf(subject.items.map((item) => item.what));
  if (state === "trusted") return [ok("trust", `trusted: ${what}`)];
  const how = state === "changed" ? "changed since you trusted it" : "not trusted yet";
  return [fail("trust", `${how}: ${what}`, "Look at it, then type: mg-team trust", "untrusted")];
}

function checkDirectories({ projectDir, cacheDir }: InspectInput): PreflightCheck[] {
  const sessions = join(projectDir, ".massgen-quality", "sessions");
  return [ok("directories", `${plural(countOf(sessions), "run")} in ${sessions}`), ok("directories", `cache in ${cacheDir}`)];
}

function countOf(sessions: string): number {
  try {
    return readdirSync(sessions).filter((name) => name.startsWith("team_")).length;
  } catch {
    return 0;
  }
}
