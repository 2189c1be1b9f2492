import fs from "node:fs";
import type { WriteStream } from "node:tty";
import { systemCodeOf } from "../errors.ts";

/** A terminal to draw on. */
export interface Terminal {
  /** Its size by now; 80 by 24 where it does not say. */
  readonly columns: number;
  readonly rows: number;
  /** Writes, or keeps the text while the terminal takes none (Ctrl-S, a network that hangs): never waits, never throws. */
  write(text: string): void;
  /** Some text is still kept: there is no point in drawing. */
  readonly stuck: boolean;
  /** Whether it is ours to draw on: not while the shell has put us into the background. */
  readonly foreground: boolean;
  /** @returns stops telling */
  onResize(listener: () => void): () => void;
  /**
   * Ctrl-Z and Ctrl-\: `before` leaves the terminal usable, `after` follows when we go on.
   * @returns stops telling
   */
  onPause(before: () => void, after: () => void): () => void;
  /** Calls back at the very end of the process, whatever ends it but a kill -9. */
  onExit(listener: () => void): () => void;
  /** Hands the terminal back: what is still kept is written, waiting if it must. */
  close(): void;
}

/**
 * The terminal behind a stream of this process.
 * @param stream process.stderr or process.stdout
 * @param descriptor its number, 2 or 1
 */
export function openTerminal(stream: WriteStream, descriptor: 1 | 2): Terminal {
  const file = openAgain(descriptor);
  let kept = Buffer.alloc(0);
  const flush = () => {
    if (file !== null && kept.length > 0) kept = kept.subarray(writeSome(file, kept));
  };
  const timer = setInterval(flush, retryMilliseconds);
  timer.unref();
  return {
    get columns() {
      return stream.columns || 80;
    },
    get rows() {
      return stream.rows || 24;
    },
    write(text) {
      if (file === null) stream.write(text);
      else {
        kept = Buffer.concat([kept, Buffer.from(text)]);
        flush();
      }
    },
    get stuck() {
      return kept.length > 0;
    },
    get foreground() {
      return isForeground();
    },
    onResize: (listener) => listen(stream, "resize", listener),
    onPause: followPauses,
    onExit: (listener) => listen(process, "exit", listener),
    close() {
      clearInterval(timer);
      flush();
      if (kept.length > 0) stream.write(kept);
      kept = Buffer.alloc(0);
      if (file !== null) fs.closeSync(file);
    },
  };
}

/** Whether our process group owns its terminal (fields 5 and 8 of /proc/self/stat): the shell has not put us into the background. True where nothing is known. */
export function isForeground(): boolean {
  try {
    const stat = fs.readFileSync("/proc/self/stat", "latin1");
    const [, , group, , , owner] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return owner === "-1" || group === owner;
  } catch {
    return true;
  }
}

// --- internal ---

const retryMilliseconds = 100;

/**
 * A descriptor of our own that never blocks: a write to a stopped terminal through the stream holds up everything, deadlines included (seen
 * under Bun 1.4.5: 4 s of Ctrl-S are 4 s without a tick). Null where there is none to have; the stream must do then.
 */
function openAgain(descriptor: number): number | null {
  const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = fs.constants;
  if (O_NONBLOCK === undefined) return null;
  const path = process.platform === "linux" ? `/proc/self/fd/${descriptor}` : "/dev/tty";
  try {
    return fs.openSync(path, O_WRONLY | O_NONBLOCK | (O_NOCTTY ?? 0));
  } catch {
    return null;
  }
}

/** How many bytes were taken; all of them when the terminal is gone, so that nothing piles up. */
function writeSome(file: number, bytes: Buffer): number {
  let done = 0;
  try {
    while (done < bytes.length) done += fs.writeSync(file, bytes, done);
    return done;
  } catch (error) {
    return systemCodeOf(error) === "EAGAIN" ? done : bytes.length;
  }
}

/** What our parent set to be ignored stays ignored. */
function ignoredPauses(): ReadonlySet<"SIGTSTP" | "SIGQUIT"> {
  try {
    const mask = BigInt(`0x${/^SigIgn:\s*([0-9a-f]+)$/m.exec(fs.readFileSync("/proc/self/status", "latin1"))?.[1] ?? "0"}`);
    const numbers = { SIGQUIT: 3n, SIGTSTP: 20n } as const;
    return new Set((["SIGTSTP", "SIGQUIT"] as const).filter((name) => ((mask >> (numbers[name] - 1n)) & 1n) === 1n));
  } catch {
    return new Set();
  }
}

function followPauses(before: () => void, after: () => void): () => void {
  const ignored = ignoredPauses();
  const onStop = () => pass("SIGTSTP");
  const onQuit = () => pass("SIGQUIT");
  // Without our listener the signal does what it always does.
  const pass = (name: "SIGTSTP" | "SIGQUIT") => {
    before();
    stop();
    process.on("SIGCONT", onContinue);
    process.kill(process.pid, name);
  };
  const onContinue = () => {
    process.off("SIGCONT", onContinue);
    start();
    after();
  };
  const start = () => {
    if (!ignored.has("SIGTSTP")) process.on("SIGTSTP", onStop);
    if (!ignored.has("SIGQUIT")) process.on("SIGQUIT", onQuit);
  };
  const stop = () => {
    process.off("SIGTSTP", onStop);
    process.off("SIGQUIT", onQuit);
  };
  start();
  return () => {
    stop();
    process.off("SIGCONT", onContinue);
  };
}

function listen(emitter: NodeJS.EventEmitter, event: string, listener: () => void): () => void {
  emitter.on(event, listener);
  return () => emitter.off(event, listener);
}
