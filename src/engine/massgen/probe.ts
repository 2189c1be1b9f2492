import { type Clock, systemClock } from "../../clock.ts";
import { keyVariables } from "../../config/keys.ts";
import { type Captured, capture } from "../capture.ts";
import { forgetBallotNeed } from "./ballot/known.ts";
import type { MassgenCommand } from "./command.ts";
import { uvxSource } from "./find.ts";
import type { MassgenInstall } from "./install.ts";
import { fingerprintOf, readProbe, writeProbe } from "./probe-cache.ts";
import { explainFailure, isBrokenMcp } from "./probe-failure.ts";
import { pythonNamedIn, pythonOf } from "./python.ts";

export interface ProbeOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** Directory of mg-team's cache; made when it is missing. */
  readonly cacheDir: string;
  /** Ask again, whatever the cache says. */
  readonly refresh?: boolean;
  readonly clock?: Clock;
  /** Seconds for one start; by default {@link probeLimitSeconds}, and for uvx, which may have to download first, {@link downloadLimitSeconds}. */
  readonly limitSeconds?: number;
  /** Told, in a sentence, what takes long. */
  note?(message: string): void;
}

/** One start takes 8 s, four at once on two cores 29 s (massgen.md); the rest is for slow disks. */
export const probeLimitSeconds = 120;

/** MassGen with all it needs is 1.8 GB. */
export const downloadLimitSeconds = 1200;

/**
 * Asks a MassGen for its `--help`, once per installed version: which options it has, and its version as far as its files tell. Throws a
 * TeamError `preflight` when it does not start, does not end, or has no `--step`, each with what to type next.
 */
export async function probeMassgen(command: MassgenCommand, options: ProbeOptions): Promise<MassgenInstall> {
  const clock = options.clock ?? systemClock;
  const stored = options.refresh ? null : readProbe(command, options, clock);
  if (stored !== null) return stored;
  const isUvx = command.source === uvxSource;
  options.note?.(
    isUvx
      ? "starting MassGen with uvx; the first time this downloads about 1.8 GB"
      : "asking MassGen for its options; it takes about ten seconds, once per version",
  );
  let asked = command;
  let answer = await ask(asked, isUvx, options);
  if (isUvx && isBrokenMcp(answer)) {
    // Whether uvx resolves to the `mcp` that breaks MassGen changes from month to month; one more word repairs it (massgen.md).
    asked = { argv: [command.argv[0] ?? "uvx", "--with", "mcp<1.28", "massgen"], source: 'uvx --with "mcp<1.28" massgen' };
    answer = await ask(asked, isUvx, options);
  }
  const python = pythonOf(asked.argv, options.env, options.home) ?? pythonNamedIn(`${answer.stderr}\n${answer.stdout}`, options.home);
  const flags = flagsIn(`${answer.stdout}\n${answer.stderr}`);
  if (!flags.has("--step")) throw explainFailure(asked, answer, python, options.env);
  const install: MassgenInstall = {
    argv: asked.argv,
    version: python?.version ?? "unknown",
    flags,
    source: asked.source,
    ...(python === null ? {} : { interpreter: python.interpreter }),
  };
  if (options.refresh) forgetBallotNeed(install, options.cacheDir);
  await writeProbe(command, install, fingerprintOf(command, options).stamp, options.cacheDir, clock);
  return install;
}

/** All options that a help text names, with their dashes. */
export function flagsIn(help: string): Set<string> {
  const plain = help.replace(/\u001b\[[0-9;]*m/g, "");
  return new Set(plain.match(/(?<![\w-])--[a-z][a-z0-9-]*[a-z0-9]/g) ?? []);
}

// --- internal ---

function ask(command: MassgenCommand, isUvx: boolean, options: ProbeOptions): Promise<Captured> {
  const limitSeconds = options.limitSeconds ?? (isUvx ? downloadLimitSeconds : probeLimitSeconds);
  // Wide, so that argparse breaks no option in two; and it needs no keys to say what it can do.
  const env = {
    ...options.env,
    COLUMNS: "200",
    NO_COLOR: "1",
    TERM: "dumb",
    ...Object.fromEntries(keyVariables.map((name) => [name, undefined])),
  };
  return capture([...command.argv, "--help"], { env, limitSeconds, clock: options.clock });
}
