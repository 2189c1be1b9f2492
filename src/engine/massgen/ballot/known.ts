import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";
import { type Clock, systemClock } from "../../../clock.ts";
import { writeFileAtomic } from "../../../session/atomic.ts";
import type { MassgenInstall } from "../install.ts";
import { type CacheOptions, cachePath, fingerprintOf, isCurrent } from "../probe-cache.ts";
import { type BallotCheck, type BallotNeed, needsBallotFix } from "./need.ts";

export interface AskBallotOptions extends CacheOptions {
  /** Ask again, whatever the cache says. */
  readonly refresh?: boolean;
  readonly clock?: Clock;
  /** Told, in a sentence, what takes long. */
  note?(message: string): void;
}

/** Whether this MassGen's ballot is broken, as far as it was asked since it was installed; else `unknown`. Starts nothing: a few stat calls. */
export function knownBallotNeed(install: MassgenInstall, options: CacheOptions, clock: Clock = systemClock): BallotNeed {
  try {
    const stored = storedSchema.parse(JSON.parse(readFileSync(cachePath(install, options.cacheDir, about), "utf8")));
    return isCurrent(stored, install, options, clock) ? stored.need : "unknown";
  } catch {
    return "unknown";
  }
}

/** The same by asking it, once per installed version: see {@link needsBallotFix}. An `unknown` is asked again the next time. */
export async function askBallotNeed(install: MassgenInstall, options: AskBallotOptions): Promise<BallotCheck> {
  const { cacheDir, refresh = false, clock = systemClock } = options;
  const known = refresh ? "unknown" : knownBallotNeed(install, options, clock);
  if (known !== "unknown") return { need: known, why: "" };
  const note = "asking MassGen whether its ballot is whole; it takes about ten seconds, once per version";
  const { interpreter } = install;
  const ask = { ...options, ...(interpreter === undefined ? {} : { interpreter }) };
  const check = await needsBallotFix(install.argv, { ...ask, onStart: () => options.note?.(note) });
  if (check.need !== "unknown") await store(check.need, install, options, clock);
  else forgetBallotNeed(install, cacheDir);
  return check;
}

/** The next one who asks gets an answer of that time. */
export function forgetBallotNeed(install: Pick<MassgenInstall, "argv">, cacheDir: string): void {
  try {
    rmSync(cachePath(install, cacheDir, about), { force: true });
  } catch {
    // Then it holds until MassGen changes.
  }
}

// --- internal ---

const about = "ballot";

const storedSchema = z.object({
  format: z.literal(1),
  need: z.enum(["needed", "not_needed"]),
  stamp: z.string(),
  /** Milliseconds since the epoch. */
  at: z.number(),
});

async function store(need: "needed" | "not_needed", install: MassgenInstall, options: AskBallotOptions, clock: Clock): Promise<void> {
  const stored: z.infer<typeof storedSchema> = { format: 1, need, stamp: fingerprintOf(install, options).stamp, at: clock.date() };
  const path = cachePath(install, options.cacheDir, about);
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    await writeFileAtomic(path, `${JSON.stringify(stored)}\n`);
  } catch {
    // Nothing is lost but ten seconds.
  }
}
