import type { StopOptions } from "../plugin/plugin.ts";
import { decisionReasons, type StopRequest } from "../types.ts";
import type { Run } from "./run.ts";

/** Ends the current phase; the first request wins, but one that lets running steps finish does not hold up one that stops them. */
export function stopRun(run: Run, request: StopRequest, { finishRunning = false }: StopOptions = {}): void {
  if (run.phase === "over") return;
  const reason = decisionReasons.includes(request.reason) ? request.reason : "plugin";
  const message = run.redact(String(request.message ?? "a plugin stopped the run"));
  if (finishRunning && run.running.size > 0) {
    run.lastCall ??= { reason, message };
    return;
  }
  if (!run.stopper.stop({ reason, message })) return;
  if (reason === "plugin" && run.phase === "deciding") run.stoppedByPlugin = true;
  announceStop(run, { reason, message });
}

/** What was running when the last steps were called has finished: now the run stops. */
export function stopAfterLastCall(run: Run): void {
  if (run.lastCall) stopRun(run, run.lastCall);
}

/** Why nothing more may be launched; null while it may. */
export function whyNoLaunch({ stopper, lastCall }: Run): StopRequest | null {
  return stopper.request ?? lastCall;
}

/** Journals why the phase stops and whom that stops. */
export function announceStop(run: Run, { reason, message }: StopRequest): void {
  if (reason === "timeout" || reason === "cost_budget") run.emit({ type: "limit.reached", reason, message });
  run.emit({ type: "stop", reason, message, stopped: [...run.running.values()] });
}
