import { existsSync, renameSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../clock.ts";
import type { Choices } from "../config/choices.ts";
import { findKeys } from "../config/keys.ts";
import { limitOptions, runOptions, sharedOptions } from "../config/options.ts";
import { resolveConfig } from "../config/resolve.ts";
import { type RunFile, readRunFile, writeRunFile } from "../config/run-file.ts";
import { makeMark } from "../config/run-mark.ts";
import { secretsOf } from "../config/secrets.ts";
import type { PluginRequest, RunSettings } from "../config/settings.ts";
import type { ResolvedConfig } from "../config/sources.ts";
import { ExitCode } from "../errors.ts";
import { preflight } from "../preflight.ts";
import { readExitRecord } from "../process/exit.ts";
import { sweepDeadRuns, sweepRun } from "../process/sweep.ts";
import { findTeamDirectory, projectOf, type TeamDirectory } from "../session/directory.ts";
import { damagedLines, readJournal } from "../session/journal.ts";
import { acquireLock } from "../session/lock.ts";
import { readResult } from "../session/read-result.ts";
import { writeError } from "../session/reasons.ts";
import { createRedactor } from "../session/redact.ts";
import type { RunResult } from "../session/result.ts";
import { applyEvent, emptyState, type RunState, unfinishedSteps } from "../session/state.ts";
import { neutralise } from "../session/text.ts";
import type { Limits } from "../types.ts";
import { buildEngine } from "./build-engine.ts";
import type { Command, CommandContext } from "./command.ts";
import { executeRun, printResult } from "./execute.ts";
import { loadPlugins } from "./load-plugins.ts";
import { reopen } from "./reopen.ts";
import { consentedFile } from "./resume-consent.ts";
import { streamsOf } from "./streams.ts";
import { createWarnings } from "./warnings.ts";

/** Goes on with a run that was interrupted, crashed, or ended by a limit that is raised now. */
export const command: Command = {
  name: "resume",
  summary: "Go on with a run that was interrupted, or with a raised limit",
  definition: {
    meta: {
      name: "resume",
      description:
        "Goes on with a run that has no result, that was interrupted, or that was ended by a limit which is raised now. Steps that finished " +
        "unseen are taken over, the rest is run again; rounds, money and elapsed time are carried on. A run that is decided prints its result.",
    },
    args: {
      id: { type: "positional", required: false, description: "A team id or a path; default: the newest run" },
      ...limitOptions,
      ...sharedOptions,
      events: runOptions.events,
      massgen: runOptions.massgen,
      plugin: runOptions.plugin,
      "without-plugin": runOptions["without-plugin"],
      strict: runOptions.strict,
    },
  },
  help: { examples: ["mg-team resume", "mg-team resume team_20261129_181500 --timeout 1h", "mg-team resume --cost-budget 10"] },
  async run(context) {
    const { options, positionals, environment, cwd, log } = context;
    const config = resolveConfig(options, environment, cwd);
    const directory = findTeamDirectory(cwd, positionals.id);
    // The lock comes first: two resumes of one run must not both read what is there.
    await using _lock = acquireLock(directory.root);
    const earlier = readRunFile(directory);
    const { events, damaged } = readJournal(directory.journal);
    if (damaged > 0) log.warn(`${damagedLines(damaged)} (${directory.journal})`);
    const state = emptyState();
    for (const event of events) applyEvent(state, event);
    const { result, problem } = readResult(directory.result);
    if (problem !== null) log.warn(`${problem}; it is made anew`);
    const limits = raiseLimits(earlier.settings.limits, config.flags);
    const prices = { ...earlier.settings.prices, ...config.choices.prices };
    // The limits that the decision was made under are in the journal; those in config.json may be of a resume that never began.
    reopen(state, state.limits ?? earlier.settings.limits, limits, prices);
    const report = existsSync(directory.report) ? directory.report : null;
    if (result && isOver(result, state)) return showAgain(context, config, result, report, config.choices.strict || earlier.strict);
    // Awaited here: the lock is held until the run has ended.
    return await goOn(context, { config, directory, found: earlier, limits, prices, state });
  },
};

// --- internal ---

interface Unfinished {
  readonly config: ResolvedConfig;
  readonly directory: TeamDirectory;
  readonly found: ReturnType<typeof readRunFile>;
  readonly limits: Limits;
  readonly prices: RunSettings["prices"];
  readonly state: RunState;
}

async function goOn(context: CommandContext, { config, directory, found, limits, prices, state }: Unfinished): Promise<ExitCode> {
  const { environment, cwd, log, signals } = context;
  const clock = systemClock;
  const startedAt = clock.now();
  const home = environment.HOME || homedir();
  const { choices } = config;
  const { massgenCommand, massgenSource } = choices;
  const project = projectOf(directory) ?? cwd;
  const earlier = consentedFile({ id: directory.id, file: found, mark: found.mark, project }, config, environment, log.warn);
  const agents = earlier.settings.agents;
  const settings: RunSettings = { ...earlier.settings, limits, prices, massgenCommand, massgenSource, projectDir: project };
  const requests = config.plugins;
  for (const path of missing(earlier.plugins, requests))
    log.warn(`the run began with the plugin ${path}; add --plugin ${path} to have it again`);
  const withoutPlugins = config.withoutPlugins.length > 0 ? config.withoutPlugins : earlier.withoutPlugins;
  const plugins = await loadPlugins(requests, withoutPlugins);
  const report = await preflight({ settings, env: environment, home, names: config.names, note: log.info });
  const redact = createRedactor(report.secrets);
  // Of this run first: what is alive of it must be gone before its steps are read.
  for (const { warnings } of [await sweepRun(directory, { redact }), await sweepDeadRuns(project, { redact })])
    for (const text of warnings) log.warn(text);
  state.elapsed = workedUntilDeath(state, directory);
  const strict = choices.strict || earlier.strict;
  const file: RunFile = {
    settings: { ...settings, agents },
    docker: earlier.docker && report.docker,
    plugins: requests,
    withoutPlugins,
    strict,
  };
  const engineWarnings = createWarnings();
  const { warn } = engineWarnings;
  const engine = await buildEngine({ settings, report, directory, environment, home, redact, warn, clock });
  return executeRun({
    file,
    directory,
    engine,
    plugins,
    state,
    warnings: [...config.warnings, ...report.warnings].filter((warning) => !state.warnings.includes(warning)),
    engineWarnings,
    output: config.output,
    redact,
    signals,
    clock,
    startedAt,
    streams: streamsOf(context, config.output),
    begin: async () => {
      await writeRunFile(directory, file, makeMark(directory.id, file, environment));
      keepResult(directory);
    },
  });
}

/** The journal knows when it was last written; steps that mg-team took with it in its death know when that was. In seconds. */
function workedUntilDeath(state: RunState, { root }: TeamDirectory): number {
  const ends = unfinishedSteps(state).map((step) => {
    const exit = readExitRecord(join(root, step.run_dir));
    return exit === null ? 0 : step.elapsed + (exit.endedAt - exit.startedAt) / 1000;
  });
  return Math.max(state.elapsed, ...ends);
}

/** Whether all of a run was done and written, so that there is only its result to show (design.md, "Resume"). */
function isOver({ exit_code: code }: RunResult, { finished, decision }: RunState): boolean {
  return finished && decision !== null && code !== ExitCode.write;
}

/** The limits of the run, with those that were typed now. */
function raiseLimits(limits: Limits, flags: Partial<Choices>): Limits {
  const { maxRounds, timeoutSeconds, costBudget, stepTimeoutSeconds, retries, maxParallel, allowUnpriced } = flags;
  const typed = { maxRounds, timeoutSeconds, costBudget, stepTimeoutSeconds, retries, maxParallel, allowUnpriced };
  return { ...limits, ...Object.fromEntries(Object.entries(typed).filter(([, value]) => value !== undefined)) };
}

function missing(before: readonly PluginRequest[], now: readonly PluginRequest[]): readonly string[] {
  const paths = new Set(now.map(({ path }) => path));
  return before.map(({ path }) => path).filter((path) => !paths.has(path));
}

/** The old result stays, as `result.1.json`, `result.2.json` … */
function keepResult({ root, result }: TeamDirectory): void {
  if (!existsSync(result)) return;
  for (let count = 1; ; count++) {
    const kept = join(root, `result.${count}.json`);
    if (existsSync(kept)) continue;
    try {
      renameSync(result, kept);
    } catch (error) {
      throw writeError("keep the old result as", kept, error);
    }
    return;
  }
}

async function showAgain(
  context: CommandContext,
  { output }: ResolvedConfig,
  result: RunResult,
  report: string | null,
  strict: boolean,
): Promise<ExitCode> {
  context.log.info(`this run is decided; its result follows${hintFor(result)}`);
  const streams = streamsOf(context, output);
  const { environment, cwd } = context;
  const models = result.agents.map(({ model }) => model);
  const redact = createRedactor(secretsOf(findKeys(environment, cwd, environment.HOME || homedir()), models));
  await printResult(result, output, streams, (line) => streams.stderr(neutralise(redact(line))), report);
  const code = wasSignalled(result) ? exitCodeOfAnswer(result) : (result.exit_code as ExitCode);
  return strict && code === ExitCode.ok && result.decision.kind !== "consensus" ? ExitCode.noConsensus : code;
}

/** The signal that ended the run then is no news of this call. */
function wasSignalled({ exit_code: code }: RunResult): boolean {
  return code === ExitCode.interrupted || code === ExitCode.terminated || code === ExitCode.hungUp;
}

function exitCodeOfAnswer({ answer }: RunResult): ExitCode {
  return answer === null ? ExitCode.noAnswer : ExitCode.ok;
}

function hintFor({ limits, cost }: RunResult): string {
  const unpriced = Object.values(cost.by_agent).some(({ unpriced_tokens: tokens }) => tokens > 0);
  if (limits.reached === "cost_budget" && unpriced && !limits.allow_unpriced)
    return "; to go on, add the missing price to mg-team.yaml, or pass --allow-unpriced";
  const options = { timeout: "--timeout", max_rounds: "--max-rounds", cost_budget: "--cost-budget" } as const;
  return limits.reached === null ? "" : `; to go on, raise its limit with ${options[limits.reached]}`;
}
