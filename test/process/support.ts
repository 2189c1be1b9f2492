import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import type { Clock } from "../../src/clock.ts";
import { type Child, type ChildSpec, startChild } from "../../src/process/child.ts";
import { childEnvironment, cookieVariable } from "../../src/process/environment.ts";
import { findMarked } from "../../src/process/processes.ts";
import { type TemporaryDirectory, temporaryDirectory, until } from "../support/temp.ts";

export interface TestChild extends Child {
  /** What was delivered so far, stream by stream. */
  readonly lines: { readonly stdout: string[]; readonly stderr: string[] };
  readonly cookie: string;
  /** Resolves when stdout has delivered that line. */
  saw(line: string): Promise<void>;
}

/** A place to start children in; at its end nothing of them may be alive. */
export interface Ground extends TemporaryDirectory {
  readonly cookie: string;
  /** Starts `sh -c script`. */
  sh(script: string, spec?: Partial<ChildSpec>, clock?: Clock): TestChild;
  start(argv: readonly string[], spec?: Partial<ChildSpec>, clock?: Clock): TestChild;
}

/** Makes a {@link Ground}: `await using ground = testGround()`. Its end fails the test when a process of it is still alive. */
export function testGround(name = "run"): Ground {
  const temp = temporaryDirectory(name);
  const cookie = randomBytes(16).toString("hex");
  const children: Child[] = [];
  const start = (argv: readonly string[], spec: Partial<ChildSpec> = {}, clock?: Clock): TestChild => {
    const lines = { stdout: [] as string[], stderr: [] as string[] };
    const onLine = (stream: "stdout" | "stderr", line: string) => void lines[stream].push(line);
    const logDir = spec.logDir ?? temp.path;
    mkdirSync(logDir, { recursive: true });
    const base = { argv, cwd: temp.path, env: childEnvironment(), cookie, onLine };
    const child = startChild({ ...base, ...spec, logDir }, clock);
    children.push(child);
    const saw = (line: string) => until(() => lines.stdout.includes(line), `the line ${line}`);
    return { pid: child.pid, exited: child.exited, stop: child.stop.bind(child), lines, cookie, saw };
  };
  return {
    ...temp,
    cookie,
    start,
    sh: (script, spec, clock) => start(["sh", "-c", script], spec, clock),
    async [Symbol.asyncDispose]() {
      await Promise.all(children.map((child) => child.stop("the end of the test", { now: true })));
      const left = livingWith(cookie);
      for (const pid of left) process.kill(pid, "SIGKILL");
      await temp[Symbol.asyncDispose]();
      if (left.length > 0) throw new Error(`${left.length} processes were left alive`);
    },
  };
}

/** Pids of live processes that carry a cookie, shims included. */
export function livingWith(cookie: string): number[] {
  return findMarked(cookieVariable, new Set([cookie])).map(({ pid }) => pid);
}

/** A clock that a test moves. Sleepers wake when time has come. */
export function manualClock(): Clock & { advance(seconds: number): void; stepDate(seconds: number): void } {
  let now = 1000;
  let date = Date.now();
  const sleepers = new Set<() => void>();
  return {
    now: () => now,
    date: () => date,
    sleep: (seconds, signal) =>
      new Promise((resolve) => {
        const end = now + seconds;
        const wake = () => {
          if (now < end && !signal?.aborted) return;
          sleepers.delete(wake);
          signal?.removeEventListener("abort", wake);
          resolve();
        };
        sleepers.add(wake);
        signal?.addEventListener("abort", wake);
        wake();
      }),
    advance(seconds) {
      now += seconds;
      date += seconds * 1000;
      for (const wake of [...sleepers]) wake();
    },
    stepDate(seconds) {
      date += seconds * 1000;
    },
  };
}
