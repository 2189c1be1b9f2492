import { homedir } from "node:os";
import { systemClock } from "../clock.ts";
import { type ResolvedRun, resolveRun } from "../config/resolve.ts";
import { writeRunFile } from "../config/run-file.ts";
import { makeMark } from "../config/run-mark.ts";
import type { RunSettings } from "../config/settings.ts";
import { forgetConfigs } from "../engine/massgen/config-cache.ts";
import { ExitCode } from "../errors.ts";
import { cacheDirectory, type PreflightReport, preflight } from "../preflight.ts";
import { sweepDeadRuns } from "../process/sweep.ts";
import { createTeamDirectory, nextTeamDirectory } from "../session/directory.ts";
import { acquireLock } from "../session/lock.ts";
import { createRedactor } from "../session/redact.ts";
import { emptyState } from "../session/state.ts";
import { buildEngine } from "./build-engine.ts";
import type { Command, CommandContext } from "./command.ts";
import { describeDryRun, formatDryRun } from "./dry-run.ts";
import { executeRun } from "./execute.ts";
import { loadPlugins } from "./load-plugins.ts";
import { writeJson, writeText } from "./print.ts";
import { runCommand } from "./run-definition.ts";
import { streamsOf } from "./streams.ts";
import { createWarnings } from "./warnings.ts";

/** Asks several models and brings back one answer. */
export const command: Command = {
  ...runCommand,
  async run(context) {
    const { options, environment, cwd, stdin, log } = context;
    const resolved = await resolveRun(options, environment, cwd, stdin);
    for (const note of resolved.notes) log.info(note);
    const plugins = await loadPlugins(resolved.plugins, resolved.withoutPlugins);
    const home = environment.HOME || homedir();
    const report = await preflight({
      settings: resolved.settings,
      env: environment,
      home,
      names: resolved.names,
      refresh: resolved.refresh,
      dryRun: resolved.dryRun,
      note: log.info,
    });
    if (resolved.settings.agents === null) log.info(defaultNote(report));
    const warnings = [...resolved.warnings, ...report.warnings];
    const settings: RunSettings = { ...resolved.settings, agents: report.agents };
    if (resolved.dryRun) return dryRun(context, resolved, settings, report, warnings, home);
    return start(context, resolved, settings, report, warnings, plugins, home);
  },
};

// --- internal ---

async function dryRun(
  { environment, cwd, stdout, log }: CommandContext,
  { output }: ResolvedRun,
  settings: RunSettings,
  report: PreflightReport,
  warnings: readonly string[],
  home: string,
): Promise<ExitCode> {
  const clock = systemClock;
  const directory = nextTeamDirectory(cwd, clock.date());
  const redact = createRedactor(report.secrets);
  const engine = await buildEngine({ settings, report, directory, environment, home, redact, warn: log.warn, clock, dryRun: true });
  for (const warning of warnings) log.warn(warning);
  const dry = describeDryRun(settings, engine, directory, environment, { docker: report.docker, warnings });
  if (output.mode !== "text") writeJson(stdout, dry, 2);
  else writeText(stdout, formatDryRun(dry, settings.limits));
  return ExitCode.ok;
}

async function start(
  context: CommandContext,
  { output, plugins: requests, withoutPlugins, strict, refresh }: ResolvedRun,
  settings: RunSettings,
  report: PreflightReport,
  warnings: readonly string[],
  plugins: Awaited<ReturnType<typeof loadPlugins>>,
  home: string,
): Promise<ExitCode> {
  const { environment, cwd, log, signals } = context;
  const clock = systemClock;
  const redact = createRedactor(report.secrets);
  if (refresh) forgetConfigs(cacheDirectory(environment, home));
  const swept = await sweepDeadRuns(cwd, { redact });
  for (const warning of swept.warnings) log.warn(warning);
  const directory = createTeamDirectory(cwd, clock.date());
  const startedAt = clock.now();
  await using _lock = acquireLock(directory.root);
  const file = { settings, docker: report.docker, plugins: requests, withoutPlugins, strict };
  await writeRunFile(directory, file, makeMark(directory.id, file, environment));
  const engineWarnings = createWarnings();
  const { warn } = engineWarnings;
  const engine = await buildEngine({ settings, report, directory, environment, home, redact, warn, clock });
  // Awaited here: the lock is held until the run has ended.
  return await executeRun({
    file,
    directory,
    engine,
    plugins,
    state: emptyState(),
    warnings,
    engineWarnings,
    output,
    redact,
    signals,
    clock,
    startedAt,
    streams: streamsOf(context, output),
  });
}

function defaultNote({ agents }: PreflightReport): string {
  return `models: ${agents.map(({ model }) => model).join(", ")} (the first with keys; name others with --models)`;
}
