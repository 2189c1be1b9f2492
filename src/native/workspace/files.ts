import fs from "node:fs";
import { join, relative, sep } from "node:path";
import { writeFileAtomicSync } from "../../session/atomic.ts";
import { internalsOf } from "../../session/internals.ts";
import { reasonOf } from "../../session/reasons.ts";
import { type TreeEntry, walkTree } from "../../session/tree.ts";
import { decodeUtf8, namesIn, readUntrusted } from "../../session/untrusted.ts";
import { plural } from "../../text.ts";
import { type FoundText, findShown, harmlessName } from "../data.ts";
import { existing, isClosed, type Place, type Places, placeOf, ToolError, writableTarget } from "./places.ts";

/** How much the tools do at a time. Bytes, unless it says otherwise. */
export const fileLimits = {
  /** Of one file that is written. */
  written: 4 * 1024 ** 2,
  /** Of one file that is read as text. */
  readable: 16 * 1024 ** 2,
  /** Of one file that is copied. */
  copied: 256 * 1024 ** 2,
  /** Of everything that is in the workspace. */
  workspace: 512 * 1024 ** 2,
  /** Files in the workspace. */
  files: 10_000,
  /** Characters of a file in one reply. */
  shown: 40_000,
  /** Entries of a list. */
  listed: 500,
} as const;

/** A part of a text file. */
export interface TextPart {
  readonly place: Place;
  readonly text: string;
  /** In characters. */
  readonly from: number;
  readonly total: number;
}

/** What is below a directory. */
export interface Listing {
  readonly place: Place;
  /** One for each entry; names stand in it as they are on the disk. */
  readonly lines: readonly string[];
}

/** Names and sizes below a directory; what MassGen keeps there for itself is left out. */
export async function listFiles(path: string, places: Places): Promise<Listing> {
  const place = placeOf(path, places);
  const { path: real, stats } = existing(place);
  if (!stats.isDirectory()) return { place, lines: [`${place.name} is a file of ${stats.size} bytes`] };
  const isInternal = place.kind === "context" ? () => false : internalIn(place, real);
  const lines: string[] = [];
  const long = new Set([".git", "node_modules", ".massgen"]);
  const enter = (entry: { readonly path: string }) =>
    !long.has(entry.path.slice(entry.path.lastIndexOf("/") + 1)) && !isClosed(join(real, entry.path), place);
  const limits = { depth: 16, entries: fileLimits.listed };
  for await (const entry of walkTree(real, limits, (directory) => !isInternal(directory) && enter(directory))) {
    if (isInternal(entry)) continue;
    if (entry.kind === "file") lines.push(`${entry.path}  ${entry.bytes} bytes`);
    else if (entry.kind === "directory") lines.push(`${entry.path}/${enter(entry) ? "" : "  (not listed)"}`);
    else lines.push(`${entry.path}  (${entry.kind === "link" ? "a link" : entry.why})`);
  }
  return { place, lines };
}

/** Reads a part of a text file. Throws a ToolError for what is no text. */
export function readText(path: string, places: Places, from: number, length: number): TextPart {
  const place = placeOf(path, places);
  const { path: real, stats } = existing(place);
  if (stats.isDirectory()) throw new ToolError(`${place.name} is a directory; list_files shows what is in it`);
  const text = new TextDecoder().decode(bytesOf(place, real, fileLimits.readable));
  if (text.slice(0, 8192).includes("\0"))
    throw new ToolError(`${place.name} is no text (${plural(stats.size, "byte")}); copy_file can copy it`);
  return { place, text: text.slice(from, from + length).toWellFormed(), from, total: text.length };
}

/** Writes a whole file, and the directories that it needs. */
export function writeText(path: string, places: Places, content: string): string {
  const bytes = Buffer.from(content.toWellFormed());
  const place = placeOf(path, places);
  put(place, bytes, content.startsWith("#!"), roomIn(places.workspace));
  if (place.kind === "own") places.foreign.delete(place.name);
  return `wrote ${place.name} (${bytes.length} bytes)`;
}

/**
 * Replaces a text in a file: the only place where it stands, or with `all` every one. It may be given as `read_file` shows it, with the marks
 * in it broken up. All other bytes stay what they are, so a file that is not UTF-8 is refused.
 */
