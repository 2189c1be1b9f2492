import { Database } from "bun:sqlite";
import fs from "node:fs";
import { basename, join } from "node:path";
import { systemCodeOf, TeamError } from "../errors.ts";
import { removeTemporaries, writeFileAtomicSync } from "./atomic.ts";
import { isDenied, writeError } from "./reasons.ts";
import { readRegularText } from "./regular-file.ts";

/** Holds a run for this process. Freed by `close`, and by the end of the process, even by `kill -9`. */
export interface Lock extends AsyncDisposable {
  close(): void;
}

/** Who works on a run, for messages; never a reason to signal that pid. */
export interface Holder {
  readonly pid: number;
  /** ISO 8601. */
  readonly started: string;
}

/**
 * Takes the lock of a team directory: one process at a time works on a run.
 * @throws TeamError `locked` that names the holder; `write` when the directory cannot be written to
 */
export function acquireLock(teamDir: string): Lock {
  const database = lockedDatabase(teamDir);
  if (!database) throw lockedError(teamDir);
  const lock = new FileLock(database, join(teamDir, holderFile));
  try {
    removeTemporaries(teamDir);
    for (const path of directoriesIn(teamDir)) removeTemporariesBelow(path);
    writeFileAtomicSync(join(teamDir, holderFile), `${JSON.stringify({ pid: process.pid, started: new Date().toISOString() })}\n`);
  } catch (error) {
    lock.close();
    throw writeError("lock", teamDir, error);
  }
  return lock;
}

/**
 * Does some work on a run that nobody works on, and keeps others out meanwhile.
 * @returns false when somebody works on it; `work` is not called then
 * @throws TeamError `write`, and what `work` throws
 */
export async function whileUnlocked(teamDir: string, work: () => Promise<void>): Promise<boolean> {
  const database = lockedDatabase(teamDir, 0);
  if (!database) return false;
  try {
    await work();
    return true;
  } finally {
    database.close();
  }
}

/** Whether a process works on the run right now. Never throws: what cannot be locked is not worked on by us. */
export function isLocked(teamDir: string): boolean {
  if (!fs.existsSync(join(teamDir, lockFile))) return false;
  try {
    const database = lockedDatabase(teamDir, 0);
    database?.close();
    return database === null;
  } catch {
    return false;
  }
}

/** Who held the lock last and did not give it back: the live holder, or one that crashed; null when none. */
export function readHolder(teamDir: string): Holder | null {
  try {
    const holder: unknown = JSON.parse(readRegularText(join(teamDir, holderFile), 64 * 1024));
    const { pid, started } = holder as Readonly<Record<string, unknown>>;
    return typeof pid === "number" && typeof started === "string" ? { pid, started } : null;
  } catch {
    return null;
  }
}

/** Forgets a holder that crashed. Only while nobody works on the run. */
export function forgetHolder(teamDir: string): void {
  fs.rmSync(join(teamDir, holderFile), { force: true });
}

// --- internal ---

/** Everywhere that we write to: not in the session directory, and not in what steps make for themselves in hidden directories. */
function removeTemporariesBelow(directory: string, depth = 3): void {
  try {
    removeTemporaries(directory);
    if (depth > 0) for (const path of directoriesIn(directory)) removeTemporariesBelow(path, depth - 1);
  } catch (error) {
    // A step made it so in its working directory. What lies there hurts nobody; a run that nobody can take up again would.
    if (!isDenied(error)) throw error;
  }
}

function directoriesIn(directory: string): readonly string[] {
  const theirs = ["session", "deliverable", "winner", "workspace"];
  return fs
    .readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith(".") && !theirs.includes(entry.name))
    .map(({ name }) => join(directory, name));
}

// Nothing else may open this file: closing any descriptor of it would free the lock of this process (POSIX record locks).
const lockFile = ".lock";
const holderFile = ".holder.json";

// The sweep of another start may look into the lock for a moment.
const patienceMilliseconds = 1000;

// A database that nothing refers to is closed by the garbage collector, and its lock with it.
const held = new Set<FileLock>();

class FileLock implements Lock {
  constructor(
    private readonly database: Database,
    private readonly holder: string,
  ) {
    held.add(this);
  }

  close(): void {
    if (!held.delete(this)) return;
    try {
      fs.rmSync(this.holder, { force: true });
    } catch {
      // The next start takes the run for one that crashed, sweeps it, and finds nothing.
    }
    this.database.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }
}

// Null when another process, or another lock of this one, holds it.
function lockedDatabase(teamDir: string, patience = patienceMilliseconds): Database | null {
  let database: Database | null = null;
  try {
    const path = join(teamDir, lockFile);
    // Whoever brings a run along could make us change a file of theirs.
    if (fs.lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) throw new Error(`${lockFile} is a link; remove it`);
    database = new Database(path, { create: true, readwrite: true });
    fs.chmodSync(path, 0o600);
    database.run(`PRAGMA busy_timeout = ${patience}`);
    database.run("PRAGMA journal_mode = MEMORY");
    database.run("BEGIN EXCLUSIVE");
    return database;
  } catch (error) {
    database?.close();
    if (systemCodeOf(error)?.startsWith("SQLITE_BUSY")) return null;
    throw writeError("lock", teamDir, error);
  }
}

function lockedError(teamDir: string): TeamError {
  const holder = readHolder(teamDir);
  const who = holder ? `process ${holder.pid}, started ${new Date(holder.started).toLocaleString("sv-SE")}` : "another process";
  const id = basename(teamDir);
  return new TeamError("locked", `${who} is working on ${id}`, `Wait until it ends, or watch it: mg-team status ${id}`);
}
