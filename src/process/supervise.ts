import fs from "node:fs";
import { join } from "node:path";
import type { Clock } from "../clock.ts";
import { messageOf } from "../errors.ts";
import { writeFileAtomic } from "../session/atomic.ts";
import type { Child, ChildExit, ChildSpec } from "./child-types.ts";
import { removeContainers } from "./containers.ts";
import { containersOfClient } from "./docker-client.ts";
import { childVariable } from "./environment.ts";
import { exitFile, formatExitRecord, readExitRecord } from "./exit.ts";
import { execErrorOf, type SpawnError } from "./launch.ts";
import { endLeftovers, killAll } from "./leftovers.ts";
import { argumentsOf, findMarked, groupMembers, signalProcess } from "./processes.ts";
import { scrubLogs } from "./scrub.ts";
import { shimName } from "./shim.ts";
import type { Spawned } from "./spawn.ts";
import { taskkill } from "./windows.ts";

/** Seconds between TERM and KILL. */
export const graceSeconds = 5;

/** A child with what `killAllNow` needs. */
export interface Supervised extends Child {
  /** Its mark. */
  readonly id: string;
  /** KILLs its group at once. */
  killGroup(): void;
}

/** Watches over a process until it and all it started are gone. See `startChild`. */
export function supervise(spec: ChildSpec, spawned: Spawned, clock: Clock): Supervised {
  return new Supervisor(spec, spawned, clock);
}

// --- internal ---

class Supervisor implements Supervised {
  readonly pid: number;
  readonly id: string;
  readonly exited: Promise<ChildExit>;
  private readonly startedAt: number;
  private readonly urgent = new AbortController();
  private readonly warnings = new Set<string>();
  private stopCause: string | null = null;
  private stopping = false;
  private running = true;
  /** Nothing was left of its group: the number may be another's by now. */
  private groupGone = false;
  private readonly containers = new Set<string>();

  constructor(
    private readonly spec: ChildSpec,
    private readonly spawned: Spawned,
    private readonly clock: Clock,
  ) {
    this.pid = spawned.process.pid;
    this.id = spawned.id;
    this.startedAt = clock.now();
    this.exited = this.run().catch((error) => this.accident(error));
  }

  stop(cause: string, options: { readonly now?: boolean } = {}): Promise<ChildExit> {
    if (this.running) this.stopCause ??= cause;
    if (options.now) {
      this.urgent.abort();
      if (this.running) {
        this.leftovers();
        this.killGroup();
      }
    }
    if (this.running && !this.stopping) {
      this.stopping = true;
      this.endGracefully();
    }
    return this.exited;
  }

  killGroup(): void {
    if (process.platform === "win32") taskkill(this.pid, true);
    else if (!this.groupGone) signalProcess(-this.pid, "SIGKILL");
  }

  private async endGracefully(): Promise<void> {
    if (process.platform !== "win32" && this.leftovers().length === 0) await this.atWork(); // usually the signal is sent before stop returns
    if (this.urgent.signal.aborted || !this.running) return;
    if (process.platform === "win32") taskkill(this.pid, false);
    else {
      signalProcess(-this.pid, "SIGTERM");
      signalProcess(-this.pid, "SIGCONT"); // a stopped process sees TERM only when it goes on
    }
    const over = new AbortController();
    this.spawned.process.exited.finally(() => over.abort());
    await this.clock.sleep(graceSeconds, AbortSignal.any([over.signal, this.urgent.signal]));
    if (this.running) this.killGroup();
  }

  // Resolves when the program is there, after 1 s at the latest: a TERM that comes while the shell still starts it would be lost.
  private async atWork(): Promise<void> {
    for (let look = 0; look < 200 && this.running && !this.urgent.signal.aborted; look++) {
      if (this.leftovers().length > 0) return;
      await napMilliseconds(5, this.urgent.signal);
    }
  }

  private async run(): Promise<ChildExit> {
    const followed = new AbortController();
    const following = this.follow(followed.signal);
    await this.spawned.process.exited;
    const seconds = this.clock.now() - this.startedAt;
    this.running = false;
    await this.attempt(() => this.sweep());
    followed.abort();
    await following;
    const end = this.readEnd();
    const spawnError = this.spawnError(end);
    for (const tail of this.spawned.tails) await this.attempt(() => tail.finish());
    if (!spawnError) await this.attempt(() => this.keepRecord(end, seconds));
    await this.attempt(() => this.clean(end));
    const { redact = (text: string) => text } = this.spec;
    const warnings = [...this.warnings].map(redact);
    const { code, signal } = spawnError ? { code: null, signal: null } : end;
    return { code, signal, stopCause: this.stopCause, seconds, spawnError, ...(warnings.length > 0 ? { warnings } : {}) };
  }

