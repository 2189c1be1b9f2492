import fs from "node:fs";
import { isAbsolute, join, relative, sep } from "node:path";
import { systemCodeOf } from "../../errors.ts";
import { isInside, realPathOf } from "../../session/untrusted.ts";
import { quoted } from "../../text.ts";
import type { ContextPath } from "../../types.ts";
import type { Candidate } from "../peers.ts";

/** What a model did wrong with a tool, in words for the model. Nothing was changed. */
export class ToolError extends Error {
  override readonly name = "ToolError";
}

/** Everything that the tools of a step can reach. Paths are absolute. */
export interface Places {
  /** The step's own; exists. */
  readonly workspace: string;
  readonly candidates: readonly Candidate[];
  readonly context: readonly ContextPath[];
  /** The session directory: what is in it reaches the models without names, and through us alone. */
  readonly sessionDir: string;
  /** Names of files in the workspace that others wrote: the tools keep it, and show them as they show the files of others. */
  readonly foreign: Set<string>;
}

/** Where a path of a model leads. */
export interface Place {
  /** As the model calls it, in one way only: `report/index.html`, `@agent1/a.txt`, `/home/me/docs/a.md`. */
  readonly name: string;
  /** Real path of the directory that must not be left. */
  readonly root: string;
  /** Names below the root; empty for the root itself. */
  readonly parts: readonly string[];
  /** Absolute; not yet looked at. */
  readonly path: string;
  readonly kind: "own" | "peer" | "context";
  readonly writable: boolean;
  /** Real paths of what must not be entered, although it may lie below the root. */
  readonly closed: readonly string[];
}

/**
 * Finds out where a path leads, by its letters alone: `..`, backslashes, control characters, and whatever lies outside of the places are
 * refused. What the file system makes of it is checked by {@link existing} and {@link writableTarget}. Throws a ToolError.
 */
export function placeOf(given: string, places: Places): Place {
  const path = given.trim();
  if (path === "") throw new ToolError('the path is empty; "." is your workspace');
  if (path.length > 1000 || !path.isWellFormed() || /[\u0000-\u001f\u007f\\]/.test(path)) {
    throw new ToolError(`the path ${quoted(path)} cannot be used: write it with / between names, without control characters`);
  }
  if (path.startsWith("@")) return peerPlace(path, places);
  if (isAbsolute(path) || path.startsWith("~")) return contextPlace(path, places);
  const parts = partsOf(path);
  return { ...below(places.workspace, parts), name: parts.join("/") || ".", kind: "own", writable: true, closed: [] };
}

/** What is there, links resolved: still inside of its root. Throws a ToolError when there is nothing, or a link leads out. */
export function existing(place: Place): { readonly path: string; readonly stats: fs.Stats } {
  try {
    const path = fs.realpathSync(place.path);
    if (!isInside(path, place.root)) throw new ToolError(`${place.name} is a link that leads elsewhere, which is not allowed`);
    if (isClosed(path, place)) throw new ToolError(`${place.name} is not for you to see`);
    return { path, stats: fs.statSync(path) };
  } catch (error) {
    if (error instanceof ToolError) throw error;
    const code = systemCodeOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") throw new ToolError(`there is no ${place.name}; list_files shows what there is`);
    throw new ToolError(`${place.name} cannot be used (${code ?? "unknown error"})`);
  }
}

/**
 * Where a file may be written: on the way to it are only real directories, made where they are missing, and in its own place nothing or
 * a regular file. So nothing is ever written through a link. Throws a ToolError.
 */
export function writableTarget(place: Place): { readonly path: string; readonly before: fs.Stats | null } {
  if (!place.writable) {
    const why = place.kind === "peer" ? "it belongs to another answer; copy_file brings it into your workspace" : "it may only be read";
    throw new ToolError(`${place.name} cannot be written: ${why}`);
  }
  const own = place.parts.find(isGitName);
  if (own !== undefined) throw new ToolError(`${place.name} cannot be written: ${own} belongs to git`);
  if (isClosed(place.path, place)) throw new ToolError(`${place.name} is not for you to change`);
  if (place.parts.length === 0) return { path: place.path, before: fileAt(place.path, place.name) };
  let directory = place.root;
  for (const part of place.parts.slice(0, -1)) {
    directory = join(directory, part);
    makeDirectory(directory, place.name);
  }
  return { path: place.path, before: fileAt(place.path, place.name) };
}

