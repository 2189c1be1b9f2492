import fs from "node:fs";
import { setImmediate } from "node:timers/promises";
import { plural } from "../text.ts";
import { reasonOf } from "./reasons.ts";

/** What stands in a directory that other programs wrote. */
export type TreeEntry = {
  /** Relative to the root, `/` between names; bytes of a name that are not UTF-8 show as U+FFFD. */
  readonly path: string;
  /** The same with one character for each byte (latin1): opens and sorts whatever the names are. */
  readonly bytePath: string;
} & (
  | { readonly kind: "file"; readonly bytes: number; readonly executable: boolean }
  | { readonly kind: "directory"; readonly empty: boolean }
  | { readonly kind: "link" }
  /** Not to be used; `why` completes "FILE is not in the deliverable: …". */
  | { readonly kind: "refused"; readonly why: string }
);

/** How much of a tree is looked at. */
export interface WalkLimits {
  /** Names between the root and an entry. */
  readonly depth: number;
  /** Entries of all kinds. */
  readonly entries: number;
}

/** How an untrusted file is opened: no link is followed, and a pipe without a writer does not hang us. Absent on Windows. */
export const openFlags = fs.constants.O_RDONLY | (fs.constants.O_NOFOLLOW ?? 0) | (fs.constants.O_NONBLOCK ?? 0);

/**
 * Everything below a directory: names in the order of their bytes, a directory followed by what it holds. Links are named and never followed; the
 * root itself must be no link; one that cannot be read is the only entry, `.`. Lets other work run every few milliseconds.
 * @param enter whether to look into a directory
 */
export async function* walkTree(root: string, limits: WalkLimits, enter: (directory: TreeEntry) => boolean): AsyncGenerator<TreeEntry> {
  const breath = createBreath();
  // The next one is last. Not recursive: the depth of an untrusted tree must not be ours.
  const waiting: { readonly bytePath: string; readonly depth: number }[] = [];
  const push = (names: readonly string[], parent: string, depth: number) => {
    for (const name of names.toReversed()) waiting.push({ bytePath: parent === "" ? name : `${parent}/${name}`, depth });
  };
  try {
    push(fs.lstatSync(root, { throwIfNoEntry: false })?.isDirectory() ? namesIn(root, "") : [], "", 1);
  } catch (error) {
    yield { path: ".", bytePath: ".", kind: "refused", why: `it cannot be read (${reasonOf(error)})` };
  }
  for (let seen = 0, next = waiting.pop(); next; next = waiting.pop()) {
    await breath();
    const { bytePath, depth } = next;
    if (++seen > limits.entries) {
      yield { path: textOf(bytePath), bytePath, kind: "refused", why: `there are more than ${limits.entries} files and directories` };
      return;
    }
    const { entry, names } = look(root, bytePath, depth, limits);
    yield entry;
    if (entry.kind === "directory" && enter(entry)) push(names, bytePath, depth + 1);
  }
}

/** The absolute path of an entry, as system calls take it. */
export function nativePath(root: string, bytePath: string): Buffer {
  return Buffer.concat([Buffer.from(root), Buffer.from(bytePath === "" ? "" : `/${bytePath}`, "latin1")]);
}

/** A byte path as people read it. */
export function textOf(bytePath: string): string {
  return Buffer.from(bytePath, "latin1").toString("utf8");
}

/** Makes a function to await inside long loops: every 20 ms it lets timers and signals have their turn. */
export function createBreath(milliseconds = 20): () => Promise<void> {
  let last = performance.now();
  return async () => {
    if (performance.now() - last < milliseconds) return;
    await setImmediate();
    last = performance.now();
  };
}

// --- internal ---

function look(root: string, bytePath: string, depth: number, limits: WalkLimits): { entry: TreeEntry; names: readonly string[] } {
  const names = { path: textOf(bytePath), bytePath };
  const refused = (why: string) => ({ entry: { ...names, kind: "refused", why } as const, names: [] });
  if (depth > limits.depth) return refused(`it lies more than ${plural(limits.depth, "directory", "directories")} deep`);
  try {
    const facts = fs.lstatSync(nativePath(root, bytePath));
    if (facts.isSymbolicLink()) return { entry: { ...names, kind: "link" }, names: [] };
    if (facts.isFile()) return { entry: { ...names, kind: "file", bytes: facts.size, executable: (facts.mode & 0o111) !== 0 }, names: [] };
    if (!facts.isDirectory()) return refused(`it is a ${specialKind(facts)}`);
    const inside = namesIn(root, bytePath);
    return { entry: { ...names, kind: "directory", empty: inside.length === 0 }, names: inside };
  } catch (error) {
    return refused(`it cannot be read (${reasonOf(error)})`);
  }
}

function namesIn(root: string, bytePath: string): readonly string[] {
  return fs
    .readdirSync(nativePath(root, bytePath), { encoding: "buffer" })
    .map((name) => name.toString("latin1"))
    .sort();
}

function specialKind(facts: fs.Stats): string {
  if (facts.isFIFO()) return "pipe";
  if (facts.isSocket()) return "socket";
  return facts.isBlockDevice() || facts.isCharacterDevice() ? "device" : "special file";
}