export function editText(path: string, places: Places, before: string, after: string, all: boolean): string {
  if (before === "") throw new ToolError("old_text is empty; write_file writes a whole file");
  const place = placeOf(path, places);
  const { path: real, stats } = existing(place);
  if (stats.isDirectory()) throw new ToolError(`${place.name} is a directory`);
  const text = decodeUtf8(bytesOf(place, real, fileLimits.readable));
  if (text === null || text.includes("\0")) {
    throw new ToolError(`${place.name} is no text in UTF-8, so edit_file would damage it; it can only be written as a whole`);
  }
  const plain = text.split(before).length - 1;
  const shown = plain === 0 ? findShown(text, before) : [];
  const count = plain + shown.length;
  if (count === 0) throw new ToolError(`old_text does not stand in ${place.name}; read the file again and copy the text letter by letter`);
  if (count > 1 && !all) {
    throw new ToolError(`old_text stands ${count} times in ${place.name}; give more of the text around it, or set replace_all`);
  }
  const edited = plain > 0 ? text.replaceAll(before, () => after) : replaceFound(text, shown, after);
  const bytes = Buffer.from(edited.toWellFormed());
  put(place, bytes, false, roomIn(places.workspace));
  return `edited ${place.name} (${plural(count, "place")}, now ${bytes.length} bytes)`;
}

/**
 * Copies a file, or all files below a directory; links, and what no path of a model can name, are left out. Throws a ToolError also when some
 * files could be copied and some could not: it names both.
 */
export async function copyFiles(from: string, to: string, places: Places): Promise<string> {
  const source = placeOf(from, places);
  const { path: real, stats } = existing(source);
  if (!stats.isDirectory()) {
    const target = placeOf(to.endsWith("/") ? `${to}${source.parts.at(-1) ?? ""}` : to, places);
    put(target, bytesOf(source, real, fileLimits.copied), (stats.mode & 0o111) !== 0, roomIn(places.workspace));
    markForeign(source, target, places);
    return `copied ${source.name} to ${target.name}`;
  }
  const isInternal = internalIn(source, real);
  const found: { readonly path: string; readonly executable: boolean; readonly source: Place; readonly target: Place }[] = [];
  const [skipped, failed]: [string[], string[]] = [[], []];
  const top = to.replace(/\/+$/, "");
  // A target that cannot be at all is said as such, not of each file.
  placeOf(top === "" ? to : top, places);
  const limits = { depth: 64, entries: fileLimits.files };
  const enter = (entry: { readonly path: string }) => !isClosed(join(real, entry.path), source);
  for await (const entry of walkTree(real, limits, (directory) => !isInternal(directory) && enter(directory))) {
    if (entry.kind === "directory" || isInternal(entry)) continue;
    const pair = entry.kind === "file" ? pairOf(entry, source, top, places) : null;
    if (pair !== null) found.push(pair);
    else skipped.push(harmlessName(entry.path));
  }
  // All are known before the first is copied: the target may lie in the source.
  const room = roomIn(places.workspace);
  for (const { path, executable, source: from, target } of found) {
    try {
      put(target, bytesOf(from, join(real, path), fileLimits.copied), executable, room);
      markForeign(from, target, places);
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      failed.push(harmlessName(error.message));
    }
  }
  const copied = `copied ${plural(found.length - failed.length, "file")} from ${source.name}`;
  const left = skipped.length === 0 ? "" : `; left out: ${firstOf(skipped)}`;
  if (failed.length > 0) throw new ToolError(`${copied}${left}; ${plural(failed.length, "file")} could not be copied: ${firstOf(failed)}`);
  if (found.length === 0 && skipped.length > 0) throw new ToolError(`${copied}${left}`);
  return `${copied}${left}`;
}

/** Removes a file, or a directory with all that is in it, from the workspace. */
export function deleteFile(path: string, places: Places): string {
  const place = placeOf(path, places);
  if (place.kind !== "own") throw new ToolError(`${place.name} cannot be deleted: only files of your workspace can`);
  if (place.parts.length === 0) throw new ToolError("the workspace itself cannot be deleted");
  existing(place);
  // The last name may be a link: that is removed itself, not what it leads to.
  existing({ ...place, path: join(place.root, ...place.parts.slice(0, -1)), name: place.parts.slice(0, -1).join("/") || "." });
  fs.rmSync(place.path, { recursive: true });
  return `deleted ${place.name}`;
}