/** Whether a real path below the root of a place is none of the model's business. */
export function isClosed(path: string, { root, closed }: Place): boolean {
  return closed.length > 0 && (closed.some((each) => isInside(path, each)) || relative(root, path).split(sep).some(isOurs));
}

// --- internal ---

function partsOf(path: string): string[] {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.includes("..")) throw new ToolError('".." is not allowed in paths; write them from the top of the workspace');
  const long = parts.find((part) => Buffer.byteLength(part) > 255);
  if (long !== undefined) throw new ToolError("a name in the path is longer than 255 bytes");
  return parts;
}

function below(root: string, parts: readonly string[]): Pick<Place, "root" | "parts" | "path"> {
  const real = realPathOf(root) ?? root;
  return { root: real, parts, path: join(real, ...parts) };
}

function peerPlace(path: string, { candidates }: Places): Place {
  const [label = "", ...rest] = path.slice(1).split("/");
  const candidate = candidates.find((each) => each.label === label.toLowerCase());
  const labels = candidates.map((each) => `@${each.label}`).join(", ");
  if (candidate === undefined) throw new ToolError(`there is no @${label}; the answers are ${labels || "none yet"}`);
  if (candidate.workspace === null) throw new ToolError(`@${candidate.label} has no files; its text is @${candidate.label}.md`);
  const parts = partsOf(rest.join("/"));
  const name = [`@${candidate.label}`, ...parts].join("/");
  return { ...below(candidate.workspace, parts), name, kind: "peer", writable: false, closed: [] };
}

/** The innermost of the context paths that the path lies in; a context path may be a file. */
function contextPlace(path: string, places: Places): Place {
  const { context, workspace, sessionDir } = places;
  const parts = path.split("/");
  if (parts.includes("..")) throw new ToolError('".." is not allowed in paths');
  const clean = `/${parts.filter((part) => part !== "" && part !== ".").join("/")}`;
  // A model may have learned the place of its own workspace from somewhere.
  for (const root of [workspace, realPathOf(workspace) ?? workspace]) {
    if (path.startsWith("/") && isInside(clean, root)) return placeOf(relative(root, clean) || ".", places);
  }
  const roots = context.filter((entry) => path.startsWith("/") && isInside(clean, entry.path));
  const [inner] = roots.toSorted((a, b) => b.path.length - a.path.length);
  if (inner === undefined) {
    const known = context.map((entry) => entry.path).join(", ");
    const readable = known === "" ? "" : `; outside of it you can read ${known}`;
    throw new ToolError(`${quoted(path, 200)} is out of reach: paths are relative to your workspace${readable}`);
  }
  const rest = relative(inner.path, clean);
  const inside = rest === "" ? [] : partsOf(rest.split(sep).join("/"));
  if (inside.some(isOurs)) throw new ToolError(`${clean} is not for you to see`);
  const closed = [sessionDir, workspace].map((each) => realPathOf(each) ?? each);
  return { ...below(inner.path, inside), name: clean, kind: "context", writable: inner.permission === "write", closed };
}

/** `.git` under any of the names by which some file system finds it. */
function isGitName(part: string): boolean {
  return /^(\.git|git~\d)[ .]*(:.*)?$/i.test(plainName(part));
}

/** Where runs keep their files, this one too: a project as context must not show who answered what, or let anybody change it. */
function isOurs(part: string): boolean {
  return /^(\.massgen-quality|massge~\d)[ .]*$/i.test(plainName(part));
}

/** Without what some file systems leave out when they compare names. */
function plainName(part: string): string {
  return part.normalize("NFKC").replace(/[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, "");
}

function makeDirectory(path: string, name: string): void {
  const stats = fs.lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isSymbolicLink()) throw new ToolError(`${name} leads through a link, which is not allowed`);
  if (stats !== undefined && !stats.isDirectory()) throw new ToolError(`${name} cannot be written: a file is in the place of a directory`);
  if (stats === undefined) fs.mkdirSync(path, { mode: 0o755 });
}

function fileAt(path: string, name: string): fs.Stats | null {
  const stats = fs.lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isSymbolicLink()) throw new ToolError(`${name} is a link, which cannot be written through`);
  if (stats?.isDirectory()) throw new ToolError(`${name} is a directory`);
  if (stats !== undefined && !stats.isFile()) throw new ToolError(`${name} is no regular file`);
  return stats ?? null;
}
