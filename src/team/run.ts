import type { Clock } from "../clock.ts";
import type { RunSettings } from "../config/settings.ts";
import type { Engine, RunningStep } from "../engine/engine.ts";
import { PluginError } from "../plugin/guard.ts";
import type { TeamHooks } from "../plugin/hooks.ts";
import type { PluginHost } from "../plugin/host.ts";
import type { LoadedPlugin } from "../plugin/load.ts";
import type { Log } from "../plugin/plugin.ts";
import type { TeamDirectory } from "../session/directory.ts";
import type { EventBody, TeamEvent } from "../session/events.ts";
import type { Journal } from "../session/journal.ts";
import type { RunState } from "../session/state.ts";
import type { AgentId, StopRequest } from "../types.ts";
import type { Stopper } from "./stopper.ts";

/** Everything that a run is given; made by `commands/run.ts` and by tests. */
export interface TeamSetup {
  readonly settings: RunSettings;
  readonly directory: TeamDirectory;
  readonly engine: Engine;
  /** Absolute path of each agent's step config. */
  readonly configPaths: Readonly<Record<AgentId, string>>;
  /** Whether the agents' code runs in docker. */
  readonly docker: boolean;
  /** Anything but a consensus exits 6. */
  readonly strict: boolean;
  /** Built-ins first, then the user's. */
  readonly plugins: readonly LoadedPlugin[];
  readonly clock: Clock;
  readonly journal: Journal;
  /** Empty, or rebuilt from the journal by a resume. */
  readonly state: RunState;
  /** `clock.now()` at which this process began to work on the run. */
  readonly startedAt: number;
  readonly log: Log;
  /** Sees every event, after the journal and before plugins. */
  readonly observe: (event: TeamEvent) => void;
  /** Removes secrets from text that is about to be stored or shown. */
  readonly redact: (text: string) => string;
  /** Calls back when the process is told to end; the second call kills at once. */
  readonly onSignal: (callback: (signal: RunSignal) => void) => () => void;
  /** Called once nothing keeps the run from beginning: its plugins have started. Rejects with a TeamError when it cannot begin all the same. */
  readonly begin: () => Promise<void>;
  /** What the journal begins with: `run.started` or `run.resumed`, then the warnings of preflight. */
  readonly opening: readonly EventBody[];
  /** Hands over the engine's warnings, which are journaled. */
  readonly followWarnings: (receive: (message: string) => void) => void;
}

export interface RunSignal {
  readonly name: "SIGINT" | "SIGTERM" | "SIGHUP";
  readonly exitCode: 130 | 143 | 129;
}

/** A run at work. What can be rebuilt from the journal is in `state`; the rest is about this process. */
export interface Run extends TeamSetup {
  readonly hooks: TeamHooks;
  readonly host: PluginHost;
  /** Events of the time before the run began, for after its opening; null since then. */
  early: EventBody[] | null;
  /** Steps whose children are alive. */
  readonly running: Map<RunningStep, AgentId>;
  /** Attempts whose numbers are given, by `stepKey`. */
  readonly claimedTries: Set<string>;
  /** Ends of steps that plugins still look at, before they are journaled. Never rejects. */
  readonly finishing: Set<Promise<void>>;
  /** Work that a signal left behind; settled when the run closes. */
  readonly pending: Promise<unknown>[];
  /** For the current phase: the loop, then synthesis. */
  stopper: Stopper;
  /** A stop that lets the running steps finish: nothing is launched any more, and it becomes the stopper's request after them. */
  lastCall: StopRequest | null;
  /** The signal that ends this run, once one has arrived. */
  signal: RunSignal | null;
  /** A second signal has arrived: whoever sends it wants the end more than the files. */
  rushed: boolean;
  /** An answer file that would fail every other agent (core loop 5); absolute path. */
  poison: string | null;
  /** The loop decides; then the synthesis makes something of it; then nothing is started any more. */
  phase: "deciding" | "synthesis" | "over";
  /** A plugin failed in a hook whose failure stops the run. */
  pluginBroke: boolean;
  /** A plugin ended the deciding with `team.stop`. */
  stoppedByPlugin: boolean;
  /** Brings the result up to date once there is one: plugins that render it have run a step meanwhile. */
  refresh: () => void;
  /** What could not be written: the run ends with exit 7 and never reports success. */
  writeError: Error | null;
  /** Seconds that mg-team has worked on the run, over all resumes. */
  elapsed(): number;
  /** Journals an event, applies it to the state, and shows it to the view and to plugins. Never throws. */
  emit(body: EventBody): void;
  /** A plugin failed where that stops the run: says so and asks for the stop. */
  pluginFailed(error: unknown, hook: PluginError["hook"]): void;
  /** A plugin failed where that changes nothing: says so. */
  pluginWarned(error: unknown, hook: PluginError["hook"]): void;
  /** A file of the run could not be written: says so, once, and asks for the stop. What happens from here on could not be resumed, and must not cost more. */
  cannotWrite(error: unknown): void;
}

/** The ids of the agents. */
export function teamOf({ settings }: Run): readonly AgentId[] {
  return settings.agents.map(({ id }) => id);
}

/** Wraps what a failing hook threw, for the journal. */
export function asPluginError(error: unknown, hook: PluginError["hook"]): PluginError {
  if (error instanceof PluginError) return error;
  return new PluginError("(unknown)", hook, error instanceof Error ? error.message : String(error), null, { cause: error });
}
