import { existsSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { childEnvironment } from "../../process/environment.ts";
import type { MassgenInstall } from "./install.ts";
import { pythonOf } from "./python.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** An environment for MassGen. */
export interface MassgenEnvironment {
  readonly env: Readonly<Record<string, string>>;
  /** Names of the variables that differ from the caller's. */
  readonly added: readonly string[];
}

/**
 * The environment of everything that runs MassGen: the caller's (keys are already in it), without what would send its logs elsewhere,
 * and with what makes it behave the same for everybody.
 * @param more wins over the caller's
 */
export function massgenEnvironment(
  caller: Environment,
  install: MassgenInstall,
  more: Readonly<Record<string, string>>,
): MassgenEnvironment {
  const env: Record<string, string> = { ...childEnvironment(caller), PYTHONUTF8: "1", ...more };
  for (const name of misleading) if (!(name in more)) delete env[name];
  env.PATH = withPrograms(env, install);
  return { env, added: Object.keys(env).filter((name) => env[name] !== caller[name]) };
}

// --- internal ---

/** Set by a MassGen or a script that we are a part of; they would move logs and messages of our steps (logger_config.py, cli/entrypoint.py). */
const misleading = ["MASSGEN_LOG_BASE_DIR", "MASSGEN_RUNTIME_INBOX_DIR", "MASSGEN_TUI_TIMELINE_EVENTS"] as const;

/**
 * MassGen starts `fastmcp` from PATH for its own tool servers; without it an agent has no workspace, planning or checklist tools, only
 * ERROR lines. pipx, uv and plain virtual environments do not put it there, so the directory beside MassGen's Python comes last on PATH.
 */
function withPrograms(env: Readonly<Record<string, string>>, install: MassgenInstall): string {
  const path = env.PATH ?? "/usr/local/bin:/usr/bin:/bin";
  const python = pythonOf(install.argv, env, env.HOME ?? "");
  const beside = python === null ? null : dirname(python.interpreter);
  if (beside === null || path.split(delimiter).includes(beside) || !existsSync(join(beside, "fastmcp"))) return path;
  return path === "" ? beside : `${path}${delimiter}${beside}`;
}
