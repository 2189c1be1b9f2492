import { join } from "node:path";
import type { Clock } from "../clock.ts";
import type { RunSettings } from "../config/settings.ts";
import { runsNatively } from "../engine/choose.ts";
import type { Engine } from "../engine/engine.ts";
import { planBallotFix, prepareBallotFix } from "../engine/massgen/ballot/fix.ts";
import { knownBallotNeed } from "../engine/massgen/ballot/known.ts";
import { createMassgenEngine } from "../engine/massgen/engine.ts";
import type { MassgenInstall } from "../engine/massgen/install.ts";
import { createMixedEngine } from "../engine/mixed.ts";
import { createNativeEngine } from "../engine/native/engine.ts";
import { cacheDirectory, type PreflightReport } from "../preflight.ts";
import type { TeamDirectory } from "../session/directory.ts";
import { selfCommand } from "./self.ts";
import { version } from "./version.ts";

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

/** The engine of a run: MassGen as preflight found it, mg-team itself, or for each agent its own. */
export async function buildEngine(input: EngineInput): Promise<Engine> {
  const { settings, report, directory, environment, redact, warn, clock } = input;
  const env = { ...environment, ...report.keysEnv, ...report.dockerEnv };
  const { cookie } = directory;
  const native = createNativeEngine({ program: selfCommand(), version, env, redact, cookie, prices: settings.prices, warn, clock });
  if (report.install === null) return native;
  const massgen = await massgenEngine(input, report.install, env);
  return createMixedEngine(massgen, (agent) => (runsNatively(agent, false) ? native : massgen));
}

// --- internal ---

/** MassGen, with the run's keys, prices, cookie and ballot repair. */
async function massgenEngine(
  input: EngineInput,
  install: MassgenInstall,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Engine> {
  const { settings, directory, environment, home, redact, warn, clock } = input;
  const cacheDir = cacheDirectory(environment, home);
  const need = knownBallotNeed(install, { env: environment, home, cacheDir }, clock);
  const ballot = { directory: join(directory.root, "ballot"), env, mode: settings.ballotFix, need };
  const fix = input.dryRun ? planBallotFix(ballot) : await prepareBallotFix(ballot);
  if (fix.warn) warn(`the ballot repair is off: ${fix.note}`);
  return createMassgenEngine({
    install,
    env,
    redact,
    cookie: directory.cookie,
    projectDir: settings.projectDir,
    cacheDir,
    prices: settings.prices,
    ballotFix: fix.state === "on" ? { env: fix.env } : null,
    warn,
    clock,
  });
}