// --- internal ---

/** What is no part of the answer below a directory of a place; of the user's own files, and of the step's, only what is git's. */
function internalIn(place: Place, directory: string): (entry: TreeEntry) => boolean {
  const isInternal = internalsOf(place.root, "nobody");
  const above = relative(place.root, directory).split(sep).join("/");
  return (entry) => isInternal(above === "" ? entry : { ...entry, path: `${above}/${entry.path}` });
}

/** From where to where a file below a directory is copied; null when the tools have no path for it. */
function pairOf(entry: TreeEntry & { readonly kind: "file" }, source: Place, top: string, places: Places) {
  const { path, executable } = entry;
  if (!Buffer.from(path).equals(Buffer.from(entry.bytePath, "latin1"))) return null;
  try {
    const parts = [...source.parts, ...path.split("/")];
    const name = source.name === "." ? path : `${source.name}/${path}`;
    return { path, executable, source: { ...source, parts, name }, target: placeOf(`${top}/${path}`, places) };
  } catch (error) {
    if (error instanceof ToolError) return null;
    throw error;
  }
}

function markForeign(source: Place, target: Place, { foreign }: Places): void {
  if (target.kind !== "own") return;
  if (source.kind !== "own" || foreign.has(source.name)) foreign.add(target.name);
  else foreign.delete(target.name);
}

/** Cut, since others chose the names. */
function firstOf(names: readonly string[]): string {
  const items = names.map((name) => (name.length > 120 ? `${name.slice(0, 119).toWellFormed()}…` : name));
  return items.length <= 10 ? items.join(", ") : `${items.slice(0, 10).join(", ")}, and ${items.length - 10} more`;
}

function replaceFound(text: string, found: readonly FoundText[], after: string): string {
  let [edited, end] = ["", 0];
  for (const { from, to, restore } of found) {
    edited += text.slice(end, from) + restore(after);
    end = to;
  }
  return edited + text.slice(end);
}

function bytesOf(place: Place, real: string, limit: number): Uint8Array {
  const file = readUntrusted(real, place.root, limit);
  if (file.kind === "missing") throw new ToolError(`there is no ${place.name}`);
  if (file.kind === "refused") throw new ToolError(`${place.name} ${file.why}`);
  return file.bytes;
}

function put(place: Place, bytes: Uint8Array, executable: boolean, room: Room): void {
  const most = place.kind === "own" ? fileLimits.copied : fileLimits.written;
  if (bytes.length > most) throw new ToolError(`${place.name} would have ${bytes.length} bytes; ${most} is the most for one file`);
  try {
    const { path, before } = writableTarget(place);
    if (place.kind === "own") room.take(bytes.length - (before?.size ?? 0), before === null);
    writeFileAtomicSync(path, bytes, (before === null ? 0o644 : before.mode & 0o777) | (executable ? 0o111 : 0));
  } catch (error) {
    if (error instanceof ToolError) throw error;
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    throw new ToolError(`${place.name} cannot be written: ${reasonOf(cause)}`);
  }
}

/** What still fits into the workspace. */
interface Room {
  /** Throws a ToolError when it is full. */
  take(bytes: number, anotherFile: boolean): void;
}

function roomIn(workspace: string): Room {
  const used = sizeOf(workspace);
  return {
    take(bytes, anotherFile) {
      if (used.bytes + bytes > fileLimits.workspace)
        throw new ToolError(`the workspace is full: ${fileLimits.workspace} bytes is the most`);
      if (anotherFile && used.files >= fileLimits.files)
        throw new ToolError(`the workspace is full: ${fileLimits.files} files is the most`);
      used.bytes += bytes;
      if (anotherFile) used.files++;
    },
  };
}

/** Everything below, links not followed; Bun's own recursive `readdirSync` follows them, in circles too. */
function sizeOf(directory: string): { bytes: number; files: number } {
  const sum = { bytes: 0, files: 0 };
  const waiting = [directory];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const name of namesIn(next)) {
      const path = join(next, name);
      const stats = fs.lstatSync(path, { throwIfNoEntry: false });
      if (stats?.isDirectory()) waiting.push(path);
      if (!stats?.isFile()) continue;
      sum.files++;
      sum.bytes += stats.size;
    }
  }
  return sum;
}
