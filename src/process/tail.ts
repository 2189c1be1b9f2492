import fs from "node:fs";
import { LineSplitter } from "./lines.ts";

/** Default size of one log file, in bytes; see {@link LogTail}. */
export const defaultLogCapBytes = 32 * 1024 * 1024;

/**
 * Follows a log that a child writes by itself (file-backed, append mode), delivers its lines in order, and keeps it below a cap: when the
 * file outgrows it, the middle is cut out and marked; its first half and the newest lines stay. Children in append mode go on at the new end.
 * Between two looks a file may outgrow the cap by what the child writes meanwhile (measured: see test/faults/flood.test.ts).
 */
export class LogTail {
  private readonly file: number;
  private readonly splitter: LineSplitter;
  private readonly block = Buffer.allocUnsafe(blockBytes);
  /** Where the next unread byte is. */
  private offset: number;
  /** Size of the file when this child began; what was there before is neither read nor cut. */
  private begin: number;
  /** The bytes before `offset`: when they have changed, somebody emptied the file (`> /dev/stderr`) and it has grown again. */
  private before: Buffer = Buffer.alloc(0);
  private cut = 0;

  /** Opens the log, which must exist. Kept open: the child may put something else in its place. Throws the system's error. */
  constructor(
    readonly path: string,
    private readonly capBytes: number,
    onLine: (line: string) => void,
  ) {
    this.file = fs.openSync(path, fs.constants.O_RDWR | fs.constants.O_APPEND);
    this.begin = this.offset = fs.fstatSync(this.file).size;
    this.splitter = new LineSplitter(onLine);
  }

  /**
   * Delivers new lines, for about 10 ms at most.
   * @returns "idle" when there was nothing new, "read" when all was read, "behind" when more is waiting
   */
  poll(): "idle" | "read" | "behind" {
    const size = fs.fstatSync(this.file).size;
    if (size < this.offset || (size > this.offset && this.wasRewritten())) this.restart();
    if (size - this.begin > this.capBytes) this.cutMiddle();
    const until = performance.now() + sliceMilliseconds;
    for (let any = false; ; any = true) {
      const count = fs.readSync(this.file, this.block, 0, blockBytes, this.offset);
      if (count === 0) return any ? "read" : "idle";
      this.offset += count;
      this.remember(this.block.subarray(0, count));
      this.splitter.push(this.block.subarray(0, count));
      if (performance.now() > until) return "behind";
    }
  }

  /** The newest bytes of the log, at most `bytes`, as text. */
  newest(bytes: number): string {
    const size = fs.fstatSync(this.file).size;
    const buffer = Buffer.alloc(Math.min(bytes, size));
    return buffer.toString("utf8", 0, fs.readSync(this.file, buffer, 0, buffer.length, size - buffer.length));
  }

  /** Delivers everything up to the end, a last line without newline too, then closes. The child must have ended. */
  async finish(): Promise<void> {
    try {
      const end = fs.fstatSync(this.file).size;
      while (this.poll() === "behind" && this.offset < end) await new Promise((resolve) => setImmediate(resolve));
      this.splitter.flush();
    } finally {
      this.close();
    }
  }

  close(): void {
    fs.closeSync(this.file);
  }

  private restart(): void {
    this.splitter.flush();
    this.offset = this.begin = 0;
    this.before = Buffer.alloc(0);
  }

  private remember(bytes: Buffer): void {
    const joined = bytes.length >= fingerprintBytes ? bytes : Buffer.concat([this.before, bytes]);
    this.before = Buffer.from(joined.subarray(-fingerprintBytes));
  }

  private wasRewritten(): boolean {
    const now = Buffer.alloc(this.before.length);
    const count = fs.readSync(this.file, now, 0, now.length, this.offset - now.length);
    return count !== now.length || !now.equals(this.before);
  }

  // Keeps the first half of the cap and the newest lines; reading goes on behind what is cut, with the mark as a line of its own.
  private cutMiddle(): void {
    const size = fs.fstatSync(this.file).size;
    const head = this.begin + Math.floor(this.capBytes / 2);
    const newest = Buffer.alloc(Math.min(keptBytes, Math.floor(this.capBytes / 4)));
    const count = fs.readSync(this.file, newest, 0, newest.length, size - newest.length);
    const line = newest.indexOf(10);
    const kept = newest.subarray(line < 0 ? count : line + 1, count);
    fs.ftruncateSync(this.file, head);
    this.cut += size - head - kept.length;
    const mark = Buffer.from(`\n[mg-team: about ${this.cut} bytes were cut here, the log had outgrown ${this.capBytes} bytes]\n`);
    const unread = size - this.offset;
    fs.writeSync(this.file, Buffer.concat([mark, kept]));
    if (this.offset <= head) return; // the mark comes when reading gets there
    if (unread >= kept.length) {
      this.splitter.reset();
      this.offset = head + 1;
    } else this.offset = head + mark.length + kept.length - unread; // what was delivered is not delivered again
    this.before = Buffer.alloc(0);
  }
}

// --- internal ---

const blockBytes = 64 * 1024;
const keptBytes = 64 * 1024;
const fingerprintBytes = 32;
const sliceMilliseconds = 10;
