import { mkdirSync } from "node:fs";
import { type Clock, tickSeconds } from "../../clock.ts";
import { type Child, startChild } from "../../process/child.ts";
import { newestStep, snapshotSession } from "../../session/steps.ts";
import type { Snapshot, StepCost } from "../../types.ts";
import type { RunningStep, StepCommand, StepEvents, StepReport, StepSpec, StopCause } from "../engine.ts";
import { readBallotLine } from "./ballot/line.ts";
import { createCauses } from "./causes.ts";
import { type CostReader, createCostReader } from "./cost.ts";
import { createProgress } from "./events.ts";
import { parseStatusLine } from "./status-lines.ts";
import { type BallotWatch, noCost, reportAccident, reportStep } from "./step-report.ts";
import type { StepSetting } from "./step-setting.ts";

/** How often the reported cost is looked at, in seconds: MassGen rewrites status.json every 2 s. */
export const costPollSeconds = 2;

/**
 * Starts a step and reads it to its end. Never throws: a step that cannot be started has a report with a failure.
 * @param prepare gives the command; a TeamError of it becomes the failure
 */
export function startStep(setting: StepSetting, step: StepSpec, events: StepEvents, prepare: () => StepCommand): RunningStep {
  const { clock, redact } = setting;
  const causes = createCauses();
  const ballot: BallotWatch | null = setting.ballotFix ? { seen: null } : null;
  const cost = createCostReader(step.runDir, step.agent.id, setting.price);
  const progress = createProgress({ clock, redact, onProgress: events.onProgress });
  const begin = (): { readonly child: Child; readonly launchedWith: Snapshot; readonly after: number } => {
    mkdirSync(step.runDir, { recursive: true, mode: 0o700 });
    const command = prepare();
    // What the step is going to see; nothing may come between this and the start.
    const launchedWith = snapshotSession(step.sessionDir);
    const after = newestStep(step.sessionDir, step.agent.id);
    const onLine = (stream: "stdout" | "stderr", line: string) => {
      const verdict = readBallotLine(line);
      if (verdict && ballot) ballot.seen = verdict;
      if (verdict) return;
      const status = parseStatusLine(line);
      if (status?.kind === "log_dir") cost.logDir(status.path);
      causes.line(stream, line);
      progress.line(line);
    };
    const { argv, cwd, env } = command;
    const child = startChild({ argv, cwd, env, logDir: step.runDir, cookie: setting.cookie, redact, onLine }, clock);
    return { child, launchedWith, after };
  };

  let started: ReturnType<typeof begin>;
  try {
    started = begin();
  } catch (error) {
    const report = Promise.resolve(reportAccident(setting, step, "the step could not be prepared", error, noCost));
    const { sessionDir, agent } = step;
    const [launchedWith, after] = [snapshotSession(sessionDir), newestStep(sessionDir, agent.id)];
    return { pid: 0, launchedWith, after, report, stop: () => Promise.resolve() };
  }
  const { child, launchedWith, after } = started;
  const ended = new AbortController();
  queueMicrotask(() => progress.phase("starting"));
  void pollCost(cost, clock, ended.signal, events.onCost);
  if (step.timeoutSeconds !== null) void stopInTime(child, clock, step.timeoutSeconds, ended.signal);

  const report = child.exited.then((exit): StepReport => {
    ended.abort();
    const finished = reportStep({ setting, step, exit, after, reader: cost, cause: causes.best(), ballot });
    if (finished.failure) progress.phase("failed");
    return finished;
  });
  return {
    pid: child.pid,
    launchedWith,
    after,
    report: report.catch((error) => reportAccident(setting, step, "mg-team could not read what the step left", error)),
    async stop(cause, options) {
      await child.stop(cause, options);
    },
  };
}

// --- internal ---

async function pollCost(reader: CostReader, clock: Clock, ended: AbortSignal, onCost: StepEvents["onCost"]): Promise<void> {
  let told: StepCost | null = null;
  while (!ended.aborted) {
    await clock.sleep(costPollSeconds, ended);
    if (ended.aborted) return;
    const cost = reader.read();
    if (cost === null || (told !== null && sameCost(cost, told))) continue;
    told = cost;
    onCost?.(cost);
  }
}

function sameCost(one: StepCost, other: StepCost): boolean {
  return (
    one.usd === other.usd &&
    one.inputTokens === other.inputTokens &&
    one.outputTokens === other.outputTokens &&
    one.incomplete === other.incomplete
  );
}

/** In ticks: one long timer would miss a suspend. */
async function stopInTime(child: Child, clock: Clock, seconds: number, ended: AbortSignal): Promise<void> {
  const deadline = clock.now() + seconds;
  while (!ended.aborted) {
    const left = deadline - clock.now();
    if (left <= 0) {
      await child.stop("step_timeout" satisfies StopCause);
      return;
    }
    await clock.sleep(Math.min(left, tickSeconds), ended);
  }
}
