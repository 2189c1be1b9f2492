import { type Clock, tickSeconds } from "../clock.ts";

/** Tells when somebody who should talk has been silent for too long. */
export interface SilenceWatch {
  readonly signal: AbortSignal;
  /** A sign of life. */
  sign(): void;
  stop(): void;
}

export function watchSilence(clock: Clock, seconds: number): SilenceWatch {
  const silent = new AbortController();
  const over = new AbortController();
  let last = clock.now();
  const watch = async () => {
    while (!over.signal.aborted) {
      const left = last + seconds - clock.now();
      if (left <= 0) return silent.abort();
      await clock.sleep(Math.min(left, tickSeconds), over.signal);
    }
  };
  void watch();
  return {
    signal: silent.signal,
    sign() {
      last = clock.now();
    },
    stop: () => over.abort(),
  };
}
