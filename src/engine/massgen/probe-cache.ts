import { createHash } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { z } from "zod";
import type { Clock } from "../../clock.ts";
import { writeFileAtomic } from "../../session/atomic.ts";
import { findOnPath, type MassgenCommand } from "./command.ts";
import type { MassgenInstall } from "./install.ts";
import { distInfoBeside, pythonOf, stampOf } from "./python.ts";

type Environment = Readonly<Record<string, string | undefined>>;
/** Where to look, and where answers are kept. */
export interface CacheOptions {
  readonly env: Environment;
  readonly home: string;
  readonly cacheDir: string;
}

/** For how long an answer holds when an upgrade could go unnoticed (wrappers, uvx), in seconds. */
export const blindSeconds = 24 * 3600;

/**
 * What changes when MassGen is upgraded, moved or repaired: the files of the command, and for a Python launcher what pip installed. A few
 * stat calls. `blind` when the command hides which Python runs.
 */
export function fingerprintOf(
  command: Pick<MassgenCommand, "argv">,
  { env, home }: Omit<CacheOptions, "cacheDir">,
): { readonly stamp: string; readonly blind: boolean } {
  const python = pythonOf(command.argv, env, home);
  const distInfo = python?.distInfo ?? null;
  const files = command.argv.filter((word) => isAbsolute(word));
  // A wrapper most likely starts the massgen on PATH.
  const others = distInfo === null ? [findOnPath("massgen", env)] : [distInfo, distInfoBeside(distInfo, "mcp")];
  return { stamp: [...files, ...others].map(stampOf).join("\n"), blind: distInfo === null };
}

/** The install that was stored for this command; null when there is none, it is unreadable, or anything changed since. */
export function readProbe(command: MassgenCommand, options: CacheOptions, clock: Clock): MassgenInstall | null {
  let stored: z.infer<typeof storedSchema>;
  try {
    stored = storedSchema.parse(JSON.parse(readFileSync(cachePath(command, options.cacheDir), "utf8")));
  } catch {
    return null;
  }
  if (!isCurrent(stored, command, options, clock)) return null;
  // The same command may have been found another way this time.
  const source = stored.argv.join("\0") === command.argv.join("\0") ? command.source : stored.source;
  const interpreter = stored.interpreter === undefined ? {} : { interpreter: stored.interpreter };
  return { argv: stored.argv, version: stored.version, flags: new Set(stored.flags), source, ...interpreter };
}

/** Whether what was found out then still holds for this command. */
export function isCurrent(
  { stamp, at }: { readonly stamp: string; readonly at: number },
  command: Pick<MassgenCommand, "argv">,
  options: Omit<CacheOptions, "cacheDir">,
  clock: Clock,
): boolean {
  const now = fingerprintOf(command, options);
  const age = (clock.date() - at) / 1000;
  return stamp === now.stamp && !(now.blind && !(age >= 0 && age < blindSeconds));
}

/** The file for what is known of a command; `about` names other things than its options. */
export function cachePath(command: Pick<MassgenCommand, "argv">, cacheDir: string, about = ""): string {
  const name = createHash("sha256").update(command.argv.join("\0")).digest("hex").slice(0, 32);
  return join(cacheDir, "probes", `${name}${about === "" ? "" : `.${about}`}.json`);
}

/** Stores an install. A cache that cannot be written is no matter: MassGen is asked again the next time. */
export async function writeProbe(
  command: MassgenCommand,
  install: MassgenInstall,
  stamp: string,
  cacheDir: string,
  clock: Clock,
): Promise<void> {
  const stored: z.infer<typeof storedSchema> = {
    ...install,
    format,
    flags: [...install.flags],
    argv: [...install.argv],
    stamp,
    at: clock.date(),
  };
  try {
    mkdirSync(join(cacheDir, "probes"), { recursive: true, mode: 0o700 });
    await writeFileAtomic(cachePath(command, cacheDir), `${JSON.stringify(stored)}\n`);
  } catch {
    // Nothing is lost but ten seconds.
  }
}

// --- internal ---

/** To be raised when what is stored changes its meaning. */
const format = 2;

const storedSchema = z.object({
  format: z.literal(format),
  argv: z.array(z.string()).min(1),
  version: z.string(),
  flags: z.array(z.string()),
  source: z.string(),
  interpreter: z.string().optional(),
  stamp: z.string(),
  /** Milliseconds since the epoch. */
  at: z.number(),
});
