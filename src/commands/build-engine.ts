import { join } from "node:path";
import type { Clock } from "../clock.ts";
import type { RunSettings } from "../config/settings.ts";
import type { Engine } from "../engine/engine.ts";
import { planBallotFix, prepareBallotFix } from "../engine/massgen/ballot/fix.ts";
import { createMassgenEngine } from "../engine/massgen/engine.ts";
import { TeamError } from "../errors.ts";
import { cacheDirectory, type PreflightReport } from "../preflight.ts";
import type { TeamDirectory } from "../session/directory.ts";

export interface EngineInput {
  readonly settings: RunSettings;
  readonly report: PreflightReport;
  readonly directory: TeamDirectory;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly redact: (text: string) => string;
  readonly warn: (message: string) => void;
  readonly clock: Clock;
  /** Write nothing: the engine only says what it would start. */
  readonly dryRun?: boolean;
}

/** The engine of a run: what preflight found, with the run's keys, prices, cookie and ballot repair. */
export async function buildEngine(input: EngineInput): Promise<Engine> {
  const { settings, report, directory, environment, home, redact, warn, clock } = input;
  const { install } = report;
  if (!install)
    throw new TeamError("preflight", "the native engine is not part of this version", "Leave out --engine native; MassGen runs the steps.");
  const env = { ...environment, ...report.keysEnv, ...report.dockerEnv };
  const ballot = { directory: join(directory.root, "ballot"), env, mode: settings.ballotFix, need: "unknown" } as const;
  const fix = input.dryRun ? planBallotFix(ballot) : await prepareBallotFix(ballot);
  if (fix.warn) warn(`the ballot repair is off: ${fix.note}`);
  return createMassgenEngine({
    install,
    env,
    redact,
    cookie: directory.cookie,
    projectDir: settings.projectDir,
    cacheDir: cacheDirectory(environment, home),
    prices: settings.prices,
    ballotFix: fix.state === "on" ? { env: fix.env } : null,
    warn,
    clock,
  });
}
