import { PluginError } from "../plugin/guard.ts";
import { within } from "../plugin/within.ts";
import type { Run } from "./run.ts";

/** Seconds that plugins still have once a signal wants the result at once (reliability.md: hosts give 7.5-10 s). */
const hurriedSeconds = 2;

/**
 * Waits for plugins, each as long as it may take by itself; from a signal on only a moment more, however long they may take, or nothing but
 * `kill -9` would end a run.
 * @param first what that moment comes after: what plugins may wait for themselves
 * @param seconds how long that moment is
 */
export function withPatience<T>(
  run: Run,
  hook: PluginError["hook"],
  work: Promise<T>,
  first: () => Promise<unknown> = async () => {},
  seconds = hurriedSeconds,
): Promise<T> {
  const hurried = run.stopper.whenInterrupted.then(async () => {
    await first();
    try {
      await within(seconds, work.then(nothing, nothing));
    } catch {
      throw new PluginError("(unknown)", hook, `it did not finish within ${seconds} s of the signal`, null);
    }
    return work;
  });
  return Promise.race([work, hurried]);
}

// --- internal ---

function nothing(): void {}
