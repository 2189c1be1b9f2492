import { createHash, randomBytes } from "node:crypto";
import fs from "node:fs";
import { basename, dirname, join } from "node:path";
import { messageOf, systemCodeOf } from "../errors.ts";
import { syncDirectory, writeAllSync } from "./atomic.ts";
import { reasonOf, writeError } from "./reasons.ts";
import { createBreath, nativePath, openFlags, textOf } from "./tree.ts";
import type { LeftOut, PlannedFile, TreePlan } from "./tree-plan.ts";

/** A file that was copied. */
export interface CopiedFile {
  /** Relative, `/` between names. */
  readonly path: string;
  /** 0 for a link. */
  readonly bytes: number;
  /** Hexadecimal; null for a link. */
  readonly sha256: string | null;
  /** Where a link points, relative to its own directory; null for a file. */
  readonly link: string | null;
}

/**
 * Copies what was planned into a directory that exists and is empty. Files are readable by their owner only, and executable where they were.
 * No fsync for each: there may be very many, and after a power cut a resume copies them again from the session.
 * @param goOn called before each file; what it throws ends the copy
 * @throws TeamError `write` when the target cannot be written; what cannot be read is left out and reported
 */
export async function copyPlanned(
  root: string,
  plan: TreePlan,
  to: string,
  goOn: () => void = () => {},
): Promise<{ files: readonly CopiedFile[]; leftOut: readonly LeftOut[] }> {
  const breath = createBreath();
  const files: CopiedFile[] = [];
  const leftOut: LeftOut[] = [...plan.leftOut];
  const made = new Set<string>([""]);
  for (const directory of plan.emptyDirectories) await attempt(to, directory, leftOut, async () => makeDirectories(to, directory, made));
  for (const entry of plan.files) {
    await breath();
    goOn();
    await attempt(to, entry.bytePath, leftOut, async () => {
      makeDirectories(to, parentOf(entry.bytePath), made);
      files.push(entry.kind === "link" ? copyLink(entry, to) : await copyFile(root, entry, to, breath));
    });
  }
  return { files, leftOut };
}

/**
 * Puts a directory in place that is whole or absent: built under another name beside its place, then renamed over.
 * @param build fills the new directory; false when there is nothing to put in place, and then an older one goes too
 * @throws TeamError `write`
 */
export async function replaceDirectory(to: string, build: (directory: string) => Promise<boolean>): Promise<void> {
  const name = join(dirname(to), `.${basename(to)}.${randomBytes(6).toString("hex")}`);
  const [fresh, old] = [`${name}.new`, `${name}.old`];
  try {
    fs.mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
    removeLeftovers(to);
    fs.mkdirSync(fresh, { mode: 0o700 });
    const filled = await build(fresh);
    const before = fs.lstatSync(to, { throwIfNoEntry: false }) !== undefined;
    if (before) fs.renameSync(to, old);
    if (filled) putInPlace(fresh, to, before ? old : null);
    syncDirectory(dirname(to));
  } catch (error) {
    throw systemCodeOf(error) === undefined ? error : writeError("write", to, error);
  } finally {
    for (const path of [fresh, old]) removeQuietly(path);
  }
}

// --- internal ---

const chunkBytes = 1024 * 1024;

/** A name that this disk cannot take costs that file, not the rest. */
const unfit = new Set(["EEXIST", "EINVAL", "EILSEQ", "ENAMETOOLONG"]);

class Unreadable extends Error {}

async function attempt(to: string, bytePath: string, leftOut: LeftOut[], work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const path = textOf(bytePath);
    if (error instanceof Unreadable) leftOut.push({ path, why: `it cannot be read (${messageOf(error)})` });
    else if (unfit.has(systemCodeOf(error) ?? "")) leftOut.push({ path, why: `this disk does not take its name (${reasonOf(error)})` });
    else throw systemCodeOf(error) === undefined ? error : writeError("write", join(to, path), error);
  }
}

function makeDirectories(to: string, bytePath: string, made: Set<string>): void {
  if (made.has(bytePath)) return;
  makeDirectories(to, parentOf(bytePath), made);
  fs.mkdirSync(nativePath(to, bytePath), { mode: 0o700 });
  made.add(bytePath);
}

function parentOf(bytePath: string): string {
  return bytePath.slice(0, Math.max(0, bytePath.lastIndexOf("/")));
}

function copyLink({ path, bytePath, target }: PlannedFile & { kind: "link" }, to: string): CopiedFile {
  fs.symlinkSync(Buffer.from(target, "latin1"), nativePath(to, bytePath));
  return { path, bytes: 0, sha256: null, link: textOf(target) };
}

// The source is opened without following links and looked at again: it may have changed since the plan was made.
async function copyFile(root: string, entry: PlannedFile & { kind: "file" }, to: string, breath: () => Promise<void>): Promise<CopiedFile> {
  const from = reading(() => fs.openSync(nativePath(root, entry.bytePath), openFlags));
  try {
    if (!reading(() => fs.fstatSync(from)).isFile()) throw new Unreadable("it is no regular file any more");
    const target = nativePath(to, entry.bytePath);
    const file = fs.openSync(target, "wx", entry.executable ? 0o700 : 0o600);
    try {
      const { bytes, sha256 } = await pump(from, file, entry.bytes, breath);
      return { path: entry.path, bytes, sha256, link: null };
    } catch (error) {
      if (error instanceof Unreadable) fs.rmSync(target, { force: true });
      throw error;
    } finally {
      fs.closeSync(file);
    }
  } finally {
    fs.closeSync(from);
  }
}

/** No more than planned: a file that grows meanwhile must not go past the limits. */
async function pump(from: number, file: number, most: number, breath: () => Promise<void>): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash("sha256");
  const chunk = Buffer.allocUnsafe(Math.max(1, Math.min(chunkBytes, most)));
  let bytes = 0;
  while (bytes < most) {
    const count = reading(() => fs.readSync(from, chunk, 0, Math.min(chunk.length, most - bytes), null));
    if (count === 0) break;
    const part = chunk.subarray(0, count);
    hash.update(part);
    writeAllSync(file, part);
    bytes += count;
    await breath();
  }
  return { bytes, sha256: hash.digest("hex") };
}

function reading<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new Unreadable(reasonOf(error));
  }
}

function putInPlace(fresh: string, to: string, old: string | null): void {
  try {
    fs.renameSync(fresh, to);
  } catch (error) {
    if (old !== null) fs.renameSync(old, to);
    throw error;
  }
}

/** What a writer that was killed left behind; the run's lock says that nobody else writes here. */
function removeLeftovers(to: string): void {
  const ours = (name: string) => name.startsWith(`.${basename(to)}.`) && /\.[0-9a-f]{12}\.(new|old)$/.test(name);
  for (const name of fs.readdirSync(dirname(to))) if (ours(name)) removeQuietly(join(dirname(to), name));
}

function removeQuietly(path: string): void {
  try {
    fs.rmSync(path, { recursive: true, force: true });
  } catch {
    // Nothing reads it; the next run removes it.
  }
}
