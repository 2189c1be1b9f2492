import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readRegularText } from "../session/regular-file.ts";
import type { RunFile } from "./run-file.ts";
import { type Environment, trustPath } from "./trust-store.ts";

/**
 * By what a user's own runs are known again. The files of a run lie in the project, where others may put one too; what a run was allowed by
 * flags (files outside of the project, no docker) counts on a resume only with a mark that nobody else can make: a hash of it with a secret of
 * the user's own, which lies beside the record of consents.
 */

/** The mark for a run's `config.json`; null when it was allowed nothing of the kind, and where the secret cannot be kept. */
export function makeMark(id: string, file: RunFile, environment: Environment): string | null {
  const { context, criteriaPath, docker } = file.settings;
  if (context.length === 0 && criteriaPath === null && docker === "auto") return null;
  const secret = readSecret(environment) ?? makeSecret(environment);
  return secret === null ? null : hash(id, file, secret);
}

/** Whether this user started the run with just these permissions. */
export function isOwnMark(mark: string | null, id: string, file: RunFile, environment: Environment): boolean {
  const secret = readSecret(environment);
  if (secret === null || mark === null) return false;
  const [given, right] = [Buffer.from(mark), Buffer.from(hash(id, file, secret))];
  return given.length === right.length && timingSafeEqual(given, right);
}

// --- internal ---

function hash(id: string, { settings }: RunFile, secret: string): string {
  const { context, criteriaPath, docker } = settings;
  const allowed = [id, context.map(({ path, permission }) => [path, permission]), criteriaPath, docker];
  return createHmac("sha256", secret).update(JSON.stringify(allowed)).digest("hex");
}

function secretPath(environment: Environment): string {
  return join(dirname(trustPath(environment)), "run-secret");
}

function readSecret(environment: Environment): string | null {
  try {
    const secret = readRegularText(secretPath(environment), 1024).trim();
    return /^[0-9a-f]{64}$/.test(secret) ? secret : null;
  } catch {
    return null;
  }
}

/** Of two that start at once only one makes it. */
function makeSecret(environment: Environment): string | null {
  const path = secretPath(environment);
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, `${randomBytes(32).toString("hex")}\n`, { mode: 0o600, flag: "wx" });
  } catch {
    // Made by another meanwhile, or no place to keep it.
  }
  return readSecret(environment);
}
