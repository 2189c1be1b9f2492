import type { DecisionReason } from "../types.ts";

/**
 * `running`: a process works on it. `finished`: it has its result. `interrupted`: a signal ended it, a resume goes on. `crashed`: its process is
 * gone before it had delivered, a resume goes on. `not_started`: nothing was launched. `unknown`: nobody left word.
 */
export type RunCondition = "running" | "finished" | "interrupted" | "crashed" | "not_started" | "unknown";

/** In which condition a run of mg-team is. */
export function conditionOf(run: {
  /** A process holds its lock. */
  readonly locked: boolean;
  /** Its journal says that it has delivered, and its result.json is there. */
  readonly delivered: boolean;
  /** Its journal has begun. */
  readonly started: boolean;
  /** Why it was decided; null while it is not. */
  readonly reason: DecisionReason | null;
}): RunCondition {
  if (run.locked) return "running";
  if (run.delivered) return run.reason === "interrupted" ? "interrupted" : "finished";
  return run.started ? "crashed" : "not_started";
}
