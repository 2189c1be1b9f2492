import type { StopRequest } from "../types.ts";

/** The one place where a run is told to stop early. The first request wins; an interrupt also overtakes a stop that is under way. */
export interface Stopper {
  /** The request that won, or null. */
  readonly request: StopRequest | null;
  /** Aborts at the first request: ends waits, and has running steps stopped. */
  readonly signal: AbortSignal;
  /** Resolves when `signal` aborts. */
  readonly whenStopped: Promise<void>;
  /** Set once a signal has arrived: nothing waits for children any more until the result is written. */
  readonly interrupted: boolean;
  /** Resolves when `interrupted` becomes true. */
  readonly whenInterrupted: Promise<void>;
  /** @returns whether this request won */
  stop(request: StopRequest): boolean;
  interrupt(message: string): void;
}

export function createStopper(): Stopper {
  const controller = new AbortController();
  const stop = Promise.withResolvers<void>();
  const interruption = Promise.withResolvers<void>();
  let request: StopRequest | null = null;
  let interrupted = false;
  return {
    get request() {
      return request;
    },
    get interrupted() {
      return interrupted;
    },
    signal: controller.signal,
    whenStopped: stop.promise,
    whenInterrupted: interruption.promise,
    stop(next) {
      if (request) return false;
      request = next;
      stop.resolve();
      controller.abort();
      return true;
    },
    interrupt(message) {
      interrupted = true;
      interruption.resolve();
      this.stop({ reason: "interrupted", message });
    },
  };
}
