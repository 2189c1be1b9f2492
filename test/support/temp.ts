import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A directory that is gone at the end of its `using` block: `await using temp = temporaryDirectory()`. */
export interface TemporaryDirectory extends AsyncDisposable {
  /** Absolute, without symbolic links. */
  readonly path: string;
  /** Absolute path of a name below it. */
  join(...names: string[]): string;
  /** Writes a file, its directories included; returns its absolute path. */
  write(name: string, content: string | Uint8Array): string;
}

/** `name` becomes the last part of the path: spaces, accents and newlines are welcome. */
export function temporaryDirectory(name = ""): TemporaryDirectory {
  const outer = realpathSync(mkdtempSync(join(tmpdir(), "mg-team-test-")));
  const path = join(outer, name);
  mkdirSync(path, { recursive: true });
  return {
    path,
    join: (...names) => join(path, ...names),
    write(file, content) {
      mkdirSync(dirname(join(path, file)), { recursive: true });
      writeFileSync(join(path, file), content);
      return join(path, file);
    },
    async [Symbol.asyncDispose]() {
      rmSync(outer, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Resolves when the condition holds; looks every 10 ms. Rejects after `seconds` (default 20) with `what`. */
export async function until(condition: () => boolean, what: string, seconds = 20): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`waited ${seconds} s for ${what}`);
    await Bun.sleep(10);
  }
}

/** Resolves when the path exists. */
export function untilExists(path: string, seconds?: number): Promise<void> {
  return until(() => existsSync(path), path, seconds);
}

/** Whether a process exists and is no zombie. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return !stateOf(pid).startsWith("Z");
}

/** Resolves when none of the processes is alive. */
export function untilGone(pids: readonly number[], seconds?: number): Promise<void> {
  return until(() => !pids.some(isAlive), `the end of ${pids.filter(isAlive).join(", ")}`, seconds);
}

// --- internal ---

function stateOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat.slice(stat.lastIndexOf(")") + 2);
  } catch {
    return "";
  }
}
