import fs from "node:fs";
import { basename, dirname, join } from "node:path";
import { stepLimits } from "./steps.ts";
import { openFlags, type TreeEntry } from "./tree.ts";
import { readUntrusted, realPathOf } from "./untrusted.ts";

/** What answer.json of a native step says under `engine`. */
export const nativeMark = "mg-team";

/**
 * Makes a function that tells what MassGen left in a workspace for itself: it is no part of what the user asked for. A folder of the same
 * name that the agents made for the user does not match: names that people use too count only with MassGen's own contents. In the workspace of
 * a native step, and in a deliverable, nothing is left but a version history.
 * @param unknown who keeps files in a directory of which nothing tells
 */
export function internalsOf(workspace: string, unknown: Keeper = "massgen"): (entry: TreeEntry) => boolean {
  if ((keeperOf(workspace) ?? unknown) === "nobody") return isHistory;
  const look = lookInto(workspace);
  return (entry) => rules.some((rule) => rule(entry, look));
}

/** Who keeps files of its own among those of the agent. */
export type Keeper = "massgen" | "nobody";

/** A copy of the user's login that MassGen puts where the Codex program looks for it (massgen 0.1.97, backend/codex.py). */
export function isCredential(entry: TreeEntry): boolean {
  return entry.path === ".codex/auth.json";
}

// --- internal ---

interface Look {
  /** The first bytes of a file as text; empty when there is none. */
  head(path: string): string;
  exists(path: string): boolean;
  linksTo(path: string, target: string): boolean;
}

/** By the answer beside it; null when there is none, or none that can be read. */
function keeperOf(workspace: string): Keeper | null {
  if (basename(workspace) === "deliverable") return "nobody";
  const step = realPathOf(dirname(workspace));
  const file = step === null ? null : readUntrusted(join(step, "answer.json"), step, stepLimits.answerBytes);
  if (file?.kind !== "bytes") return null;
  try {
    const answer: unknown = JSON.parse(Buffer.from(file.bytes).toString());
    return (answer as { readonly engine?: unknown } | null)?.engine === nativeMark ? "nobody" : "massgen";
  } catch {
    return "massgen";
  }
}

/** At the root it is MassGen's. One further down is the agents' own, but its hooks and settings would run at the user's next `git status`. */
function isHistory({ path }: TreeEntry): boolean {
  return /(^|\/)\.git$/.test(path);
}

type Rule = (entry: TreeEntry, look: Look) => boolean;

// Extend with a function: entries come in order, directories first, and what is below a matching directory is never asked about.
const rules: readonly Rule[] = [
  isHistory,
  ({ path }) => /^\.massgen[^/]*$/.test(path),
  // Homes of the command-line backends, results too long for a prompt, and the caches that its containers are given.
  ({ path }) => [".codex", ".gemini", ".antigravity", ".antigravitycli", ".copilot", ".tool_results", ".cache"].includes(path),
  ({ path }) => /^\.local\/share\/(uv|pip|pnpm|virtualenv)$/.test(path),
  ({ path }, look) => path === "execution_trace.md" && /^# execution trace\b/i.test(look.head(path)),
  ({ path, kind }) => kind !== "directory" && /^memory\/(short|long)_term\/([^/]+\.md|essential_files_manifest\.json)$/.test(path),
  (entry) => /^memory\/(short|long)_term$/.test(entry.path) && entry.kind === "directory" && entry.empty,
  // Its planning server's files; tasks/ may also hold the user's.
  ({ path }, look) => /^tasks\/(plan|spec)\.json$/.test(path) && /^\s*\{\s*"agent_id":/.test(look.head(path)),
  ({ path }) => path === "tasks/changedoc.md" || path === "tasks/evolving_skill",
  ({ path }, look) => path === "subagents" && (look.exists("subagents/_registry.json") || look.exists("subagents/_spawn_status.json")),
  // Wrappers that it generates for tools, all or none of them.
  ({ path }, look) => [".mcp", "servers", "custom_tools"].includes(path) && look.head(".mcp/client.py").includes("managed by MassGen"),
  // Skills that it copies in for Claude Code, which finds them through the link.
  ({ path }, look) => [".agent/skills", ".claude/skills"].includes(path) && look.linksTo(".claude/skills", ".agent/skills"),
];

const headBytes = 1024;

function lookInto(workspace: string): Look {
  const root = realPathOf(workspace) ?? workspace;
  return {
    head: (path) => headOf(join(root, path)),
    exists: (path) => fs.lstatSync(join(root, path), { throwIfNoEntry: false }) !== undefined,
    linksTo: (path, target) => {
      const link = join(root, path);
      return fs.lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() === true && realPathOf(link) === join(root, target);
    },
  };
}

function headOf(path: string): string {
  if (!fs.lstatSync(path, { throwIfNoEntry: false })?.isFile()) return "";
  let file: number | null = null;
  try {
    file = fs.openSync(path, openFlags);
    const head = Buffer.alloc(headBytes);
    return head.toString("utf8", 0, fs.readSync(file, head, 0, headBytes, 0));
  } catch {
    return ""; // unreadable is not MassGen's
  } finally {
    if (file !== null) fs.closeSync(file);
  }
}
