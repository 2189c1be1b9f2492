import type { EnvironmentFile } from "../config/environment.ts";
import { isTrustedScript } from "../config/trust.ts";
import { findMassgen } from "../engine/massgen/find.ts";
import type { MassgenInstall } from "../engine/massgen/install.ts";
import { type ProbeOptions, probeMassgen } from "../engine/massgen/probe.ts";
import { TeamError } from "../errors.ts";
import { listOf } from "../text.ts";
import { failOf, ok, type PreflightCheck, warn } from "./check.ts";

export interface MassgenInput extends ProbeOptions {
  readonly projectDir: string;
  readonly command: { readonly command: string; readonly source: string } | null;
  readonly environment: EnvironmentFile | null;
}

export interface MassgenFound {
  readonly install: MassgenInstall | null;
  readonly checks: readonly PreflightCheck[];
}

/** Options that a run can do without, and what is lost without them. */
const optional: Readonly<Record<string, string>> = {
  "--stream-events": "progress shows no tools",
  "--no-parse-at-references": "an @word in the query is taken for a file",
  "--no-session-registry": "its steps appear in your global list of sessions",
};

/** Options with which step configs are made. */
const configFlags = ["--quickstart", "--headless", "--config-backend", "--config-model", "--config-agent-id"];

/** Finds a MassGen that can run steps. Every expected failure is a check. */
export async function lookForMassgen(input: MassgenInput): Promise<MassgenFound> {
  try {
    return await tryAll(input);
  } catch (error) {
    return { install: null, checks: [failOf("MassGen", error)] };
  }
}

/** The options that matter here and that a MassGen has, for `doctor`. */
export function knownFlags({ flags }: MassgenInstall): string[] {
  return ["--step", ...Object.keys(optional), ...configFlags, "--config-docker", "--eval-criteria"].filter((flag) => flags.has(flag));
}

/** What the options of a MassGen mean for a run. */
export function checkFlags(install: MassgenInstall): PreflightCheck[] {
  const name = `MassGen ${install.version} (${install.source})`;
  const lost = Object.entries(optional).filter(([flag]) => !install.flags.has(flag));
  const missing = configFlags.filter((flag) => !install.flags.has(flag));
  const checks = [ok("MassGen", name)];
  if (lost.length > 0)
    checks.push(warn("MassGen", `${name} has no ${lost.map(([flag, loss]) => `${flag} (${loss})`).join(", no ")}`, "Upgrade it."));
  if (missing.length > 0) {
    checks.push(
      warn(
        "MassGen",
        `${name} has no ${listOf(missing, "or")}, with which step configs are made`,
        "Upgrade it, or give each model a config in mg-team.yaml.",
      ),
    );
  }
  return checks;
}

// --- internal ---

async function tryAll(input: MassgenInput): Promise<MassgenFound> {
  const { commands, notes } = findMassgen({
    projectDir: input.projectDir,
    home: input.home,
    env: input.env,
    explicit: input.command,
    pluginDir: input.environment?.pluginDir ?? null,
    isTrusted: (script) => isTrustedScript(script, input.projectDir, input.env),
  });
  const checks = notes.map((note) => warn("MassGen", note, "Correct plugin_dir in .massgen-quality/environment.json."));
  let first: TeamError | null = null;
  for (const command of commands) {
    try {
      const install = await probeMassgen(command, input);
      const instead = first === null ? [] : [warn("MassGen", `${first.message}; ${command.source} is used instead`, first.hint)];
      return { install, checks: [...checks, ...instead, ...checkFlags(install)] };
    } catch (error) {
      if (!(error instanceof TeamError)) throw error;
      first ??= error;
    }
  }
  return { install: null, checks: [...checks, failOf("MassGen", first)] };
}
