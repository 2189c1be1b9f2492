import { messageOf } from "../errors.ts";
import type { PluginError } from "../plugin/guard.ts";
import { createHooks } from "../plugin/hooks.ts";
import { createPluginHost } from "../plugin/host.ts";
import type { EventBody, TeamEvent } from "../session/events.ts";
import { LineTooLong } from "../session/journal.ts";
import { applyEvent } from "../session/state.ts";
import { tapCoreRules } from "./deliberate.ts";
import { reduced } from "./reduced.ts";
import { asPluginError, type Run, type TeamSetup, teamOf } from "./run.ts";
import { announceStop, stopRun } from "./stop.ts";
import { createStopper } from "./stopper.ts";

/** Makes a run out of its setup: journal, hooks, plugin host, stopper and signals, wired together. */
export function openRun(setup: TeamSetup): Run {
  const hooks = createHooks();
  const earlier = setup.state.elapsed;
  const isNews = createFilter();
  const run: Run = {
    ...setup,
    hooks,
    host: createPluginHost(hooks, (error) => {
      // A watcher that fails would fail again at the event that tells of it, and so for ever.
      if (error.hook !== "onEvent" || isNews(error)) reportPlugin(run, error);
    }),
    early: [],
    running: new Map(),
    claimedTries: new Set(),
    finishing: new Set(),
    pending: [],
    stopper: createStopper(),
    lastCall: null,
    signal: null,
    rushed: false,
    poison: null,
    phase: "deciding",
    pluginBroke: false,
    stoppedByPlugin: false,
    refresh: () => {},
    writeError: null,
    elapsed: () => earlier + Math.max(0, setup.clock.now() - setup.startedAt),
    emit: createEmitter(() => run),
    pluginFailed: (error, hook) => {
      const failure = asPluginError(error, hook);
      reportPlugin(run, failure);
      run.pluginBroke = true;
      stopRun(run, { reason: "plugin", message: failure.message });
    },
    pluginWarned: (error, hook) => reportPlugin(run, asPluginError(error, hook)),
    cannotWrite: (error) => {
      if (run.writeError) return;
      run.writeError = error instanceof Error ? error : new Error(messageOf(error));
      run.log.warn(messageOf(error));
      // Not within the event that could not be written.
      queueMicrotask(() => stopRun(run, { reason: "interrupted", message: messageOf(error) }));
    },
  };
  tapCoreRules(hooks);
  return run;
}

/** Journals the opening, and what has happened before it. Rejects with what keeps the run from beginning. */
export async function beginRun(run: Run): Promise<void> {
  await run.begin();
  const early = run.early ?? [];
  run.early = null;
  for (const event of run.opening) {
    run.emit(event);
    // Nothing is spent yet; a journal without its beginning would be no use to a resume.
    if (run.writeError) throw run.writeError;
  }
  run.followWarnings((message) => run.emit({ type: "preflight.warning", message: run.redact(message) }));
  for (const event of early) run.emit(event);
}

/** Ends the run on a signal: once, the result at once; twice, every child is killed now, and files that are still being copied are left out. */
export function followSignals(run: Run): () => void {
  return run.onSignal((signal) => {
    if (run.signal) {
      run.rushed = true;
      for (const step of run.running.keys()) void step.stop("interrupted", { now: true });
      return;
    }
    const message = signal.name === "SIGINT" ? "interrupted by Ctrl-C" : `ended by ${signal.name}`;
    if (isOver(run)) {
      // The run is over, and its exit code is told: this only hurries the cleanups.
      run.stopper.interrupt(message);
      return;
    }
    run.signal = signal;
    run.stopper.interrupt(message);
    announceStop(run, { reason: "interrupted", message });
  });
}

// --- internal ---

/** What must survive a power cut: what steps brought and cost, and what was decided. Starts are not: syncing them would hold up the next start. */
const durable: ReadonlySet<EventBody["type"]> = new Set([
  "run.started",
  "run.resumed",
  "step.finished",
  "ballots",
  "decision",
  "run.finished",
]);

/** Journal, then state, then view, then plugins. An event that a plugin causes waits until all have seen the one before. */
function createEmitter(runOf: () => Run): (body: EventBody) => void {
  const queue: TeamEvent[] = [];
  let showing = false;
  return (body) => {
    const run = runOf();
    if (run.early) {
      run.early.push(body);
      return;
    }
    queue.push(record(run, body));
    if (showing) return;
    showing = true;
    try {
      for (let event = queue.shift(); event; event = queue.shift()) {
        run.observe(event);
        // A copy: the state holds parts of the event.
        run.hooks.onEvent.call(structuredClone(event));
      }
    } finally {
      showing = false;
    }
  };
}

/** An event that the journal cannot take still counts in the state: the result is made of it. */
function record(run: Run, body: EventBody): TeamEvent {
  let event: TeamEvent;
  try {
    event = append(run, body);
  } catch (error) {
    event = { ...body, v: 1, seq: run.state.seq + 1, ts: new Date(run.clock.date()).toISOString(), elapsed: run.elapsed() };
    run.cannotWrite(error);
  }
  applyEvent(run.state, event);
  return event;
}

/** One that is too long for a line is no dead disk: without what nobody needs it fits, and the run goes on. */
function append(run: Run, body: EventBody): TeamEvent {
  const options = { durable: durable.has(body.type) };
  try {
    return run.journal.append(body, options);
  } catch (error) {
    const rest = error instanceof LineTooLong ? reduced(body, teamOf(run)) : null;
    if (rest === null) throw error;
    return run.journal.append(rest, options);
  }
}

/** Its `run.finished` is journaled: that of this process, as a resumed run may have one of before. */
function isOver({ early, state }: Run): boolean {
  return early === null && state.finished;
}

/** How many different failures of one watcher are told. */
const failuresOfWatcher = 3;

function createFilter(): (error: PluginError) => boolean {
  const told = new Map<string, Set<string>>();
  return ({ plugin, detail }) => {
    const before = told.get(plugin) ?? new Set();
    told.set(plugin, before);
    if (before.size >= failuresOfWatcher || before.has(detail)) return false;
    before.add(detail);
    return true;
  };
}

function reportPlugin(run: Run, { plugin, hook, detail, file }: PluginError): void {
  const message = run.redact(detail.replace(/\s*\n\s*/g, " "));
  // A cleanup that fails after the end is no part of the run any more: the journal ends with run.finished.
  if (!isOver(run)) run.emit({ type: "plugin.error", plugin, hook, message, ...(file ? { file } : {}) });
  run.log.warn(`plugin ${plugin}${file ? ` (${file})` : ""}, ${hook}: ${message}`);
}
