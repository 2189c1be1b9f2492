import fs from "node:fs";
import { dirname } from "node:path";
import { type Clock, systemClock } from "../clock.ts";
import { systemCodeOf, TeamError } from "../errors.ts";
import { plural } from "../text.ts";
import { syncDirectory, writeAllSync } from "./atomic.ts";
import { hasEventShape } from "./event-shape.ts";
import type { EventBody, TeamEvent } from "./events.ts";
import { hintOf, reasonOf, writeError } from "./reasons.ts";
import { readRegularFile } from "./regular-file.ts";
import { fitJson } from "./shorten.ts";

/** `events.jsonl`: one event a line, only ever appended to. */
export interface Journal {
  readonly path: string;
  /**
   * Adds the envelope and writes the line. Long strings are shortened until it is below 8 KiB.
   * @param options durable: on disk when this returns (fsync); for what must survive a power cut: money, actions, decisions
   * @throws LineTooLong when that is not enough; TeamError `write`, for a durable line also when the file is not in its place any more; the line is then not in the journal, not
   * even a part of it, and its number is not used up
   */
  append(body: EventBody, options?: { readonly durable?: boolean }): TeamEvent;
  /** Idempotent. Makes what is not durable yet so, and throws TeamError `write` when a write turns out to have failed. */
  close(): void;
}

/** An event has more parts than a line of the journal takes, however short its texts are made. */
export class LineTooLong extends Error {
  override readonly name = "LineTooLong";

  constructor(type: EventBody["type"]) {
    super(`an event ${type} does not fit into a line of the journal`);
  }
}

export interface JournalContent {
  readonly events: readonly TeamEvent[];
  /** The last line was cut off by a crash; it is not among the events. */
  readonly torn: boolean;
  /** Lines that are no events (a damaged disk, an editor), those behind the last event excepted; 0 normally. */
  readonly damaged: number;
}

export interface JournalOptions {
  /** Seconds that mg-team has worked on the run. */
  readonly elapsed: () => number;
  readonly clock?: Clock;
}

/**
 * Opens a journal for appending, created when missing. A torn last line is cut off first, so that the next one is not glued to it; numbers
 * go on behind the last event. Only the holder of the run's lock may do this.
 * @throws TeamError `write`
 */
export function openJournal(path: string, { elapsed, clock = systemClock }: JournalOptions): Journal {
  let file: number | null = null;
  try {
    const created = !fs.existsSync(path);
    file = fs.openSync(path, fs.constants.O_RDWR | fs.constants.O_CREAT | fs.constants.O_APPEND, 0o600);
    if (created) syncDirectory(dirname(path));
    const { whole, seq } = parse(fs.readFileSync(path));
    if (whole < fs.fstatSync(file).size) cutTo(file, whole);
    return new FileJournal(path, file, seq, whole, elapsed, clock);
  } catch (error) {
    if (file !== null) fs.closeSync(file);
    throw writeError("open the journal", path, error);
  }
}

/**
 * Reads a journal, of a live run too; an empty one when there is none.
 * @throws TeamError `preflight` when it cannot be read
 */
export function readJournal(path: string): JournalContent {
  try {
    return parse(readRegularFile(path)).content;
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(systemCodeOf(error) ?? "")) return { events: [], torn: false, damaged: 0 };
    throw new TeamError("preflight", `cannot read the journal ${path}: ${reasonOf(error)}`, hintOf(error), { cause: error });
  }
}

/** What to say where such lines are missed. */
export function damagedLines(damaged: number): string {
  return `events.jsonl has ${plural(damaged, "damaged line")}; what ${damaged === 1 ? "it" : "they"} said is missing here`;
}

// --- internal ---

/** Longest line in bytes, its newline included: below 8 KiB a line is written in one piece (reliability.md, "State"). */
const lineBytes = 8191;

class FileJournal implements Journal {
  /** A failed write left a part of its line behind, and cutting it off failed too. */
  private torn = false;
  /** Something was written that no fsync has followed. */
  private unsynced = false;

  constructor(
    readonly path: string,
    private file: number | null,
    private seq: number,
    /** Size of the file up to the last whole line. */
    private size: number,
    private readonly elapsed: () => number,
    private readonly clock: Clock,
  ) {}

  append(body: EventBody, options: { readonly durable?: boolean } = {}): TeamEvent {
    if (this.file === null) throw new Error(`the journal is closed; ${body.type} came too late`);
    const elapsed = Math.round(this.elapsed() * 1000) / 1000;
    const event: TeamEvent = { v: 1, seq: this.seq + 1, ts: new Date(this.clock.date()).toISOString(), elapsed, ...body };
    const json = fitJson(event, lineBytes - 1);
    if (json === null) throw new LineTooLong(body.type);
    const line = Buffer.from(`${json}\n`);
    try {
      if (this.torn) cutTo(this.file, this.size);
      this.torn = false;
      if (options.durable) this.requirePlace(this.file);
      this.unsynced = true;
      writeAllSync(this.file, line);
      if (options.durable) this.sync(this.file);
    } catch (error) {
      this.takeBack(this.file);
      throw writeError("write to the journal", this.path, error);
    }
    this.size += line.length;
    this.seq += 1;
    // What readers of the file will see, shortened or not.
    return json === JSON.stringify(event) ? event : (JSON.parse(json) as TeamEvent);
  }

  close(): void {
    const file = this.file;
    this.file = null;
    if (file === null) return;
    try {
      if (this.unsynced) this.sync(file); // Bun tells no errors of close (seen with 1.4.5)
    } catch (error) {
      throw writeError("write to the journal", this.path, error);
    } finally {
      fs.closeSync(file);
    }
  }

  /** Lines in a file that has been removed, or moved away, would be lost without an error. Throws the system's error. */
  private requirePlace(file: number): void {
    const [there, ours] = [fs.statSync(this.path), fs.fstatSync(file)];
    if (there.ino !== ours.ino) throw Object.assign(new Error("another file is in its place"), { code: "ENOENT" });
  }

  private sync(file: number): void {
    fs.fdatasyncSync(file);
    this.unsynced = false;
  }

  private takeBack(file: number): void {
    try {
      cutTo(file, this.size);
    } catch {
      this.torn = true; // the next append, or the next opening, tries again
    }
  }
}

function cutTo(file: number, size: number): void {
  fs.ftruncateSync(file, size);
  fs.fsyncSync(file);
}

// `whole` is where the last line ends that is an event; what is behind it is torn.
/** `whole`: bytes up to the end of the last event; `seq`: its number, also where it is of no use. */
function parse(bytes: Buffer): { content: JournalContent; whole: number; seq: number } {
  const events: TeamEvent[] = [];
  let whole = 0;
  let seq = 0;
  let bad = 0;
  let damaged = 0;
  let start = 0;
  for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
    const event = parseEvent(bytes.toString("utf8", start, end));
    start = end + 1;
    if (event === null) bad += 1;
    else {
      const usable = hasEventShape(event);
      if (usable) events.push(event);
      damaged += usable ? bad : bad + 1;
      bad = 0;
      whole = start;
      seq = event.seq;
    }
  }
  return { content: { events, torn: whole < bytes.length, damaged }, whole, seq };
}

function parseEvent(line: string): TeamEvent | null {
  try {
    const event: unknown = JSON.parse(line);
    const { v, seq, ts, elapsed, type } = event as Readonly<Record<string, unknown>>;
    const whole = v === 1 && Number.isInteger(seq) && typeof ts === "string" && typeof elapsed === "number" && typeof type === "string";
    return whole ? (event as TeamEvent) : null;
  } catch {
    return null;
  }
}
