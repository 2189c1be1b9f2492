import type { FailureClass } from "../types.ts";

/** Exit codes of a step (massgen.md, "Exit codes"). */
export const StepExit = { done: 0, config: 1, failed: 2, timeout: 3, interrupted: 4 } as const;
export type StepExit = (typeof StepExit)[keyof typeof StepExit];

/** Why a step cannot bring an action. It knows its class, because it knows what happened; the host reads it from the step's last line. */
export class StepError extends Error {
  override readonly name = "StepError";

  constructor(
    readonly failureClass: FailureClass,
    message: string,
    options?: {
      readonly cause?: unknown;
      /** Seconds after which the provider wants to be asked again. */
      readonly retryAfterSeconds?: number;
    },
  ) {
    super(message, options);
    this.retryAfterSeconds = options?.retryAfterSeconds ?? null;
  }

  readonly retryAfterSeconds: number | null;
}

/** With which code a step of that class ends. */
export function exitOf(failureClass: FailureClass): StepExit {
  const codes: Partial<Record<FailureClass, StepExit>> = {
    auth: StepExit.config,
    config: StepExit.config,
    timeout: StepExit.timeout,
    killed: StepExit.interrupted,
  };
  return codes[failureClass] ?? StepExit.failed;
}

/**
 * The last line of a failed step, on stderr: `❌ [quota] retry after 7 s: 429: Rate limit reached`. The class in brackets is what the host goes by
 * (engine/massgen/failure-table.ts); the mark is MassGen's, so that other launchers find it too.
 */
export function failureLine(failureClass: FailureClass, message: string, retryAfterSeconds: number | null = null): string {
  // In front, since the provider's own words may name another time.
  const wait = retryAfterSeconds === null ? "" : `retry after ${Math.ceil(retryAfterSeconds)} s: `;
  return `❌ [${failureClass}] ${wait}${message.replace(/\s+/g, " ").trim()}`;
}
