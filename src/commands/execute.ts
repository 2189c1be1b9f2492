import { join } from "node:path";
import type { Clock } from "../clock.ts";
import type { RunFile } from "../config/run-file.ts";
import type { OutputSettings } from "../config/settings.ts";
import type { Engine } from "../engine/engine.ts";
import { type ExitCode, messageOf } from "../errors.ts";
import type { LoadedPlugin } from "../plugin/load.ts";
import type { TeamDirectory } from "../session/directory.ts";
import { openJournal } from "../session/journal.ts";
import { readRegularText } from "../session/regular-file.ts";
import type { RunResult } from "../session/result.ts";
import type { RunState } from "../session/state.ts";
import { neutralise } from "../session/text.ts";
import type { Signals } from "../signals.ts";
import type { RunSignal } from "../team/run.ts";
import { runTeam } from "../team.ts";
import type { AgentId } from "../types.ts";
import { openView } from "../view/open.ts";
import { headlineOf, summaryOf } from "../view/summary.ts";
import type { Streams } from "./streams.ts";
import { version } from "./version.ts";
import type { Warnings } from "./warnings.ts";
import { reportRun } from "./write-report.ts";

/** A run that is settled, checked, and has its directory and lock: new, or taken up again by a resume. */
export interface Execution {
  readonly file: RunFile;
  readonly directory: TeamDirectory;
  readonly engine: Engine;
  readonly plugins: readonly LoadedPlugin[];
  /** Empty, or rebuilt from the journal. */
  readonly state: RunState;
  /** Of the configuration and of preflight. */
  readonly warnings: readonly string[];
  readonly engineWarnings: Warnings;
  readonly output: OutputSettings;
  readonly redact: (text: string) => string;
  readonly signals: Signals;
  readonly clock: Clock;
  /** `clock.now()` when the team directory was made, or the resume began. */
  readonly startedAt: number;
  readonly streams: Streams;
  /** Called once nothing keeps the run from beginning. */
  readonly begin?: () => Promise<void>;
}

/** Runs it and prints what comes of it. Returns the exit code. Throws a TeamError when it cannot begin: nothing was spent then. */
export async function executeRun(execution: Execution): Promise<ExitCode> {
  const { file, directory, engine, state, output, redact, clock, startedAt, streams } = execution;
  const configPaths = await writeConfigs(execution).catch((error: unknown) => {
    execution.engineWarnings.follow((message) => streams.stderr(`mg-team: warning: ${neutralise(redact(message))}`));
    throw error;
  });
  const earlier = state.elapsed;
  const journal = openJournal(directory.journal, { elapsed: () => earlier + clock.now() - startedAt, clock });
  const clean = (line: string) => neutralise(redact(line));
  const view = openView({ state, clock, output, terminal: streams.openTerminal(), write: streams.stderr, clean });
  const say = (line: string) => view.print(clean(line));
  try {
    const result = await runTeam({
      settings: file.settings,
      directory,
      engine,
      configPaths,
      docker: file.docker,
      strict: file.strict,
      plugins: execution.plugins,
      clock,
      journal,
      state,
      startedAt,
      log: { info: output.quiet ? () => {} : say, warn: (message) => say(`warning: ${message}`) },
      observe: (event) => {
        if (output.mode === "events") streams.json(event);
        view.observe(event);
      },
      redact,
      onSignal: (callback) => followSignals(execution.signals, callback),
      begin: async () => execution.begin?.(),
      opening: opening(execution, version),
      followWarnings: execution.engineWarnings.follow,
    });
    // Now the terminal is everybody's again.
    view.close();
    const print = (line: string) => streams.stderr(clean(line));
    const report = file.settings.report
      ? await reportRun(result, { directory, redact, clock, warn: (line) => print(`warning: ${line}`) })
      : null;
    await printResult(result, output, streams, print, report);
    if (!execution.signals.first) streams.notify(headlineOf(result));
    return result.exit_code as ExitCode;
  } finally {
    view.close();
    journal.close();
  }
}

/**
 * What a run prints at its end: the result on stdout, then the summary on stderr. Both may be one pipe (`2>&1 | less`).
 * @param report path of the report; null without
 */
export async function printResult(
  result: RunResult,
  output: OutputSettings,
  stdout: Pick<Streams, "stdout" | "json" | "arrived">,
  say: (line: string) => void,
  report: string | null,
): Promise<void> {
  if (output.mode === "json") stdout.json(result, 2);
  if (output.mode === "text" && result.answer !== null) stdout.stdout(withNewline(finalText(result)));
  await stdout.arrived();
  const lines = summaryOf(result, report);
  for (const line of output.quiet ? lines.filter(({ important }) => important) : lines) say(line.text);
}

// --- internal ---

/** All at once: making a config takes MassGen ten seconds. */
async function writeConfigs({ file, directory, engine }: Execution): Promise<Record<AgentId, string>> {
  const { agents, context } = file.settings;
  const paths = agents.map((agent) => [agent.id, join(directory.configs, `${agent.id}_step.yaml`)] as const);
  const options = { docker: file.docker, context };
  const made = await Promise.allSettled(
    agents.map((agent, index) =>
      engine.writeConfig(agent, paths[index]?.[1] ?? "", { ...options, runDir: join(directory.runs, agent.id, "config") }),
    ),
  );
  for (const outcome of made) if (outcome.status === "rejected") throw outcome.reason;
  return Object.fromEntries(paths);
}

function opening({ file, directory, engine, state, warnings }: Execution, mgTeam: string): Parameters<typeof runTeam>[0]["opening"] {
  const { agents, limits } = file.settings;
  const first =
    state.round === 0 && state.startedAt === ""
      ? ({
          type: "run.started",
          session_id: directory.id,
          directory: directory.root,
          agents: agents.map(({ id, model }) => ({ id, model })),
          limits,
          engine: engine.info,
          mg_team: mgTeam,
        } as const)
      : ({ type: "run.resumed", elapsed_seconds: state.elapsed, limits, ...(state.decision ? { decided: true as const } : {}) } as const);
  return [first, ...warnings.map((message) => ({ type: "preflight.warning", message }) as const)];
}

function followSignals(signals: Signals, callback: (signal: RunSignal) => void): () => void {
  if (signals.first) callback(signals.first);
  return signals.onSignal(callback);
}

/** The document as it was written; the bare answer where it could not be, or where a result that somebody edited names another file. */
function finalText({ synthesis: { path }, answer }: RunResult): string {
  try {
    if (path !== null && /[\\/]synthesis[\\/]final_answer\.md$/.test(path)) return readRegularText(path);
  } catch (error) {
    return `${answer ?? ""}\n\n(The document could not be read: ${messageOf(error)})`;
  }
  return answer ?? "";
}

function withNewline(text: string): string {
  return text.endsWith("\n") ? text : `${text}\n`;
}
