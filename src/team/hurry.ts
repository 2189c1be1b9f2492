/** Waits for `work` at most that many seconds; rejects when they are over. */
export function within<T>(seconds: number, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`it did not finish within ${seconds} s`)), seconds * 1000);
  return Promise.race([work, promise]).finally(() => clearTimeout(timer));
}
