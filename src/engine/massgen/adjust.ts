import { isAbsolute, join, resolve } from "node:path";
import type { AgentId, ContextPath } from "../../types.ts";
import { type ConfigMap, isMap, mapAt } from "./config-map.ts";
import { resolveInputs, withHome } from "./relative-paths.ts";

/** What a MassGen config must become to run one agent's steps. */
export interface Adjustment {
  readonly agent: AgentId;
  readonly docker: boolean;
  readonly context: readonly ContextPath[];
  /** What relative paths in the config are relative to; absolute. Steps run elsewhere. */
  readonly baseDir: string;
  /** The environment of the steps: keys in it are named to containers. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A copy of a config with exactly one agent (see {@link onlyAgent}), adjusted. */
export function adjustConfig(config: ConfigMap, { agent: id, docker, context, baseDir, env }: Adjustment): ConfigMap {
  const copy = structuredClone(config);
  // With a session of its own a step would print no LOG_DIR and load old turns (cli/entrypoint.py).
  delete copy.session_id;
  const agent = { ...onlyAgent(copy), id };
  delete copy.agent;
  copy.agents = [agent];
  const backend = mapAt(agent, "backend");
  const orchestrator = mapAt(copy, "orchestrator");
  resolveInputs(copy, baseDir);
  if (docker) passKeys(backend, env);
  else runLocally(backend);
  orchestrator.context_paths = mergeContext(orchestrator.context_paths, context, baseDir);
  return copy;
}

/** The one agent of a config, in the long form (`agents:`) or the short (`agent:`); null when there is none or there are several. */
export function onlyAgent(config: ConfigMap): ConfigMap | null {
  const { agents, agent } = config;
  if (agents === undefined) return isMap(agent) ? agent : null;
  const [only, ...others] = Array.isArray(agents) ? agents : [];
  return others.length === 0 && isMap(only) ? only : null;
}

// --- internal ---

/**
 * What quickstart writes for docker and leaves out without (massgen 0.1.97, `config_builder.py`, DOCKER_BACKEND_DEFAULTS), so that
 * `--no-docker` means the same on every machine: there is no flag for it, and quickstart uses docker wherever it answers.
 */
const dockerOnly = ["enable_code_based_tools", "enable_mcp_command_line", "shared_tools_directory"] as const;

function runLocally(backend: ConfigMap): void {
  const wasDocker = backend.command_line_execution_mode === "docker";
  for (const key of Object.keys(backend)) if (key.startsWith("command_line_docker_")) delete backend[key];
  if (!wasDocker) return;
  delete backend.command_line_execution_mode;
  for (const key of dockerOnly) delete backend[key];
  backend.exclude_file_operation_mcps = false;
}

/**
 * Keys get into a container only by file or by name (`filesystem_manager/_docker_manager.py`, `_build_environment`). Quickstart names
 * a file, `.env`; ours are in the environment, so the same variables are named, as far as they are set. No value is written.
 */
function passKeys(backend: ConfigMap, env: Adjustment["env"]): void {
  const credentials = backend.command_line_docker_credentials;
  if (!isMap(credentials)) return;
  const listed = (value: unknown) => (Array.isArray(value) ? value.filter((name) => typeof name === "string") : []);
  const names = listed(credentials.env_vars_from_file).filter((name) => env[name] !== undefined);
  const all = [...new Set([...listed(credentials.env_vars), ...names])];
  if (all.length > 0) credentials.env_vars = all;
}

/** Paths are absolute; one that is named twice may be written when either says so. */
function mergeContext(existing: unknown, added: readonly ContextPath[], baseDir: string): ConfigMap[] {
  const paths = new Map<string, ConfigMap>();
  const own = (Array.isArray(existing) ? existing : []).map((entry): ConfigMap => (isMap(entry) ? entry : { path: entry }));
  for (const entry of [...own, ...added.map((entry) => ({ ...entry }))]) {
    if (typeof entry.path !== "string" || entry.path === "") continue;
    const given = withHome(entry.path);
    const path = isAbsolute(given) || given.startsWith("${") ? given : resolve(join(baseDir, given));
    const before = paths.get(path);
    const permission = before?.permission === "write" ? "write" : entry.permission;
    paths.set(path, { ...before, ...entry, path, ...(permission === undefined ? {} : { permission }) });
  }
  return [...paths.values()];
}
