import { join } from "node:path";
import type { Clock } from "../clock.ts";
import {
  differences,
  type EnvironmentFile,
  readEnvironment,
  renderEnvironment,
  type Surroundings,
  writeEnvironment,
} from "../config/environment.ts";
import { findKeys, type Keys, keyVariables } from "../config/keys.ts";
import { isFile } from "../config/paths.ts";
import type { RunSettings } from "../config/settings.ts";
import { type DockerStatus, findDocker, massgenImage } from "../engine/docker.ts";
import { messageOf } from "../errors.ts";
import { failOf, ok, type PreflightCheck, warn } from "./check.ts";
import { lookForMassgen, type MassgenFound } from "./massgen.ts";

/** Where to look around, and for whom. */
export interface LookInput {
  /** Absolute. */
  readonly projectDir: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly engine: RunSettings["engine"];
  readonly docker: RunSettings["docker"];
  /** How to start MassGen, when the user says so. */
  readonly command: { readonly command: string; readonly source: string } | null;
  /** mg-team's cache; see `cacheDirectory`. */
  readonly cacheDir: string;
  /** Ask programs again, whatever the cache says. */
  readonly refresh?: boolean;
  readonly clock?: Clock;
  /** Told, in a sentence, what takes long. */
  note?(message: string): void;
}

/** What files tell at once. */
export interface Files {
  readonly keys: Keys;
  /** Null when it is missing or broken. */
  readonly environment: EnvironmentFile | null;
  /** Keys that only the plugin's wrapper can see; empty where another MassGen is used. */
  readonly claimed: readonly string[];
  readonly checks: readonly PreflightCheck[];
}

/** What programs tell when they are asked. */
export interface Programs {
  readonly massgen: MassgenFound;
  /** Null when it was not asked for. */
  readonly docker: DockerStatus | null;
}

/** Directory of what mg-team may forget: `$XDG_CACHE_HOME/mg-team`, else `~/.cache/mg-team`. */
export function cacheDirectory(env: LookInput["env"], home: string): string {
  const base = env.XDG_CACHE_HOME;
  return join(base?.startsWith("/") ? base : join(home, ".cache"), "mg-team");
}

/** Reads environment.json and the keys. */
export async function lookAtFiles({ projectDir, home, env, command }: Omit<LookInput, "cacheDir">): Promise<Files> {
  const keys = findKeys(env, projectDir, home);
  const checks = keys.notes.map((note) => warn("keys", note));
  try {
    const environment = await readEnvironment(projectDir, home);
    checks.push(...(environment?.warnings ?? []).map((warning) => warn("environment", warning)));
    const wrapped = command === null && environment?.pluginDir && isFile(join(environment.pluginDir, "scripts", "run-massgen.sh"));
    const claims = Object.entries(environment?.claims ?? {});
    return { keys, environment, claimed: wrapped ? claims.filter(([, claim]) => claim).map(([name]) => name) : [], checks };
  } catch (error) {
    return { keys, environment: null, claimed: [], checks: [...checks, failOf("environment", error)] };
  }
}

/** Asks MassGen and docker, at the same time. */
export async function askPrograms(input: LookInput, environment: EnvironmentFile | null): Promise<Programs> {
  const [massgen, docker] = await Promise.all([
    input.engine === "native"
      ? { install: null, checks: [ok("MassGen", "not needed: mg-team runs the steps itself")] }
      : lookForMassgen({ ...input, environment }),
    input.docker === "off" || input.engine === "native" ? null : findDocker(input),
  ]);
  return { massgen, docker };
}

/** What was found, for environment.json: names, never values. */
export function surroundingsOf({ keys }: Files, { massgen, docker }: Programs): Surroundings {
  const install = massgen.install && { version: massgen.install.version, source: massgen.install.source };
  return { massgen: install, keys: keyVariables.filter((name) => keys.variables[name]), docker: docker?.available ?? false };
}

/** Whether the agents' code runs in docker. */
export function checkDocker(status: DockerStatus | null): PreflightCheck[] {
  if (status === null) return [ok("docker", "off: the agents' code runs on this machine")];
  if (!status.available) {
    return [warn("docker", `${status.reason}, so the agents' code runs on this machine, with your rights`, status.hint)];
  }
  const check = ok("docker", `engine ${status.version}: the agents' code runs in containers`);
  if (status.hasImage) return [check];
  return [
    check,
    warn("docker", "MassGen's image is not here yet, so the first steps wait for its download", `docker pull ${massgenImage}`),
  ];
}

/** What environment.json says otherwise than was found; only where both are known. */
export function checkEnvironment(files: Files, programs: Programs): PreflightCheck[] {
  if (files.environment === null) return [];
  // A look that left MassGen out says nothing about it, and a wrapper's keys are out of our sight.
  const claims = Object.fromEntries(Object.entries(files.environment.claims).filter(([name]) => !files.claimed.includes(name)));
  const found = differences({ ...files.environment, claims }, surroundingsOf(files, programs));
  const hint = "Bring it up to date: mg-team init --force";
  return found.length === 0
    ? [ok("environment", `${files.environment.path} agrees with what was found`)]
    : found.map(({ message, notable }) => (notable ? warn("environment", message, hint) : ok("environment", message, hint)));
}

/** Writes environment.json where there is none. That it cannot be written is a warning only. */
export async function writeIfMissing(projectDir: string, files: Files, programs: Programs): Promise<PreflightCheck[]> {
  if (files.environment !== null || files.checks.some(({ name, status }) => name === "environment" && status === "fail")) return [];
  try {
    const path = await writeEnvironment(projectDir, renderEnvironment(surroundingsOf(files, programs), keyVariables, null));
    return [ok("environment", `wrote ${path}`)];
  } catch (error) {
    return [warn("environment", messageOf(error))];
  }
}
