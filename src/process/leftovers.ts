import { systemClock as clock } from "../clock.ts";
import { isDockerClient } from "./docker-client.ts";
import { signalProcess } from "./processes.ts";

/** How long what a child left behind may go on by itself, in seconds: it may still be writing the last lines. */
export const quietSeconds = 1;

/**
 * Ends what a child left behind. For half of {@link quietSeconds} it may end by itself; then TERM, then KILL until nothing is left, so
 * that a second is the longest it takes. Docker clients get 2 s more after their TERM (see `isDockerClient`).
 * @param find what is left now; called again and again
 * @param urgent aborted: no waiting, KILL at once
 */
export async function endLeftovers(find: () => readonly number[], urgent: AbortSignal): Promise<void> {
  const gone = async (seconds: number, pids = find) => {
    const end = clock.now() + seconds;
    while (pids().length > 0) {
      if (clock.now() >= end || urgent.aborted) return false;
      await clock.sleep(lookSeconds, urgent);
    }
    return true;
  };
  if (await gone(quietSeconds / 2)) return;
  for (const pid of find()) terminate(pid);
  if (await gone(quietSeconds / 2)) return;
  for (const pid of find()) if (urgent.aborted || !isDockerClient(pid)) signalProcess(pid, "SIGKILL");
  await gone(clientSeconds, () => find().filter(isDockerClient));
  await killAll(find);
  return;
}

/** KILLs until nothing is left: what is forked meanwhile is found by the next look. Gives up after 1 s (a process stuck in the system). */
export async function killAll(find: () => readonly number[]): Promise<boolean> {
  const end = clock.now() + killSeconds;
  for (let pids = find(); pids.length > 0; pids = find()) {
    for (const pid of pids) signalProcess(pid, "SIGKILL");
    if (clock.now() >= end) return false;
    await clock.sleep(killLookSeconds);
  }
  return true;
}

// --- internal ---

const lookSeconds = 0.05;
const killLookSeconds = 0.005;
const killSeconds = 1;
const clientSeconds = 2;

// A stopped process sees TERM only when it goes on.
function terminate(pid: number): void {
  signalProcess(pid, "SIGTERM");
  signalProcess(pid, "SIGCONT");
}
