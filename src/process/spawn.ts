import fs from "node:fs";
import { join } from "node:path";
import { reasonOf } from "../session/reasons.ts";
import type { ChildSpec } from "./child-types.ts";
import { childVariable, cookieVariable } from "./environment.ts";
import { exitFile } from "./exit.ts";
import { type SpawnError, spawnErrorOf } from "./launch.ts";
import { shimCommand } from "./shim.ts";
import { defaultLogCapBytes, LogTail } from "./tail.ts";

/** A process that has just been started, and what we hold of it. */
export interface Spawned {
  /** The child's mark. */
  readonly id: string;
  /** Absolute path of the program. */
  readonly program: string;
  readonly process: Bun.Subprocess;
  /** Our end of the control pipe; null on Windows, where there is no shim. */
  readonly control: number | null;
  readonly tails: readonly LogTail[];
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
}

/** Starts the program behind the shim, with its output in files. Errors come as data; nothing is left open then. */
export function spawnChild(spec: ChildSpec, program: string, id: string): Spawned | { error: SpawnError } {
  const files: number[] = [];
  const tails: LogTail[] = [];
  try {
    const logs = openLogs(spec, files, tails);
    if ("error" in logs) return logs;
    const startedAt = Date.now();
    const subprocess = Bun.spawn(commandOf(spec, program, id, startedAt), {
      cwd: spec.cwd,
      // A stale PWD would send programs that trust it to our own directory.
      env: { ...spec.env, PWD: spec.cwd, [cookieVariable]: spec.cookie, ...(windows ? { [childVariable]: id } : {}) },
      stdio: ["ignore", logs.stdout, logs.stderr, ...(windows ? [] : (["pipe"] as const))],
      detached: !windows,
      windowsHide: true,
    });
    const control = subprocess.stdio[3];
    return { id, program, process: subprocess, control: typeof control === "number" ? control : null, tails: tails.splice(0), startedAt };
  } catch (error) {
    return { error: spawnErrorOf(error, spec.argv) };
  } finally {
    for (const file of files) fs.closeSync(file);
    for (const tail of tails) tail.close();
  }
}

// --- internal ---

const windows = process.platform === "win32";

function openLogs(spec: ChildSpec, files: number[], tails: LogTail[]): { stdout: number; stderr: number } | { error: SpawnError } {
  try {
    removeOldRecord(join(spec.logDir, exitFile));
    const open = (stream: "stdout" | "stderr") => {
      const path = join(spec.logDir, `${stream}.log`);
      const file = fs.openSync(path, "a", 0o600);
      files.push(file);
      const deliver = (line: string) => spec.onLine?.(stream, spec.redact ? spec.redact(line) : line);
      tails.push(new LogTail(path, spec.logCapBytes ?? defaultLogCapBytes, deliver));
      return file;
    };
    return { stdout: open("stdout"), stderr: open("stderr") };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "UNKNOWN";
    return { error: { code, message: `cannot open the logs in ${spec.logDir}: ${reasonOf(error)}` } };
  }
}

/** Of an earlier start in this directory. Not `rmSync`: Bun 1.4.5 reports a disk's error there as EFAULT. */
function removeOldRecord(path: string): void {
  try {
    fs.unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

function commandOf(spec: ChildSpec, program: string, id: string, startedAt: number): string[] {
  if (windows) return [program, ...spec.argv.slice(1)];
  return shimCommand({ directory: spec.logDir, id, startedAt: new Date(startedAt).toISOString(), program, argv: spec.argv });
}
