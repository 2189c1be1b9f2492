import { mkdir, rename } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { systemCodeOf, TeamError } from "../errors.ts";
import { writeFileAtomic } from "../session/atomic.ts";
import { reasonOf, writeError } from "../session/reasons.ts";
import { readRegularText } from "../session/regular-file.ts";
import { listOf } from "../text.ts";
import { parseJson } from "./json.ts";

/** What `.massgen-quality/environment.json` says; written by `mg-team init` or by MassGen's own plugin (mission.md, "Pre-Flight Checks"). */
export interface EnvironmentFile {
  readonly path: string;
  /** `massgen.available`; null when it does not say. */
  readonly available: boolean | null;
  /** What it claims of each key variable. A claim is no key: see {@link differences}. */
  readonly claims: Readonly<Record<string, boolean>>;
  /** Absolute; null when it names none. */
  readonly pluginDir: string | null;
  /** Shapes that were not understood, and passed over. */
  readonly warnings: readonly string[];
  /** Everything in it, to be kept when it is rewritten. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** What a look around found. */
export interface Surroundings {
  /** Null when MassGen was not found or does not work. */
  readonly massgen: { readonly version: string; readonly source: string } | null;
  /** Names of the key variables that hold a key; never a value. */
  readonly keys: readonly string[];
  readonly docker: boolean;
}

/** The path of a project's environment.json. */
export function environmentPath(projectDir: string): string {
  return join(projectDir, ".massgen-quality", "environment.json");
}

/** Reads it; null when it is missing. Throws a TeamError `config` when it cannot be read or is not JSON (with line and column). */
export async function readEnvironment(projectDir: string, home: string): Promise<EnvironmentFile | null> {
  const path = environmentPath(projectDir);
  try {
    return parseEnvironment(readRegularText(path, largest), path, projectDir, home);
  } catch (error) {
    if (error instanceof TeamError) throw new TeamError("config", error.message, `Correct it, or start anew: mg-team init --force`);
    if (systemCodeOf(error) === "ENOENT") return null;
    throw new TeamError("config", `${path} cannot be read: ${reasonOf(error)}`, "Make it readable, or move it away and run mg-team init.");
  }
}

/** Understands its text. Unknown shapes become warnings; only text that is not JSON throws. */
export function parseEnvironment(text: string, path: string, projectDir: string, home: string): EnvironmentFile {
  const warnings: string[] = [];
  const warn = (field: string, problem: string) => warnings.push(`${path}: ${field} ${problem}; passed over`);
  const json = parseJson(text, path);
  const fields = isRecord(json) ? json : {};
  if (fields !== json) warn("it", "is no object");
  const { massgen, api_keys: keys, plugin_dir: directory } = fields;
  const said = isRecord(massgen) ? massgen.available : massgen;
  const available = truthOf(said);
  if (available === null && said !== undefined && said !== null) warn("massgen.available", "is neither true nor false");
  if (directory !== undefined && directory !== null && typeof directory !== "string") warn("plugin_dir", "is not a string");
  const pluginDir = typeof directory === "string" && directory.trim() !== "" ? absolute(directory.trim(), projectDir, home) : null;
  return { path, available, claims: claimsOf(keys, (problem) => warn("api_keys", problem)), pluginDir, warnings, fields };
}

/** Something that environment.json says otherwise than a look around found. */
export interface Difference {
  /** A whole sentence. */
  readonly message: string;
  /** Worth saying at every run; a key that was added since is not. */
  readonly notable: boolean;
}

/** What the file says otherwise than the look around found. */
export function differences(file: EnvironmentFile, found: Surroundings): readonly Difference[] {
  const here = new Set(found.keys);
  const added = found.keys.filter((name) => file.claims[name] === false);
  const gone = Object.keys(file.claims).filter((name) => file.claims[name] === true && !here.has(name));
  const all: Difference[] = [];
  const add = (claim: string, notable = true) => all.push({ message: `environment.json says that ${claim}`, notable });
  const { massgen } = found;
  if (file.available === false && massgen) add(`MassGen is unavailable, but it is here (${massgen.version}, ${massgen.source})`);
  if (file.available === true && !massgen) add("MassGen is available, but it was not found or does not work");
  if (added.length > 0) add(`there is no ${listOf(added, "or")}, but there is`, false);
  if (gone.length > 0) add(`there is ${listOf(gone)}, but it was not found`);
  return all;
}

/** The text of the file after a look around. Fields that are not ours stay as they are, also inside `massgen` and `api_keys`. */
export function renderEnvironment(found: Surroundings, variables: readonly string[], previous: EnvironmentFile | null): string {
  const before = previous?.fields ?? {};
  const here = (name: string) => found.keys.includes(name);
  const kept = isRecord(before.api_keys) ? before.api_keys : { ...previous?.claims };
  const looked = Object.fromEntries(
    variables.map((name) => [name, isRecord(kept[name]) ? { ...kept[name], available: here(name) } : here(name)]),
  );
  const massgen = { available: found.massgen !== null, version: found.massgen?.version ?? null, found_by: found.massgen?.source ?? null };
  const fields = {
    ...before,
    massgen: { ...(isRecord(before.massgen) ? before.massgen : {}), ...massgen },
    api_keys: { ...kept, ...looked },
    docker: isRecord(before.docker ?? {}) ? { ...(before.docker as object), available: found.docker } : before.docker,
    plugin_dir: before.plugin_dir ?? null,
  };
  return `${JSON.stringify(fields, null, 2)}\n`;
}

/** Writes the file, whole or not at all, and returns its path. */
export async function writeEnvironment(projectDir: string, text: string): Promise<string> {
  const path = environmentPath(projectDir);
  try {
    await mkdir(dirname(path), { recursive: true });
  } catch (error) {
    throw writeError("write", path, error);
  }
  await writeFileAtomic(path, text);
  return path;
}

/** Moves a file that is not JSON out of the way, to the first free `environment.json.bak`, `.bak2`, …; returns where it went. */
export async function setAsideEnvironment(projectDir: string): Promise<string> {
  const path = environmentPath(projectDir);
  for (let number = 1; ; number++) {
    const backup = `${path}.bak${number === 1 ? "" : number}`;
    if (await Bun.file(backup).exists()) continue;
    await rename(path, backup);
    return backup;
  }
}

// --- internal ---

/** No file of this kind is longer, in bytes. */
const largest = 1024 * 1024;

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Names of providers that stand for a variable. */
const providers: ReadonlyMap<string, string> = new Map([
  ["openai", "OPENAI_API_KEY"],
  ["codex", "OPENAI_API_KEY"],
  ["anthropic", "ANTHROPIC_API_KEY"],
  ["claude", "ANTHROPIC_API_KEY"],
  ["gemini", "GEMINI_API_KEY"],
  ["google", "GOOGLE_API_KEY"],
  ["xai", "XAI_API_KEY"],
  ["grok", "XAI_API_KEY"],
]);

const noWords: ReadonlySet<string> = new Set(
  ["", "false", "no", "none", "null", "0", "off", "missing", "absent", "unset", "unavailable"].concat([
    "not set",
    "not_set",
    "not found",
    "not_found",
  ]),
);

/** Whether a value claims that something is there; null when it claims nothing that we understand. */
function truthOf(value: unknown): boolean | null {
  if (typeof value === "boolean") return value;
  // A string may be a word, a hint, or the key itself: anything that does not deny it counts.
  if (typeof value === "string") return !noWords.has(value.trim().toLowerCase());
  if (value === null) return false;
  if (!isRecord(value)) return null;
  const fields = ["available", "present", "set", "found", "configured", "exists"]
    .map((name) => value[name])
    .filter((field) => typeof field === "boolean");
  return fields.length === 0 ? null : fields.every(Boolean);
}

function claimsOf(keys: unknown, warn: (problem: string) => void): Record<string, boolean> {
  if (keys === undefined || keys === null) return {};
  const entries: readonly (readonly [unknown, unknown])[] | null = Array.isArray(keys)
    ? keys.map((key) => (isRecord(key) ? [key.name ?? key.variable, key] : [key, true]))
    : isRecord(keys)
      ? Object.entries(keys)
      : null;
  if (entries === null) {
    warn("is neither a map nor a list");
    return {};
  }
  const claims: Record<string, boolean> = {};
  for (const [name, value] of entries) {
    // Only an object that says neither yes nor no, and only its existence, counts as yes.
    const claim = truthOf(value) ?? (isRecord(value) ? true : null);
    if (typeof name !== "string" || claim === null) {
      warn("has an entry that is not understood");
      continue;
    }
    const variable = providers.get(name.toLowerCase()) ?? name;
    // Nothing else is taken up, lest a key that stands where a name should be is shown to somebody.
    if (/^[A-Z][A-Z0-9_]*_(KEY|TOKEN)$/.test(variable)) claims[variable] = claim;
  }
  return claims;
}

function absolute(path: string, projectDir: string, home: string): string {
  if (path === "~" || path.startsWith("~/")) return join(home, path.slice(1));
  return isAbsolute(path) ? path : resolve(projectDir, path);
}
