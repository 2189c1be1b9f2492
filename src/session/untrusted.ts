import fs from "node:fs";
import { join, sep } from "node:path";
import { messageOf, systemCodeOf } from "../errors.ts";

/**
 * Reading what other programs wrote into directories that we look into: bounded, never waiting on a pipe, never following a link
 * out of the directory. Synchronous, because a snapshot must not be torn apart by other work.
 */

/** What came of reading a file. */
export type UntrustedFile =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "missing" }
  /** There, but not read; `why` completes "the file …": "is larger than 1 MiB". `unreadable`: nobody else could read it either. */
  | { readonly kind: "refused"; readonly why: string; readonly unreadable: boolean };

/**
 * Reads a file of at most `limit` bytes.
 * @param root real path of the directory that a link may not leave
 */
export function readUntrusted(path: string, root: string, limit: number): UntrustedFile {
  let file: number | null = null;
  try {
    file = openInside(path, root);
    const facts = fs.fstatSync(file);
    if (!facts.isFile()) return { kind: "refused", why: "is no regular file", unreadable: true };
    if (facts.size > limit) return { kind: "refused", why: `is larger than ${mebibytes(limit)} MiB`, unreadable: false };
    return { kind: "bytes", bytes: readUpTo(file, facts.size) };
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return { kind: "missing" };
    if (error instanceof LeavesDirectory) return { kind: "refused", why: "is a link that leaves its directory", unreadable: false };
    return { kind: "refused", why: `cannot be read (${messageOf(error)})`, unreadable: code !== "ELOOP" };
  } finally {
    if (file !== null) fs.closeSync(file);
  }
}

/**
 * The last `limit` bytes of a file of any size; null when it is missing, or not to be read.
 * @param root real path of the directory that a link may not leave
 */
export function readUntrustedTail(
  path: string,
  root: string,
  limit: number,
): { readonly bytes: Uint8Array; readonly whole: boolean } | null {
  let file: number | null = null;
  try {
    file = openInside(path, root);
    const facts = fs.fstatSync(file);
    if (!facts.isFile()) return null;
    const start = Math.max(0, facts.size - limit);
    return { bytes: readUpTo(file, facts.size - start, start), whole: start === 0 };
  } catch {
    return null;
  } finally {
    if (file !== null) fs.closeSync(file);
  }
}

/** Names in a directory, or nothing when there is none or it cannot be read. */
export function namesIn(directory: string): string[] {
  try {
    return fs.readdirSync(directory);
  } catch {
    return [];
  }
}

/** Whether a path is a directory itself: no link to one, and none that we are kept from. */
export function isRealDirectory(path: string): boolean {
  try {
    return fs.lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch {
    return false; // links in a circle, or no permission to look
  }
}

/** The path without links, or null when there is nothing. */
export function realPathOf(path: string): string | null {
  try {
    return fs.realpathSync(path);
  } catch {
    return null;
  }
}

/** Whether a real path is the directory or lies below it. */
export function isInside(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : join(directory, sep));
}

/** Text of UTF-8 bytes, a byte order mark included; null when they are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    return null;
  }
}

// --- internal ---

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

class LeavesDirectory extends Error {}

// Absent on Windows. O_NONBLOCK: opening a pipe without a writer would hang.
const flags = fs.constants.O_RDONLY | (fs.constants.O_NOFOLLOW ?? 0) | (fs.constants.O_NONBLOCK ?? 0);

function openInside(path: string, root: string): number {
  try {
    return fs.openSync(path, flags);
  } catch (error) {
    if (systemCodeOf(error) !== "ELOOP") throw error;
  }
  const target = fs.realpathSync(path);
  if (!isInside(target, root)) throw new LeavesDirectory();
  return fs.openSync(target, flags);
}

function readUpTo(file: number, size: number, start = 0): Uint8Array {
  const bytes = Buffer.allocUnsafe(size);
  let done = 0;
  while (done < size) {
    const count = fs.readSync(file, bytes, done, size - done, start + done);
    if (count === 0) break;
    done += count;
  }
  return bytes.subarray(0, done);
}

function mebibytes(bytes: number): number {
  return Math.round((bytes / 1048576) * 10) / 10;
}
