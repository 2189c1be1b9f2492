import { realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { shellWord, splitCommand } from "../text.ts";
import type { ContextPath } from "../types.ts";

/** Paths as people write them. Nothing here throws. */

/** An absolute path. Relative ones start at `base`; a leading `~/` is the home directory, as it stays unexpanded in files and after `=`. */
export function absolute(path: string, base: string): string {
  return resolve(base, /^~(\/|$)/.test(path) ? join(homedir(), path.slice(1)) : path);
}

/** A path for people: relative to `base` when it lies below it, else as it is. */
export function shown(path: string, base: string): string {
  const short = relative(base, path);
  return short === "" || short.startsWith("..") || isAbsolute(short) ? path : short;
}

/** `./docs` may be read, `./docs:rw` also written. */
export function readContext(text: string, base: string): ContextPath {
  const [, path = text, mode = "ro"] = /^(.+?):(rw|ro)$/s.exec(text) ?? [];
  return { path: absolute(path, base), permission: mode === "rw" ? "write" : "read" };
}

/**
 * A command line in which every path of a file is absolute; names that are found on PATH stay as they are. A text that as a whole is the
 * path of a file is that file, spaces or not. The result is for `splitCommand`; null when there is no word, or a quote stays open.
 */
export function readCommand(text: string, base: string): string | null {
  const whole = absolute(text.trim(), base);
  if (text.includes("/") && isFile(whole)) return shellWord(whole);
  const [program, ...rest] = splitCommand(text) ?? [];
  if (program === undefined || program === "") return null;
  const operands = rest.map((word) => (word.includes("/") && isFile(absolute(word, base)) ? absolute(word, base) : word));
  return [program.includes("/") ? absolute(program, base) : program, ...operands].map(shellWord).join(" ");
}

/** Whether a path is a file, not a directory or a pipe. */
export function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  } catch {
    return false; // links in a circle, a name that is too long, or no permission to look
  }
}

/** Whether a path lies in a directory, by its name or by where its links lead. */
export function isInside(path: string, directory: string): boolean {
  const below = (inner: string, outer: string) => {
    const way = relative(outer, inner);
    return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
  };
  return below(path, directory) || below(real(path), real(directory));
}

/** Where the links of a path lead; the path itself when it does not exist. */
export function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}
