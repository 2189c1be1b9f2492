import { randomBytes } from "node:crypto";
import fs from "node:fs";
import { basename, dirname, join } from "node:path";
import { writeError } from "./reasons.ts";

/**
 * Writes a file that is whole or absent, whatever kills us in between: temporary file, fsync, rename, fsync of the directory
 * (reliability.md, "State"). An older file of that name stays until the new one is whole.
 * @param mode permissions of the new file; owner only by default
 * @throws TeamError `write` with path and reason; the temporary file is gone then
 */
export async function writeFileAtomic(path: string, data: string | Uint8Array, mode = 0o600): Promise<void> {
  // Synchronous inside: the files are small, and nothing else of ours can come between the steps.
  writeFileAtomicSync(path, data, mode);
}

/** As {@link writeFileAtomic}, for places that cannot wait (signal handlers). */
export function writeFileAtomicSync(path: string, data: string | Uint8Array, mode = 0o600): void {
  writeThenRename(path, data, mode, true);
}

/** As {@link writeFileAtomicSync} without the two fsyncs: whole or absent whatever kills this process, but not after a power cut. */
export function writeFileWholeSync(path: string, data: string | Uint8Array, mode = 0o600): void {
  writeThenRename(path, data, mode, false);
}

/**
 * Makes a directory for our own files, and those above it; one that exists is fine. Readable by its owner only.
 * @throws TeamError `write` with path and reason
 */
export function makeDirectory(path: string): void {
  try {
    fs.mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw writeError("make the directory", path, error);
  }
}

/** Writes all bytes to an open file; the system may take fewer at a time. Throws the system's error. */
export function writeAllSync(file: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += fs.writeSync(file, bytes, done, bytes.length - done);
}

/** Makes names in a directory survive a power cut. Throws the system's error. */
export function syncDirectory(path: string): void {
  if (process.platform === "win32") return; // directories cannot be opened there
  const directory = fs.openSync(path, "r");
  try {
    fs.fsyncSync(directory);
  } catch (error) {
    // Some network and FUSE file systems know no fsync of a directory.
    if (!["EINVAL", "ENOTSUP", "ENOSYS"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  } finally {
    fs.closeSync(directory);
  }
}

/** Removes what writers that were killed left behind. Only for directories that no other process writes to at the moment. */
export function removeTemporaries(directory: string): void {
  for (const name of fs.readdirSync(directory)) {
    if (temporaryPattern.test(name)) fs.rmSync(join(directory, name), { force: true });
  }
}

// --- internal ---

const temporaryPattern = /^\..+\.[0-9a-f]{12}\.tmp$/;

function writeThenRename(path: string, data: string | Uint8Array, mode: number, durable: boolean): void {
  const temporary = temporaryName(path);
  try {
    const file = fs.openSync(temporary, "wx", mode);
    try {
      writeAllSync(file, typeof data === "string" ? Buffer.from(data) : data);
      if (durable) fs.fsyncSync(file);
    } finally {
      fs.closeSync(file);
    }
    fs.renameSync(temporary, path);
    if (durable) syncDirectory(dirname(path));
  } catch (error) {
    removeQuietly(temporary);
    throw writeError("write", path, error);
  }
}

// The first error is the one to report.
function removeQuietly(path: string): void {
  try {
    fs.rmSync(path, { force: true });
  } catch {
    // Left for removeTemporaries.
  }
}

function temporaryName(path: string): string {
  return join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}.tmp`);
}
