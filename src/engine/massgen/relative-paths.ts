import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { type ConfigMap, isMap } from "./config-map.ts";

/**
 * Makes the files that a config reads absolute, in place: MassGen resolves them against its working directory, and every step has one of
 * its own. Always under a key of {@link inputs}; elsewhere only texts that begin with `./` or `../` and lead to something that exists
 * (arguments of tool servers, custom tools). Directories that MassGen writes stay relative, so that steps do not meet in them.
 * `~` and `${VARIABLES}` are MassGen's to expand.
 */
export function resolveInputs(config: ConfigMap, baseDir: string): void {
  for (const [key, value] of Object.entries(config)) if (!outputs.has(key)) config[key] = resolved(key, value, baseDir);
}

/** `~` and `~/docs` as the shell reads them; other paths as they are. */
export function withHome(path: string): string {
  return path === "~" || path.startsWith("~/") ? homedir() + path.slice(1) : path;
}

// --- internal ---

/** Keys of files and directories that are read, from the configs and docs in massgen 0.1.97. */
const inputs: ReadonlySet<string> = new Set(["skills_directory", "env_file", "custom_tools_path", "image_path", "file_path", "log_path"]);

/** Like inputs, but the path may also be one inside MassGen's own package. */
const perhapsInputs: ReadonlySet<string> = new Set(["path", "team_config", "cwd_file"]);

/** What MassGen puts below its working directory (`cli/config_loading.py`, relocate_filesystem_paths, and the code tools). */
const outputs: ReadonlySet<string> = new Set([
  "cwd",
  "snapshot_storage",
  "agent_temporary_workspace",
  "session_storage",
  "shared_tools_directory",
  "work_dir",
]);

function resolved(key: string, value: unknown, baseDir: string): unknown {
  if (typeof value === "string") return resolvedText(key, value, baseDir);
  if (Array.isArray(value)) return value.map((entry) => resolved(key, entry, baseDir));
  if (!isMap(value)) return value;
  if (key === "additional_mounts")
    return Object.fromEntries(Object.entries(value).map(([host, mount]) => [absolute(host, baseDir), mount]));
  resolveInputs(value, baseDir);
  return value;
}

function resolvedText(key: string, text: string, baseDir: string): string {
  if (inputs.has(key)) return absolute(text, baseDir);
  const looksLikePath = perhapsInputs.has(key) || /^\.\.?\//.test(text);
  if (!looksLikePath || text === "" || text.length > 4096 || text.includes("\0")) return text;
  const path = absolute(text, baseDir);
  return existsSync(path) ? path : text;
}

function absolute(path: string, baseDir: string): string {
  return path === "" || isAbsolute(path) || path.startsWith("~") || path.startsWith("${") ? path : join(baseDir, path);
}
