import fs from "node:fs";
import { join } from "node:path";
import { writeFileAtomicSync } from "../../session/atomic.ts";
import { internalsOf } from "../../session/internals.ts";
import { reasonOf } from "../../session/reasons.ts";
import { type TreeEntry, walkTree } from "../../session/tree.ts";
import { namesIn, readUntrusted } from "../../session/untrusted.ts";
import { plural } from "../../text.ts";
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

/** Names and sizes below a directory, one a line; what MassGen keeps there for itself is left out. */
export async function listFiles(path: string, places: Places): Promise<string> {
  const place = placeOf(path, places);
  const { path: real, stats } = existing(place);
  if (!stats.isDirectory()) return `${place.name} is a file of ${stats.size} bytes`;
  const isInternal = place.kind === "context" ? () => false : internalsOf(real);
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
  return lines.length === 0 ? `${place.name} is empty` : lines.join("\n");
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
  return `wrote ${place.name} (${bytes.length} bytes)`;
}

/** Replaces a text in a file: the only place where it stands, or with `all` every one. */
export function editText(path: string, places: Places, before: string, after: string, all: boolean): string {
  if (before === "") throw new ToolError("old_text is empty; write_file writes a whole file");
  const { place, text, total } = readText(path, places, 0, Number.MAX_SAFE_INTEGER);
  if (text.length !== total) throw new ToolError(`${place.name} is too long to be edited`);
  const count = text.split(before).length - 1;
  if (count === 0) throw new ToolError(`old_text does not stand in ${place.name}; read the file again and copy the text letter by letter`);
  if (count > 1 && !all) {
    throw new ToolError(`old_text stands ${count} times in ${place.name}; give more of the text around it, or set replace_all`);
  }
  const edited = all ? text.replaceAll(before, () => after) : text.replace(before, () => after);
  const bytes = Buffer.from(edited.toWellFormed());
  put(place, bytes, false, roomIn(places.workspace));
  return `edited ${place.name} (${plural(count, "place")}, now ${bytes.length} bytes)`;
}

/** Copies a file, or all files below a directory; links are left out. */
export async function copyFiles(from: string, to: string, places: Places): Promise<string> {
  const source = placeOf(from, places);
  const { path: real, stats } = existing(source);
  if (!stats.isDirectory()) {
    const target = placeOf(to.endsWith("/") ? `${to}${source.parts.at(-1) ?? ""}` : to, places);
    put(target, bytesOf(source, real, fileLimits.copied), (stats.mode & 0o111) !== 0, roomIn(places.workspace));
    return `copied ${source.name} to ${target.name}`;
  }
  const isInternal = internalsOf(real);
  const found: (TreeEntry & { readonly kind: "file" })[] = [];
  const skipped: string[] = [];
  const limits = { depth: 64, entries: fileLimits.files };
  const enter = (entry: { readonly path: string }) => !isClosed(join(real, entry.path), source);
  for await (const entry of walkTree(real, limits, (directory) => !isInternal(directory) && enter(directory))) {
    if (entry.kind === "directory" || isInternal(entry)) continue;
    if (entry.kind === "file" && Buffer.from(entry.path).equals(Buffer.from(entry.bytePath, "latin1"))) found.push(entry);
    else skipped.push(entry.path);
  }
  // All are known before the first is copied: the target may lie in the source.
  const room = roomIn(places.workspace);
  for (const { path, executable } of found) {
    const target = placeOf(`${to.replace(/\/+$/, "")}/${path}`, places);
    put(target, bytesOf(source, join(real, path), fileLimits.copied), executable, room);
  }
  const left = skipped.length === 0 ? "" : `; left out: ${skipped.slice(0, 10).join(", ")}`;
  return `copied ${plural(found.length, "file")} from ${source.name}${left}`;
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
