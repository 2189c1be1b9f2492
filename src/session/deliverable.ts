import fs from "node:fs";
import { join } from "node:path";
import { writeFileAtomic } from "./atomic.ts";
import { internalsOf, isCredential } from "./internals.ts";
import type { TreeEntry } from "./tree.ts";
import { type CopiedFile, copyPlanned, replaceDirectory } from "./tree-copy.ts";
import { type LeftOut, planTree, type TreeLimits, treeLimits } from "./tree-plan.ts";

export type { CopiedFile, LeftOut };

/** What came of copying an agent's files. */
export interface Copied {
  /** In the order of their names. */
  readonly files: readonly CopiedFile[];
  readonly leftOut: readonly LeftOut[];
  /** Of all files together. */
  readonly bytes: number;
}

export interface CopyOptions {
  readonly limits?: TreeLimits;
  /** Asked before each file. Once it says why, nothing more is copied, and the whole workspace is left out for that; null goes on. */
  readonly whyStop?: () => string | null;
}

/**
 * Copies an agent's workspace to `to` without what MassGen keeps there for itself (design.md, "Synthesis"). The files are untrusted: links
 * that leave the workspace, pipes and devices are left out and reported. `to` is whole or absent and replaces an older one; there is
 * none when nothing is to be delivered.
 * @param workspace absolute path; null without files
 * @throws TeamError `write`
 */
export async function copyDeliverable(workspace: string | null, to: string, options: CopyOptions = {}): Promise<Copied> {
  const { limits = treeLimits, whyStop } = options;
  let copied: Copied = nothing;
  await replaceDirectory(to, async (directory) => {
    if (workspace === null) return false;
    const made = await copyTree(workspace, deliverableRules(workspace), directory, limits, whyStop);
    copied = made;
    return made.files.length > 0;
  });
  return copied;
}

/**
 * Copies the winner's answer to `to/answer.md` and its workspace to `to/workspace/`, as they are; a copy of the user's login is left out.
 * Otherwise as {@link copyDeliverable}.
 * @throws TeamError `write`
 */
export async function copyWinner(
  winner: { readonly answer: string; readonly workspace: string | null; readonly to: string },
  { limits = treeLimits, whyStop }: CopyOptions = {},
): Promise<Copied> {
  const { answer, workspace, to } = winner;
  let copied: Copied = nothing;
  await replaceDirectory(to, async (directory) => {
    await writeFileAtomic(join(directory, "answer.md"), answer);
    if (workspace === null) return true;
    const files = join(directory, "workspace");
    fs.mkdirSync(files, { mode: 0o700 });
    copied = await copyTree(workspace, (entry) => (isCredential(entry) ? loginReason : null), files, limits, whyStop);
    return true;
  });
  return copied;
}

/** The files that {@link copyDeliverable} would copy from a workspace, or those of a deliverable: without MassGen's own, links not followed. */
export async function listFiles(directory: string): Promise<readonly { readonly path: string; readonly bytes: number }[]> {
  const { files } = await planTree(directory, deliverableRules(directory));
  return files.map((entry) => ({ path: entry.path, bytes: entry.kind === "file" ? entry.bytes : 0 }));
}

// --- internal ---

const nothing: Copied = { files: [], leftOut: [], bytes: 0 };
const loginReason = "it is a copy of your login";

function deliverableRules(workspace: string): (entry: TreeEntry) => string | null {
  const isInternal = internalsOf(workspace);
  return (entry) => (isInternal(entry) ? "internal" : null);
}

class Stopped extends Error {}

/** All or nothing: a directory that lacks the half of its files would pass for whole. */
async function copyTree(
  workspace: string,
  why: (entry: TreeEntry) => string | null,
  to: string,
  limits: TreeLimits,
  whyStop: () => string | null = () => null,
): Promise<Copied> {
  const goOn = () => {
    const reason = whyStop();
    if (reason !== null) throw new Stopped(reason);
  };
  try {
    const plan = await planTree(
      workspace,
      (entry) => {
        goOn();
        return why(entry);
      },
      limits,
    );
    return total(await copyPlanned(workspace, plan, to, goOn));
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    fs.rmSync(to, { recursive: true });
    fs.mkdirSync(to, { mode: 0o700 });
    return { ...nothing, leftOut: [{ path: "the workspace", why: error.message }] };
  }
}

function total({ files, leftOut }: Omit<Copied, "bytes">): Copied {
  return { files, leftOut, bytes: files.reduce((sum, file) => sum + file.bytes, 0) };
}
