import { mkdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { z } from "zod";
import { systemCodeOf } from "../errors.ts";
import { writeFileAtomicSync } from "../session/atomic.ts";
import { writeError } from "../session/reasons.ts";

/** What the user has trusted, in one file of the user's own: `$XDG_STATE_HOME/mg-team/trust.json`, else below `~/.local/state`. */

export type Environment = Readonly<Record<string, string | undefined>>;

/** A consent. */
export type TrustRecord = z.output<typeof recordSchema>;

/** Absolute path of the store. */
export function trustPath(environment: Environment): string {
  const state = environment.XDG_STATE_HOME ?? "";
  // A relative one is to be ignored, says the XDG Base Directory Specification.
  const home = environment.HOME || homedir();
  return join(isAbsolute(state) ? state : join(home, ".local", "state"), "mg-team", "trust.json");
}

/** All consents by the absolute path of what they are about. A store that is missing or no longer understood holds none. */
export function readTrust(environment: Environment): Readonly<Record<string, TrustRecord>> {
  try {
    const parsed = storeSchema.safeParse(JSON.parse(readFileSync(trustPath(environment), "utf8")));
    return parsed.success ? parsed.data.trusted : {};
  } catch (error) {
    if (error instanceof SyntaxError || systemCodeOf(error) !== undefined) return {};
    throw error;
  }
}

/** Replaces all consents. Throws a TeamError (write) when it can't. */
export function writeTrust(environment: Environment, trusted: Readonly<Record<string, TrustRecord>>): void {
  const path = trustPath(environment);
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  } catch (error) {
    throw writeError("make the directory of", path, error);
  }
  writeFileAtomicSync(path, `${JSON.stringify({ version: 1, trusted }, null, 2)}\n`);
}

// --- internal ---

const recordSchema = z.object({
  /** Of the covered files, see `fingerprint`. */
  fingerprint: z.string(),
  /** ISO 8601. */
  at: z.string(),
  /** What was trusted, as sentences for people. */
  items: z.array(z.string()),
});

const storeSchema = z.object({ version: z.literal(1), trusted: z.record(z.string(), recordSchema) });
