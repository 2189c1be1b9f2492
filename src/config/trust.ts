import { dirname } from "node:path";
import { TeamError } from "../errors.ts";
import { neutralise } from "../session/text.ts";
import { listOf, shellWord, splitCommand } from "../text.ts";
import type { ConfigFile } from "./file.ts";
import { filesIn, fingerprint, withImports } from "./fingerprint.ts";
import { isFile, isInside, real, shown } from "./paths.ts";
import { type Environment, readTrust, writeTrust } from "./trust-store.ts";

/**
 * Whatever in a project names a program or redirects a key runs only after `mg-team trust` (design.md, "Configuration"): by content hash,
 * per user. A cloned repository can't make anybody run its code by being there. Flags and variables are the user's own words.
 */

/** Something in a project that needs consent. */
export interface TrustItem {
  readonly kind: "plugin" | "massgen_command" | "agent_config" | "plugin_dir";
  /** For people: `plugin plugins/my-report.ts`. */
  readonly what: string;
  /** The files that the consent covers, absolute. */
  readonly files: readonly string[];
}

/** What one consent is about. */
export interface TrustSubject {
  /** Absolute real path: the configuration file, or the script of a plugin_dir. */
  readonly anchor: string;
  /** Never empty. */
  readonly items: readonly TrustItem[];
  /** All files that are covered, the anchor included. */
  readonly files: readonly string[];
}

export type TrustState = "trusted" | "changed" | "unknown";

/** What of a configuration file needs consent; null when nothing does. */
export function configSubject(file: ConfigFile): TrustSubject | null {
  const directory = dirname(file.path);
  const items: TrustItem[] = file.plugins.map(({ path }) => item("plugin", `plugin ${shown(path, directory)}`, withImports(path)));
  const command = file.choices.massgenCommand ?? null;
  if (command !== null) {
    const named = (splitCommand(command) ?? []).filter((word) => isFile(word) && isInside(word, directory));
    items.push(item("massgen_command", `command to start MassGen: ${command}`, named));
  }
  for (const { model, config } of file.models ?? []) {
    if (config !== undefined) items.push(item("agent_config", `config of ${model}: ${shown(config, directory)}`, [config]));
  }
  return items.length === 0 ? null : subject(file.path, items);
}

/** The wrapper script of a `plugin_dir`, with the files beside it; null when it lies outside of the project. */
export function scriptSubject(script: string, projectDir: string): TrustSubject | null {
  if (!isFile(script) || !isInside(script, projectDir)) return null;
  const directory = dirname(script);
  const what = `plugin_dir of environment.json: ${shown(dirname(directory), projectDir)} (${shown(script, dirname(directory))})`;
  return subject(script, [item("plugin_dir", what, filesIn(directory))]);
}

/** Whether the user has consented to a subject as it is now. */
export function trustState({ anchor, files }: TrustSubject, environment: Environment): TrustState {
  const record = readTrust(environment)[anchor];
  if (record === undefined) return "unknown";
  return record.fingerprint === fingerprint(files) ? "trusted" : "changed";
}

/** Whether the user trusts a script inside the project; for `findMassgen`. */
export function isTrustedScript(script: string, projectDir: string, environment: Environment): boolean {
  const found = scriptSubject(script, projectDir);
  return found === null || trustState(found, environment) === "trusted";
}

/**
 * Throws a TeamError (untrusted) with the command to type, unless the user has consented. `used` are the items that this run would use;
 * with none of them there is nothing to refuse. `cwd` decides how the file is called, and whether the command must name it.
 */
export function requireTrust(found: TrustSubject, used: readonly TrustItem[], environment: Environment, cwd: string): void {
  if (used.length === 0) return;
  const state = trustState(found, environment);
  if (state === "trusted") return;
  const file = shown(found.anchor, real(cwd));
  const problem = state === "changed" ? "has changed since you trusted it" : "names what you have not trusted yet";
  throw new TeamError("untrusted", `${file} ${problem}: ${listOf(used.map(({ what }) => what))}`, trustHint(found, cwd));
}

/** What to do about a subject without consent; `cwd` decides whether the command must name it. */
export function trustHint({ anchor }: TrustSubject, cwd: string): string {
  const file = shown(anchor, real(cwd));
  return `Look at it, then type: mg-team trust${file === "mg-team.yaml" ? "" : ` --config ${shellWord(file)}`}`;
}

/** Records the user's consent to subjects as they are now. Throws a TeamError (write). */
export function recordTrust(subjects: readonly TrustSubject[], environment: Environment, at: Date): void {
  const records = subjects.map(({ anchor, files, items }) => [
    anchor,
    { fingerprint: fingerprint(files), at: at.toISOString(), items: items.map(({ what }) => what) },
  ]);
  writeTrust(environment, { ...readTrust(environment), ...Object.fromEntries(records) });
}

/** Takes consents back; returns the anchors that had one. Throws a TeamError (write). */
export function revokeTrust(anchors: readonly string[], environment: Environment): string[] {
  const trusted = readTrust(environment);
  const revoked = anchors.filter((anchor) => Object.hasOwn(trusted, anchor));
  const kept = Object.entries(trusted).filter(([anchor]) => !revoked.includes(anchor));
  if (revoked.length > 0) writeTrust(environment, Object.fromEntries(kept));
  return revoked;
}

// --- internal ---

function item(kind: TrustItem["kind"], what: string, files: readonly string[]): TrustItem {
  // It is shown to a user who decides by it: nothing in it may hide or forge anything on a terminal.
  return { kind, what: neutralise(what).replace(/\s+/g, " "), files };
}

function subject(anchor: string, items: readonly TrustItem[]): TrustSubject {
  const path = real(anchor);
  return { anchor: path, items, files: [...new Set([path, ...items.flatMap(({ files }) => files.map(real))])] };
}
