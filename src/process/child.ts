import { randomBytes } from "node:crypto";
import fs from "node:fs";
import { join } from "node:path";
import { type Clock, systemClock } from "../clock.ts";
import type { Child, ChildSpec } from "./child-types.ts";
import { childVariable } from "./environment.ts";
import { checkLaunch, type SpawnError } from "./launch.ts";
import { findMarked, signalProcess } from "./processes.ts";
import { spawnChild } from "./spawn.ts";
import { type Supervised, supervise } from "./supervise.ts";

export type { Child, ChildExit, ChildSpec } from "./child-types.ts";

/**
 * Starts a child with closed stdin, logs in files, in a session of its own. It ends when mg-team ends, in whatever way.
 * Never throws: what could not be started is an exit with a `spawnError`, whose message is also in stderr.log.
 * @param clock for the grace period of `stop` and for `seconds`
 */
export function startChild(spec: ChildSpec, clock: Clock = systemClock): Child {
  const checked = checkLaunch(spec.argv, spec.cwd, spec.env);
  if ("error" in checked) return neverStarted(spec, checked.error);
  const id = randomBytes(8).toString("hex");
  const spawned = spawnChild(spec, checked.program, id);
  if ("error" in spawned) return neverStarted(spec, spawned.error);
  const child = supervise(spec, spawned, clock);
  live.add(child);
  child.exited.finally(() => live.delete(child));
  return child;
}

/** KILLs every live child of this process and all they started, at once. Synchronous, for `process.on("exit")`. */
export function killAllNow(): void {
  for (const child of live) child.killGroup();
  if (live.size === 0) return;
  const ids = new Set([...live].map((child) => child.id));
  for (const { pid } of findMarked(childVariable, ids)) signalProcess(pid, "SIGKILL");
}

// --- internal ---

const live = new Set<Supervised>();

function neverStarted({ logDir, redact = String }: ChildSpec, spawnError: SpawnError): Child {
  try {
    // Whoever looks into the log for the reason finds it there.
    fs.appendFileSync(join(logDir, "stderr.log"), `mg-team: ${redact(spawnError.message)}\n`, { mode: 0o600 });
  } catch {
    // Without a directory, or files to spare, it is told by the exit alone.
  }
  const exited = Promise.resolve({ code: null, signal: null, stopCause: null, seconds: 0, spawnError });
  return { pid: 0, exited, stop: () => exited };
}
