import fs from "node:fs";

/** A process that is alive; zombies are never among them. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  /** Process group. */
  readonly group: number;
}

/**
 * All live processes. Zombies are left out: `kill(pid, 0)` counts them as alive, which makes a stop wait for ever where nobody reaps
 * (PID 1 of a container; reliability.md, "Stopping"). Linux reads /proc; elsewhere `ps` is asked.
 */
export function listProcesses(): ProcessEntry[] {
  return hasProc ? processIds().flatMap((pid) => statOf(pid) ?? []) : listByPs();
}

/** Live members of a process group. */
export function groupMembers(group: number): number[] {
  return listProcesses()
    .filter((entry) => entry.group === group)
    .map((entry) => entry.pid);
}

/**
 * Live processes whose environment at their start had `variable` at one of `values`; never this process or its ancestors.
 * Finds children that left their group and session (setsid). Only where there is a /proc; elsewhere nothing is found.
 */
export function findMarked(variable: string, values?: ReadonlySet<string>): MarkedProcess[] {
  if (!hasProc) return [];
  const spared = ancestors();
  return processIds().flatMap((pid) => {
    const value = spared.has(pid) ? null : markOf(pid, variable);
    return value !== null && (!values || values.has(value)) && statOf(pid) ? [{ pid, value }] : [];
  });
}

export interface MarkedProcess {
  readonly pid: number;
  readonly value: string;
}

/** The arguments that a process was started with; empty when it is gone or not ours to read. */
export function argumentsOf(pid: number): string[] {
  if (!hasProc) return ps("args=", "-p", String(pid)).trim().split(/\s+/); // words with spaces fall apart
  const text = read(`/proc/${pid}/cmdline`)?.toString() ?? "";
  return text === "" ? [] : text.replace(/\0$/, "").split("\0");
}

/** Sends a signal to a process, or to a group when `pid` is negative. A process that is gone is no error. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone, or (a set-user-ID program) not ours to signal: the sweep that follows would see it.
  }
}

// --- internal ---

/** It answers at once, or never (a network disk that hangs); nothing else of ours goes on meanwhile. */
const psMilliseconds = 5000;

const hasProc = process.platform === "linux" && fs.existsSync("/proc/self/stat");

function processIds(): number[] {
  return fs.readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
}

function statOf(pid: number): ProcessEntry | null {
  const stat = read(`/proc/${pid}/stat`)?.toString("latin1");
  // The name, in brackets, may hold anything, brackets too.
  const [state, parent, group] = stat?.slice(stat.lastIndexOf(")") + 2).split(" ") ?? [];
  if (state === undefined || state === "Z" || state === "X" || state === "x") return null;
  return { pid, parent: Number(parent), group: Number(group) };
}

function markOf(pid: number, variable: string): string | null {
  const environment = read(`/proc/${pid}/environ`);
  if (!environment) return null;
  const name = `${variable}=`;
  for (let at = environment.indexOf(name); at >= 0; at = environment.indexOf(name, at + 1)) {
    if (at > 0 && environment[at - 1] !== 0) continue;
    const end = environment.indexOf(0, at);
    return environment.toString("utf8", at + name.length, end < 0 ? undefined : end);
  }
  return null;
}

function ancestors(): Set<number> {
  const spared = new Set<number>();
  for (let pid = process.pid; pid > 0 && !spared.has(pid); pid = statOf(pid)?.parent ?? 0) spared.add(pid);
  return spared;
}

// Processes come and go while we look, and those of others cannot be read.
function read(path: string): Buffer | null {
  try {
    return fs.readFileSync(path);
  } catch {
    return null;
  }
}

function listByPs(): ProcessEntry[] {
  return ps("pid=,ppid=,pgid=,stat=", "-A")
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields.length >= 4 && !fields[3]?.startsWith("Z"))
    .map(([pid, parent, group]) => ({ pid: Number(pid), parent: Number(parent), group: Number(group) }));
}

function ps(columns: string, ...which: string[]): string {
  const options = { stdin: "ignore", stderr: "ignore", env: process.env, timeout: psMilliseconds, killSignal: "SIGKILL" } as const;
  return Bun.spawnSync(["ps", ...which, "-o", columns], options).stdout.toString();
}
