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

/**
 * Copies an agent's workspace to `to` without what MassGen keeps there for itself (design.md, "Synthesis"). The files are untrusted: links
 * that leave the workspace, pipes and devices are left out and reported. `to` is whole or absent and replaces an older one; there is
 * none when nothing is to be delivered.
 * @param workspace absolute path; null without files
 * @throws TeamError `write`
 */
export async function copyDeliverable(workspace: string | null, to: string, limits: TreeLimits = treeLimits): Promise<Copied> {
  let copied: Copied = nothing;
  await replaceDirectory(to, async (directory) => {
    if (workspace === null) return false;
    const plan = await planTree(workspace, deliverableRules(workspace), limits);
    copied = total(await copyPlanned(workspace, plan, directory));
    return copied.files.length > 0;
  });
  return copied;
}

/**
 * Copies the winner's answer to `to/answer.md` and its workspace to `to/workspace/`, as they are; a copy of the user's login is left out.
 * Otherwise as {@link copyDeliverable}.
 * @throws TeamError `write`
 */
export async function copyWinner(winner: {
  readonly answer: string;
  readonly workspace: string | null;
  readonly to: string;
}): Promise<Copied> {
  const { answer, workspace, to } = winner;
  let copied: Copied = nothing;
  await replaceDirectory(to, async (directory) => {
    await writeFileAtomic(join(directory, "answer.md"), answer);
    if (workspace === null) return true;
    const plan = await planTree(workspace, (entry) => (isCredential(entry) ? loginReason : null));
    const files = join(directory, "workspace");
    fs.mkdirSync(files, { mode: 0o700 });
    copied = total(await copyPlanned(workspace, plan, files));
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

function total({ files, leftOut }: Omit<Copied, "bytes">): Copied {
  return { files, leftOut, bytes: files.reduce((sum, file) => sum + file.bytes, 0) };
}
