import { dirname } from "node:path";
import { TeamError } from "../errors.ts";
import { reasonOf } from "../session/reasons.ts";
import { readRegularFile } from "../session/regular-file.ts";
import type { Choices } from "./choices.ts";
import { configError, fromZod, type Issue, type PlacedIssue, parseYaml } from "./issues.ts";
import { unknownKey } from "./known-keys.ts";
import { createModelNames, type FileModel, type ModelNames } from "./models.ts";
import { normalise } from "./normalise.ts";
import { shown } from "./paths.ts";
import { rules } from "./rules.ts";
import { type FileKey, type FileValues, fileSchema } from "./schema.ts";
import type { PluginRequest } from "./settings.ts";

/** mg-team.yaml: read → schema → normalise → rules. */

/** What a configuration file says; names resolved, paths absolute. */
export interface ConfigFile {
  /** Absolute. */
  readonly path: string;
  readonly names: ModelNames;
  /** Null when the file names none. */
  readonly models: readonly FileModel[] | null;
  readonly plugins: readonly PluginRequest[];
  readonly choices: Partial<Choices>;
}

/** No file is a page of text longer than this, in bytes. */
const largest = 1024 * 1024;

/**
 * Reads and checks a configuration file. Throws one TeamError (config) with every problem of the file, each with line and column.
 * `path` is absolute; errors show it relative to `cwd`.
 */
export function readConfigFile(path: string, cwd: string): ConfigFile {
  const file = shown(path, cwd);
  return parseConfig(readText(path, file), path, file);
}

/** The same for text that has been read. `file` is how errors call it. */
export function parseConfig(text: string, path: string, file: string): ConfigFile {
  if (text.trim() === "")
    throw new TeamError("config", `${file} is empty`, "Write a setting into it, such as max_rounds: 5, or remove it.");
  const yaml = parseYaml(text);
  const { data } = yaml;
  if (yaml.broken) throw configError(file, yaml.faults);
  if (data !== null && (typeof data !== "object" || Array.isArray(data))) {
    const hint = "Write one setting a line, such as max_rounds: 5";
    throw configError(file, [{ line: 1, column: 1, message: "the file must be a map of settings", hint }, ...yaml.faults]);
  }
  const { values, issues } = checkKeys((data ?? {}) as Record<string, unknown>);
  const context = { directory: dirname(path), names: createModelNames(values.aliases) };
  for (const rule of rules) issues.push(...rule.check(values, context));
  const placed: PlacedIssue[] = [...yaml.faults, ...issues.map(yaml.place)];
  if (placed.length > 0) throw configError(file, placed);
  return { path, names: context.names, ...normalise(values, { path, ...context }) };
}

// --- internal ---

/** Key by key, so that one wrong value doesn't hide what is wrong elsewhere. */
function checkKeys(data: Record<string, unknown>): { values: FileValues; issues: Issue[] } {
  const issues: Issue[] = [];
  const values: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(data)) {
    if (!Object.hasOwn(fileSchema, key)) {
      issues.push(unknownKey([], key));
      continue;
    }
    const parsed = fileSchema[key as FileKey].safeParse(value);
    if (parsed.success) values[key] = parsed.data;
    else issues.push(...fromZod(parsed.error.issues, [key], value, unknownKey));
  }
  return { values: values as FileValues, issues };
}

function readText(path: string, file: string): string {
  let bytes: Uint8Array;
  try {
    bytes = readRegularFile(path, largest);
  } catch (error) {
    throw new TeamError("config", `${file} can't be read: ${reasonOf(error)}`, "Make it readable, or name another file with --config.", {
      cause: error,
    });
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new TeamError("config", `${file} has bytes that are not UTF-8`, "Save it as UTF-8.");
  }
}
