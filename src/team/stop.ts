import { decisionReasons, type StopRequest } from "../types.ts";
import type { Run } from "./run.ts";

/** Ends the current phase; the first request wins. */
export function stopRun(run: Run, request: StopRequest): void {
  if (run.phase === "over") return;
  const reason = decisionReasons.includes(request.reason) ? request.reason : "plugin";
  const message = run.redact(String(request.message ?? "a plugin stopped the run"));
  if (!run.stopper.stop({ reason, message })) return;
  if (reason === "plugin" && run.phase === "deciding") run.stoppedByPlugin = true;
  announceStop(run, { reason, message });
}

/** Journals why the phase stops and whom that stops. */
export function announceStop(run: Run, { reason, message }: StopRequest): void {
  if (reason === "timeout" || reason === "cost_budget") run.emit({ type: "limit.reached", reason, message });
  run.emit({ type: "stop", reason, message, stopped: [...run.running.values()] });
}
