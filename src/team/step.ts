import { join, relative } from "node:path";
import type { RunningStep, StepReport, StepSpec, StopCause } from "../engine/engine.ts";
import type { LaunchRequest } from "../plugin/hooks.ts";
import { findAgent, isInTeam, type StepKind, stepKey, unfinishedSteps } from "../session/state.ts";
import { findPoison } from "../session/steps.ts";
import type { Action, DecisionReason } from "../types.ts";
import { noteLaunch, unjournaledLaunches } from "./launch-note.ts";
import { stepsOfTeam } from "./reduced.ts";
import { type Run, teamOf } from "./run.ts";

/** What the journal tells of the end of a step, or of one that was skipped. */
export interface Ended {
  readonly action: Action;
  /** Stopped by us before it acted: uses up neither retry nor round. */
  readonly interrupted: boolean;
  /** Absent where nothing ran. */
  readonly report?: StepReport;
}

/** A step that has ended, as an action. */
export interface FinishedStep extends Ended {
  readonly report: StepReport;
}

/**
 * Runs one step under the run's supervision: events, costs and stops are wired up. Every step of every kind goes through here.
 * A stop of the run stops it; after a signal that waits until the result is written (`closeSteps`).
 * @returns null when its place could not be prepared: nothing was started then, and the run stops
 */
export async function runStep(run: Run, request: LaunchRequest, spec: StepSpec): Promise<FinishedStep | null> {
  const { kind, agent, round, try: attempt } = request;
  const where = { agent, round, try: attempt };
  let ended = false;
  let edit: ReturnType<typeof noteLaunch>;
  try {
    edit = noteLaunch(run, request, spec);
  } catch (error) {
    run.cannotWrite(error);
    return null;
  }
  const running = run.engine.start(spec, {
    onProgress: (progress) => {
      if (!ended) run.emit({ type: "step.progress", ...where, ...progress });
    },
    onCost: (cost) => {
      if (!ended) run.emit({ type: "step.cost", ...where, cost });
    },
  });
  run.running.set(running, agent);
  run.emit({
    type: "step.started",
    kind,
    ...where,
    pid: running.pid,
    launched_with: running.launchedWith,
    run_dir: relative(run.directory.root, spec.runDir),
    after: running.after,
    ...edit,
  });
  const release = stopWith(run, running);
  const report = await running.report;
  release();
  ended = true;
  run.running.delete(running);
  // Only what is in the team's own session can fail the others.
  if (isInTeam(kind)) run.poison ??= report.poison;
  return {
    action: toAction(run, { ...where, launchedWith: running.launchedWith }, report),
    report,
    interrupted: isInterrupted(run, report),
  };
}

/** Journals the end of a step. */
export function finishStep(run: Run, kind: StepKind, step: Ended, retry: boolean): void {
  const ballot = step.report?.ballot;
  run.emit({ type: "step.finished", kind, action: step.action, retry, interrupted: step.interrupted, ...(ballot ? { ballot } : {}) });
}

/**
 * Journals the end of steps that an earlier process started and did not see end: what they left on disk counts as if it had been seen, what
 * they reported to have spent counts once; those that left nothing are launched again later. Nothing of them may be alive.
 */
export function recoverSteps(run: Run): void {
  run.poison ??= findPoison(run.directory.session);
  for (const launch of unjournaledLaunches(run)) run.emit(launch);
  for (const lost of unfinishedSteps(run.state)) {
    const { agent: id, round, try: attempt, launched_with: launchedWith, after, kind } = lost;
    const agent = findAgent(run.state, id)?.agent ?? { id, model: id, backend: "", modelName: "" };
    const runDir = join(run.directory.root, lost.run_dir);
    const found = run.engine.recover({ agent, sessionDir: run.directory.session, runDir, after });
    // A synthesis is made anew: its session must start empty.
    const report: StepReport = isInTeam(kind) ? found : { ...found, action: null };
    const action = toAction(run, { agent: id, round, try: attempt, launchedWith }, report);
    finishStep(run, kind, { action, report, interrupted: report.action === null }, false);
  }
}

/** Stops whatever is still running and waits until it is gone; called once the result is written. */
export async function closeSteps(run: Run, cause: StopCause): Promise<void> {
  await Promise.all([...run.running.keys()].map((step) => step.stop(cause)));
  await Promise.allSettled(run.pending);
}

/**
 * A number for an agent's next attempt in a round, given only once: money is counted by it. Attempts of earlier processes count, and those
 * that are still being prepared.
 */
export function nextTry(run: Run, agent: string, round: number): number {
  for (let attempt = 1; ; attempt++) {
    const key = stepKey({ agent, round, try: attempt });
    if (run.claimedTries.has(key) || run.state.costs.has(key) || run.state.startedSteps.has(key)) continue;
    run.claimedTries.add(key);
    return attempt;
  }
}

/** Milliseconds since the epoch, by the time that mg-team has worked: who answered first must not depend on a clock that somebody turns. */
export function momentOf(run: Run): number {
  return Date.parse(run.state.startedAt) + Math.round(run.elapsed() * 1000);
}

/** The cause that a stopped step is told. */
export function stopCauseOf(reason: DecisionReason): StopCause {
  return reason === "timeout" || reason === "cost_budget" || reason === "interrupted" || reason === "plugin" ? reason : "ended";
}

// --- internal ---

function stopWith(run: Run, running: RunningStep): () => void {
  const { stopper } = run;
  const stop = () => {
    // While deciding, a signal first gets its result: the steps are stopped by closeSteps, after it is written.
    if (!stopper.interrupted || run.phase === "synthesis") void running.stop(stopCauseOf(stopper.request?.reason ?? "interrupted"));
  };
  stopper.signal.addEventListener("abort", stop);
  if (stopper.signal.aborted) stop();
  return () => stopper.signal.removeEventListener("abort", stop);
}

/** A step that fails while the run stops may have failed because of that: it gets its chance again on a resume. */
function isInterrupted(run: Run, report: StepReport): boolean {
  if (report.action !== null || report.stopCause === "step_timeout") return false;
  return report.stopCause !== null || run.stopper.request !== null;
}

function toAction(run: Run, place: Pick<Action, "agent" | "round" | "try" | "launchedWith">, report: StepReport): Action {
  const base = { ...place, seconds: report.seconds, cost: report.cost, at: momentOf(run) };
  const { action, failure } = report;
  if (action?.kind === "vote") {
    // What it says of others counts for nothing, and could be more than the journal takes.
    const seen = action.seenSteps === null ? {} : stepsOfTeam(action.seenSteps, teamOf(run));
    const seenSteps = Object.keys(seen).length === 0 ? null : seen;
    return { ...base, ...action, target: run.redact(action.target), reason: run.redact(action.reason), seenSteps };
  }
  if (action) return { ...base, ...action };
  return {
    ...base,
    kind: "failed",
    class: failure?.class ?? "no_action",
    message: run.redact(failure?.message ?? "the step ended without an action"),
    log: failure ? relative(run.directory.root, failure.log) : "",
  };
}
