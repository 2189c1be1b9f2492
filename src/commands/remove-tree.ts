import fs from "node:fs";
import { messageOf, systemCodeOf } from "../errors.ts";
import { reasonOf } from "../session/reasons.ts";
import { createBreath, walkTree } from "../session/tree.ts";

/** What a removal could not remove. */
export interface LeftBehind {
  readonly path: string;
  /** In words: "not permitted". */
  readonly why: string;
}

/** Bytes of all files below a directory; links are not followed, and what cannot be read counts nothing. */
export async function sizeOfTree(root: string): Promise<number> {
  let bytes = 0;
  for await (const entry of walkTree(root, { depth: 10_000, entries: 10_000_000 }, () => true)) {
    if (entry.kind === "file") bytes += entry.bytes;
  }
  return bytes;
}

/**
 * Removes a directory with all that is in it, and goes on where something cannot be removed. Links are removed, never followed; directories that
 * were made read-only, as package caches are, are opened first.
 * @param last a name in the directory itself that goes last: its lock
 * @returns what is left, empty when all is gone
 */
export async function removeTree(root: string, last: string): Promise<readonly LeftBehind[]> {
  const left: LeftBehind[] = [];
  const report = (path: Buffer, error: unknown) => {
    // The parents of what is left are not empty: no news.
    if (systemCodeOf(error) !== "ENOTEMPTY") left.push({ path: path.toString(), why: reasonOf(error) || messageOf(error) });
  };
  const breath = createBreath();
  const directories: Buffer[] = [Buffer.from(root)];
  const kept: Buffer[] = [];
  for (let index = 0; index < directories.length; index++) {
    const directory = directories[index];
    if (!directory) continue;
    await breath();
    for (const name of namesIn(directory, report)) {
      const path = Buffer.concat([directory, slash, name]);
      if (index === 0 && name.toString() === last) kept.push(path);
      else if (isDirectory(path)) directories.push(path);
      else
        attempt(
          directory,
          () => fs.unlinkSync(path),
          (error) => report(path, error),
        );
    }
  }
  for (const directory of directories.slice(1).reverse()) remove(directory, report);
  if (left.length > 0) return left;
  for (const path of kept)
    attempt(
      root,
      () => fs.unlinkSync(path),
      (error) => report(path, error),
    );
  remove(Buffer.from(root), report);
  return left;
}

// --- internal ---

const slash = Buffer.from("/");

/** Names as bytes: they need not be UTF-8. Looks once more that it is no link before it goes in. */
function namesIn(directory: Buffer, report: (path: Buffer, error: unknown) => void): Buffer[] {
  let names: Buffer[] = [];
  const read = () => {
    if (isDirectory(directory)) names = fs.readdirSync(directory, { encoding: "buffer" });
  };
  attempt(directory, read, (error) => report(directory, error));
  return names;
}

function remove(directory: Buffer, report: (path: Buffer, error: unknown) => void): void {
  const parent = directory.subarray(0, directory.lastIndexOf(slash));
  attempt(
    parent,
    () => fs.rmdirSync(directory),
    (error) => report(directory, error),
  );
}

/** Tries it, and where rights are missing once more with rights to the directory. */
function attempt(directory: Buffer | string, work: () => void, onError: (error: unknown) => void): void {
  try {
    work();
  } catch (error) {
    if (systemCodeOf(error) === "ENOENT") return;
    try {
      if (systemCodeOf(error) !== "EACCES") throw error;
      fs.chmodSync(directory, 0o700);
      work();
    } catch {
      onError(error);
    }
  }
}

function isDirectory(path: Buffer): boolean {
  return fs.lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
