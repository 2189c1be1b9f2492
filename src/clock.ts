import { uptime } from "node:os";

/** Time for everything that waits or expires; injectable, so that tests own it (reliability.md, "Signals and terminals"). */
export interface Clock {
  /** Seconds on a clock that never steps and goes on during suspend. */
  now(): number;
  /** Milliseconds since the epoch: for people and for ordering, never for deadlines. */
  date(): number;
  /** Resolves after that many seconds, or as soon as the signal aborts. Never rejects. */
  sleep(seconds: number, signal?: AbortSignal): Promise<void>;
}

/** How often a deadline is looked at, in seconds. A single long timer would miss suspends and overflow at 2^31 ms. */
export const tickSeconds = 0.25;

export const systemClock: Clock = {
  now,
  date: Date.now,
  async sleep(seconds, signal) {
    const end = now() + seconds;
    for (let left = seconds; left > 0 && !signal?.aborted; left = end - now()) {
      await nap(Math.min(left, tickSeconds), signal);
    }
  },
};

// --- internal ---

// `uptime()` counts suspended time but has whole seconds only under Bun; `performance.now()` is fine but stands still in a
// suspend. So: the fine clock, moved ahead whenever the coarse one has run away from it.
const started = { uptime: uptime(), fine: performance.now() / 1000 };
let suspended = 0;

function now(): number {
  const fine = performance.now() / 1000;
  const behind = uptime() - started.uptime - (fine - started.fine) - suspended;
  if (behind > 2) suspended += behind;
  return fine + suspended;
}

function nap(seconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, seconds * 1000);
    signal?.addEventListener("abort", done);
  });
}
