import fs from "node:fs";
import { dirname } from "node:path";
import { systemCodeOf } from "../../errors.ts";
import { writeAllSync } from "../../session/atomic.ts";
import { writeError } from "../../session/reasons.ts";

/**
 * Writes a file of the user's, with the directories above it, unless something of that name is there. Nothing is left of one that could not be
 * written whole. Throws a TeamError (write).
 * @returns whether it was written
 */
export function writeNewFile(path: string, text: string): boolean {
  makeDirectoryFor(path);
  let file: number;
  try {
    file = fs.openSync(path, "wx");
  } catch (error) {
    if (systemCodeOf(error) === "EEXIST") return false;
    throw writeError("write", path, error);
  }
  try {
    writeAllSync(file, Buffer.from(text));
    return true;
  } catch (error) {
    fs.rmSync(path, { force: true });
    throw writeError("write", path, error);
  } finally {
    fs.closeSync(file);
  }
}

/** Makes the directory of a file of the user's, with their usual permissions. Throws a TeamError (write). */
export function makeDirectoryFor(path: string): void {
  try {
    fs.mkdirSync(dirname(path), { recursive: true });
  } catch (error) {
    throw writeError("make the directory", dirname(path), error);
  }
}
