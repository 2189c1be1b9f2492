import { randomUUID } from "node:crypto";
import { closeSync, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, systemClock } from "../clock.ts";
import { TeamError } from "../errors.ts";
import { type ChildExit, startChild } from "../process/child.ts";
import { childEnvironment } from "../process/environment.ts";
import { reasonOf } from "../session/reasons.ts";

/** How a short command ended, with what it printed. */
export interface Captured {
  readonly exit: ChildExit;
  /** At most 1 MiB each; bytes that are not UTF-8 become U+FFFD. */
  readonly stdout: string;
  readonly stderr: string;
  /** It was stopped because the limit was reached. */
  readonly timedOut: boolean;
}

export interface CaptureOptions {
  /** The caller's environment; what would harm a child is left out. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Seconds after which the command and all that it started are stopped. */
  readonly limitSeconds: number;
  readonly clock?: Clock;
  /** See ChildSpec. */
  readonly makesContainers?: boolean;
}

/**
 * Runs a short command (`massgen --help`, `docker info`) to its end, in a temporary directory of its own and with a closed stdin.
 * Never rejects over what the command does: an exit code, a time limit or a missing program are data. Rejects with a TeamError
 * `preflight` when there is no room for its directory.
 */
export async function capture(argv: readonly string[], options: CaptureOptions): Promise<Captured> {
  const directory = makeDirectory();
  const clock = options.clock ?? systemClock;
  const done = new AbortController();
  try {
    const spec = {
      argv,
      cwd: directory,
      env: childEnvironment(options.env),
      logDir: directory,
      cookie: randomUUID(),
      logCapBytes: longest,
      makesContainers: options.makesContainers ?? true,
    };
    const child = startChild(spec, clock);
    let timedOut = false;
    const limit = clock.sleep(options.limitSeconds, done.signal).then(() => {
      if (done.signal.aborted) return;
      timedOut = true;
      return child.stop("timeout");
    });
    const exit = await child.exited;
    done.abort();
    await limit;
    return { exit, stdout: readHead(join(directory, "stdout.log")), stderr: readHead(join(directory, "stderr.log")), timedOut };
  } finally {
    done.abort();
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
  }
}

// --- internal ---

const longest = 1024 * 1024;

function makeDirectory(): string {
  try {
    return mkdtempSync(join(tmpdir(), "mg-team-"));
  } catch (error) {
    const hint = "Free some space there, or name another directory: export TMPDIR=…";
    throw new TeamError("preflight", `no temporary directory can be made in ${tmpdir()}: ${reasonOf(error)}`, hint);
  }
}

function readHead(path: string): string {
  try {
    const file = openSync(path, "r");
    try {
      const bytes = Buffer.alloc(longest);
      return bytes.toString("utf8", 0, readSync(file, bytes, 0, longest, 0));
    } finally {
      closeSync(file);
    }
  } catch {
    return "";
  }
}
