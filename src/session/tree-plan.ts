import fs from "node:fs";
import { posix } from "node:path";
import { systemCodeOf } from "../errors.ts";
import { nativePath, type TreeEntry, textOf, walkTree } from "./tree.ts";

/** How much is copied; what goes beyond is left out and reported. */
export interface TreeLimits {
  readonly bytes: number;
  readonly files: number;
  readonly depth: number;
  readonly entries: number;
}

export const treeLimits: TreeLimits = { bytes: 2 * 1024 ** 3, files: 100_000, depth: 64, entries: 250_000 };

/** Something of a workspace that is not copied. */
export interface LeftOut {
  /** Relative to the workspace; a directory stands for all that is in it. */
  readonly path: string;
  /** `internal` for what MassGen keeps there for itself, else completes "FILE is not in the deliverable: …". */
  readonly why: string;
}

export type PlannedFile = TreeEntry & ({ readonly kind: "file" } | { readonly kind: "link"; readonly target: string });

export interface TreePlan {
  /** Files and links in the order of their names. A link's `target` is relative, in bytes (latin1), and stays inside. */
  readonly files: readonly PlannedFile[];
  /** Byte paths of directories that were empty already. */
  readonly emptyDirectories: readonly string[];
  readonly leftOut: readonly LeftOut[];
}

/**
 * Decides what of an untrusted directory is copied, without reading a file.
 * @param why the reason to leave an entry out, or null; asked before a directory is entered
 */
export async function planTree(root: string, why: (entry: TreeEntry) => string | null, limits: TreeLimits = treeLimits): Promise<TreePlan> {
  const leftOut: LeftOut[] = [];
  const kept = new Map<string, TreeEntry>();
  const out = (entry: TreeEntry, reason: string) => void leftOut.push({ path: entry.path, why: reason });
  const reasons = (entry: TreeEntry) => why(entry) ?? (entry.kind === "refused" ? entry.why : null);
  for await (const entry of walkTree(root, limits, ({ bytePath }) => kept.has(bytePath))) {
    const reason = reasons(entry);
    if (reason === null) kept.set(entry.bytePath, entry);
    else out(entry, reason);
  }
  const entries = [...kept.values()];
  const fitting = withinLimits(entries, limits, out);
  const filled = new Set([...fitting].flatMap(({ bytePath }) => ancestorsOf(bytePath)));
  const files = entries.flatMap((entry): PlannedFile[] => {
    if (entry.kind === "file") return fitting.has(entry) ? [entry] : [];
    if (entry.kind !== "link") return [];
    const target = targetInside(root, entry.bytePath);
    const to = "path" in target ? kept.get(target.path) : undefined;
    const held = to?.kind === "directory" ? to.empty || filled.has(to.bytePath) : to !== undefined && fitting.has(to);
    if ("path" in target && held) return [{ ...entry, target: posix.relative(posix.dirname(entry.bytePath), target.path) }];
    out(entry, "why" in target ? target.why : "it links to something that is left out");
    return [];
  });
  const emptyDirectories = entries.flatMap((entry) => (entry.kind === "directory" && entry.empty ? [entry.bytePath] : []));
  return { files, emptyDirectories, leftOut: shortened(leftOut) };
}

// --- internal ---

// What can be installed again comes last, so that a limit cuts there first.
const bulky = /(^|\/)(node_modules|\.pnpm-store|\.venv|venv|site-packages|__pycache__)\//;

/** How many entries with the same reason are listed one by one. */
const listedEach = 20;

function withinLimits(entries: readonly TreeEntry[], limits: TreeLimits, out: (entry: TreeEntry, why: string) => void): Set<TreeEntry> {
  const fitting = new Set<TreeEntry>();
  const files = entries.filter((entry) => entry.kind === "file");
  let bytes = 0;
  for (const file of [...files.filter(({ path }) => !bulky.test(path)), ...files.filter(({ path }) => bulky.test(path))]) {
    if (fitting.size >= limits.files) out(file, `there are more than ${limits.files} files`);
    else if (bytes + file.bytes > limits.bytes) out(file, `all files together would be larger than ${sizeOf(limits.bytes)}`);
    else {
      fitting.add(file);
      bytes += file.bytes;
    }
  }
  return fitting;
}

function ancestorsOf(bytePath: string): string[] {
  const names = bytePath.split("/");
  return names.slice(1).map((_, index) => names.slice(0, index + 1).join("/"));
}

/** Where a link ends, relative to the root, in bytes; or why it cannot be kept. */
function targetInside(root: string, bytePath: string): { readonly path: string } | { readonly why: string } {
  try {
    const base = fs.realpathSync(Buffer.from(root), { encoding: "buffer" }).toString("latin1");
    const real = fs.realpathSync(nativePath(root, bytePath), { encoding: "buffer" }).toString("latin1");
    if (!real.startsWith(`${base}/`) && real !== base) return { why: "it is a link that leaves the workspace" };
    const path = real.slice(base.length + 1);
    // Programs that follow links would walk round in it for ever.
    if (path === "" || bytePath.startsWith(`${path}/`)) return { why: "it is a link to a directory that it lies in" };
    return { path };
  } catch (error) {
    return { why: systemCodeOf(error) === "ELOOP" ? "it is a link in a circle" : `it is a link to nothing (${linkText(root, bytePath)})` };
  }
}

function linkText(root: string, bytePath: string): string {
  try {
    return textOf(fs.readlinkSync(nativePath(root, bytePath), { encoding: "buffer" }).toString("latin1"));
  } catch {
    return "unreadable";
  }
}

function shortened(leftOut: readonly LeftOut[]): readonly LeftOut[] {
  const byReason = Map.groupBy(leftOut, ({ why }) => why);
  return [...byReason].flatMap(([why, all]) => {
    const more = all.length - listedEach;
    return more > 0 ? [...all.slice(0, listedEach), { path: `${more} more`, why }] : all;
  });
}

function sizeOf(bytes: number): string {
  const units = ["bytes", "KiB", "MiB", "GiB"];
  const power = bytes < 1024 ? 0 : Math.min(3, Math.floor(Math.log2(bytes) / 10));
  return `${Number((bytes / 1024 ** power).toFixed(1))} ${units[power]}`;
}
