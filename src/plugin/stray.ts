/**
 * Tells of errors that nobody waits for: of a promise without an await, a timer, a stream without an `error` listener. They would end the
 * process, and with it steps that are paid for. (`cli.ts` leaves such errors to whoever listens beside it.)
 * @returns stops listening, once the errors that have happened by then are told
 */
export function catchStrayErrors(report: (error: unknown) => void): () => Promise<void> {
  const listener = (error: unknown) => report(error);
  for (const event of strayEvents) process.on(event, listener);
  return async () => {
    // Bun looks for rejections that nobody awaits only between its tasks.
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
    for (const event of strayEvents) process.off(event, listener);
  };
}

// --- internal ---

const strayEvents = ["uncaughtException", "unhandledRejection"] as const;
