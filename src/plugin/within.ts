/**
 * Waits for `work` at most that many seconds and rejects when they are over; the work itself goes on, but what becomes of it is ignored.
 * @param seconds null, or more than any timer can wait (24 days), waits for ever
 */
export function within<T>(seconds: number | null, work: T | PromiseLike<T>): Promise<T> {
  if (seconds === null || seconds >= longestSeconds) return Promise.resolve(work);
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`it did not finish within ${seconds} s`)), seconds * 1000);
  return Promise.race([work, promise]).finally(() => clearTimeout(timer));
}

// --- internal ---

/** A timer of 2^31 ms or more fires at once (reliability.md, "Signals and terminals"). */
const longestSeconds = 2_147_483;
