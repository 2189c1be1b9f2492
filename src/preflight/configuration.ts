import { applyTrust } from "../config/consent.ts";
import { shown } from "../config/paths.ts";
import { namedByVariable } from "../config/selection.ts";
import { type ResolvedConfig, readSources } from "../config/sources.ts";
import type { CommandLine } from "../config/tokenise.ts";
import { configSubject } from "../config/trust.ts";
import { listOf } from "../text.ts";
import { failOf, ok, type PreflightCheck, warn } from "./check.ts";

/** A configuration as `doctor` sees it: faults are checks, not errors. */
export interface CheckedConfig {
  /** With what is not trusted left out; null when it is broken. */
  readonly config: ResolvedConfig | null;
  readonly checks: readonly PreflightCheck[];
}

/** Reads flags, variables and mg-team.yaml, and asks for consent where the file needs it. Throws a TeamError `usage` for wrong flags only. */
export function checkConfig(line: CommandLine, env: Readonly<Record<string, string | undefined>>, cwd: string): CheckedConfig {
  let sources: ResolvedConfig;
  try {
    sources = readSources(line, env, cwd);
  } catch (error) {
    const check = failOf("config", error);
    if (check.code === "usage") throw error;
    return { config: null, checks: [check] };
  }
  const { file, warnings } = sources;
  const read = file === null ? "no mg-team.yaml: defaults, flags and variables" : shown(file.path, cwd);
  const checks = [ok("config", read), ...warnings.map((warning) => warn("config", warning))];
  const modelsNamed = namedByVariable(env);
  return {
    config: applyTrust(sources, env, cwd, modelsNamed, "leave out"),
    checks: [...checks, checkConsent(sources, env, cwd, modelsNamed)],
  };
}

// --- internal ---

function checkConsent(
  sources: ResolvedConfig,
  env: Readonly<Record<string, string | undefined>>,
  cwd: string,
  modelsNamed: boolean,
): PreflightCheck {
  try {
    applyTrust(sources, env, cwd, modelsNamed, "refuse");
  } catch (error) {
    return failOf("trust", error);
  }
  const subject = sources.file === null ? null : configSubject(sources.file);
  if (subject === null) return ok("trust", "nothing in mg-team.yaml asks for it");
  return ok("trust", `trusted: ${listOf(subject.items.map(({ what }) => what))}`);
}
