import type { SpawnError } from "./launch.ts";

/** A program to run under supervision. All paths are absolute. */
export interface ChildSpec {
  readonly argv: readonly string[];
  /** Working directory. */
  readonly cwd: string;
  /** The whole environment, usually from `childEnvironment`; the cookie and PWD are set here. */
  readonly env: Readonly<Record<string, string>>;
  /** Exists; stdout.log, stderr.log (appended to) and exit.json appear in it. */
  readonly logDir: string;
  /** Marks everything of a run; in the environment as MG_TEAM_COOKIE. */
  readonly cookie: string;
  /** Largest size of each log file in bytes; 32 MiB by default. */
  readonly logCapBytes?: number;
  /** False for a program that makes no containers: docker, which may be what hangs, is not asked about any when it has been stopped. */
  readonly makesContainers?: boolean;
  /** Removes secrets: from delivered lines, and from the logs once the child has ended. */
  readonly redact?: (text: string) => string;
  /** A line of output, without its line end; in order within a stream. May not throw. */
  onLine?(stream: "stdout" | "stderr", line: string): void;
}

/** How a child ended. */
export interface ChildExit {
  /** 0-255; null when a signal ended it or it could not be started. */
  readonly code: number | null;
  /** `SIGTERM`, …; null when it exited by itself. */
  readonly signal: string | null;
  /** The first cause given to `stop` while it ran; null when it ended by itself. */
  readonly stopCause: string | null;
  /** Wall clock from its start to its end. */
  readonly seconds: number;
  /** Why it could not be started; then code and signal are null. */
  readonly spawnError: SpawnError | null;
  /** What went wrong around it (a log that could not be read or cleaned, a process that would not die), one line each. */
  readonly warnings?: readonly string[];
}

export interface Child {
  /** Also its process group; 0 when it could not be spawned. */
  readonly pid: number;
  /** Never rejects; resolves when all lines are delivered and nothing of the child is alive. */
  readonly exited: Promise<ChildExit>;
  /**
   * TERM to the group, CONT, 5 s of grace, KILL, sweep. Idempotent, the first cause wins; `now` kills at once, also when a
   * graceful stop is under way.
   */
  stop(cause: string, options?: { readonly now?: boolean }): Promise<ChildExit>;
}
