import { readFileSync } from "node:fs";

/** The signals that end a program, and how mg-team takes them (reliability.md, "Signals and terminals"). Ctrl-Z is left alone. */

export type SignalName = "SIGINT" | "SIGTERM" | "SIGHUP";

/** A signal that has arrived. */
export interface StopSignal {
  readonly name: SignalName;
  /** 130, 143, 129: what mg-team exits with. */
  readonly exitCode: 130 | 143 | 129;
  /** Another one came before: stop at once instead of in good order. */
  readonly again: boolean;
}

export type SignalListener = (signal: StopSignal) => void;

export interface Signals {
  /**
   * Calls back for each signal from now on; returns a function that ends it. While nobody listens, a signal ends the program at once, with
   * its exit code: there is nothing to put in order.
   */
  onSignal(listener: SignalListener): () => void;
  /** The first signal that came; null before. */
  readonly first: StopSignal | null;
  /** Gives the signals back to the system. */
  dispose(): void;
}

/** How signals reach us and how the program ends; a test brings its own. */
export interface SignalHost {
  on(name: SignalName, handler: () => void): unknown;
  off(name: SignalName, handler: () => void): unknown;
  exit(code: number): void;
  /** The text of /proc/self/status; null where there is none. */
  status(): string | null;
}

/**
 * Takes over INT, TERM and HUP; to be called before anything else. A signal that our parent had set to be ignored stays ignored, or
 * `nohup` would not work.
 */
export function installSignals(host: SignalHost = processHost): Signals {
  const listeners = new Set<SignalListener>();
  let first: StopSignal | null = null;
  const receive = (name: SignalName): void => {
    const signal: StopSignal = { name, exitCode: exitCodes[name], again: first !== null };
    first ??= signal;
    if (listeners.size === 0) host.exit(signal.exitCode);
    for (const listener of [...listeners]) listener(signal);
  };
  const ignored = ignoredSignals(host.status() ?? "");
  const handlers = names.filter((name) => !ignored.has(name)).map((name) => ({ name, handler: () => receive(name) }));
  for (const { name, handler } of handlers) host.on(name, handler);
  return {
    onSignal(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    get first() {
      return first;
    },
    dispose() {
      for (const { name, handler } of handlers) host.off(name, handler);
    },
  };
}

/** The signals that a process ignores, by the `SigIgn` mask of its /proc status. */
export function ignoredSignals(status: string): ReadonlySet<SignalName> {
  const mask = BigInt(`0x${/^SigIgn:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? "0"}`);
  return new Set(names.filter((name) => ((mask >> BigInt(numbers[name] - 1)) & 1n) === 1n));
}

// --- internal ---

const names: readonly SignalName[] = ["SIGINT", "SIGTERM", "SIGHUP"];
const numbers: Readonly<Record<SignalName, number>> = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 };
const exitCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

// Kept from before plugins: they are not allowed to exit, signals are.
const exitNow = process.exit.bind(process);

const processHost: SignalHost = {
  on: (name, handler) => process.on(name, handler),
  off: (name, handler) => process.off(name, handler),
  exit: exitNow,
  status() {
    try {
      return readFileSync("/proc/self/status", "latin1");
    } catch {
      return null;
    }
  },
};