  // Nothing is known of its end: that is no success.
  private accident(error: unknown): ChildExit {
    const seconds = this.clock.now() - this.startedAt;
    return {
      code: null,
      signal: null,
      stopCause: this.stopCause,
      seconds,
      spawnError: null,
      warnings: [...this.warnings, messageOf(error)],
    };
  }

  // Every 100 ms, more often while lines come.
  private async follow(over: AbortSignal): Promise<void> {
    for (let pause = 20; !over.aborted; ) {
      await napMilliseconds(pause, over);
      const states = this.spawned.tails.map((tail) => {
        try {
          return tail.poll();
        } catch (error) {
          this.warnings.add(`cannot read ${tail.path}: ${messageOf(error)}`);
          return "idle";
        }
      });
      pause = states.includes("behind") ? 0 : states.includes("read") ? 20 : Math.min(100, pause * 1.5 + 1);
    }
  }

  private async sweep(): Promise<void> {
    if (process.platform === "win32") return;
    await endLeftovers(() => this.leftovers(), this.urgent.signal);
    this.killGroup(); // the shim's watcher is all that is left
    const gone = await killAll(() => this.group());
    if (!gone) this.warnings.add(`a process of ${this.spec.argv[0]} cannot be ended`);
  }

  // Everything of the child that is alive, the shim left out.
  private leftovers(): number[] {
    if (process.platform === "win32") return [];
    const marked = findMarked(childVariable, new Set([this.id])).map(({ pid }) => pid);
    const group = this.group().filter((pid) => !argumentsOf(pid).includes(shimName(this.id)));
    const pids = [...new Set([...marked, ...group])];
    // While a docker client lives, its command line tells which container is ours.
    for (const pid of pids) for (const name of containersOfClient(pid)) this.containers.add(name);
    return pids;
  }

  // The number of a group is free for others as soon as nobody is in it, and pids come round quickly.
  private group(): number[] {
    if (this.groupGone) return [];
    const members = groupMembers(this.pid);
    this.groupGone = members.length === 0 && !this.running;
    return members;
  }

  // From the shim by the control pipe; when the shim was killed too, by what killed it.
  private readEnd(): End {
    const { control, process: shim } = this.spawned;
    const signal = shim.signalCode === null ? null : String(shim.signalCode);
    if (control === null) return { code: shim.exitCode, signal, known: true };
    const buffer = Buffer.alloc(64);
    let status = "";
    try {
      status = buffer.toString("latin1", 0, fs.readSync(control, buffer)).trim();
    } catch {
      // Nothing was sent: EAGAIN, or the end of the pipe.
    }
    fs.closeSync(control);
    if (signal) return { code: null, signal, known: true };
    if (status === "") return { code: null, signal: null, known: false };
    const record = readExitRecord(this.spec.logDir);
    if (record) return { ...record, known: true };
    this.warnings.add(`${join(this.spec.logDir, exitFile)} could not be written, or not be read`);
    return { code: Number(status), signal: null, known: true };
  }

  private spawnError(end: End): SpawnError | null {
    if (this.spawned.control === null || this.stopCause !== null) return null;
    const name = this.spec.argv[0];
    if (!end.known) return { code: "EAGAIN", message: `cannot start ${name}: the system refuses another process` };
    if (end.code !== 126 && end.code !== 127) return null;
    const message = this.shellMessage();
    return message === null ? null : execErrorOf(message, this.spawned.program);
  }

  // The shell prints under its own name only when it could not run the program.
  private shellMessage(): string | null {
    const log = fs.readFileSync(join(this.spec.logDir, "stderr.log"), "utf8");
    const line = log
      .slice(-4096)
      .split("\n")
      .find((text) => text.startsWith(`${shimName(this.id)}:`));
    return line?.slice(shimName(this.id).length + 1).trim() ?? null;
  }

  // A killed shim leaves no record; a resume shall find one all the same.
  private async keepRecord(end: End, seconds: number): Promise<void> {
    if (readExitRecord(this.spec.logDir) || (end.code === null && end.signal === null)) return;
    const { startedAt } = this.spawned;
    await writeFileAtomic(join(this.spec.logDir, exitFile), formatExitRecord({ ...end, startedAt, endedAt: startedAt + seconds * 1000 }));
  }

  private async clean(end: End): Promise<void> {
    if (this.spec.redact) for (const problem of await scrubLogs(this.spec.logDir, this.spec.redact)) this.warnings.add(problem);
    if (this.spec.makesContainers === false) return;
    if (this.stopCause === null && end.signal === null && this.containers.size === 0) return;
    const { logDir, env } = this.spec;
    const { startedAt } = this.spawned;
    await removeContainers({ marks: [this.id], directory: logDir, names: [...this.containers], startedAt }, env);
  }

  private async attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.warnings.add(messageOf(error));
    }
  }
}

interface End {
  readonly code: number | null;
  readonly signal: string | null;
  /** The shim got as far as running the program. */
  readonly known: boolean;
}

function napMilliseconds(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener("abort", done, { once: true });
  });
}
