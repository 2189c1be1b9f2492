import fs from "node:fs";
import { join } from "node:path";
import { systemCodeOf, TeamError } from "../errors.ts";
import { listTeamIds, sessionsPath, teamDirectory } from "../session/directory.ts";
import { isLocked } from "../session/lock.ts";
import { reasonOf } from "../session/reasons.ts";
import { isRealDirectory } from "../session/untrusted.ts";
import { readTeamConfig } from "../view/status/read.ts";
import { sizeOfTree } from "./remove-tree.ts";

/** A run that may go. */
export interface OldRun {
  readonly id: string;
  /** Absolute. */
  readonly root: string;
  /** ISO 8601: when something was last written to its records. */
  readonly last_used: string;
  readonly bytes: number;
  readonly query: string | null;
}

export interface OldRuns {
  /** Oldest first. */
  readonly old: readonly OldRun[];
  /** Old enough, but not to be touched. */
  readonly spared: readonly { readonly id: string; readonly why: string }[];
}

/**
 * Finds the runs of a project whose records nothing was written to since `before` (milliseconds since the epoch).
 * @throws TeamError `usage` when the directory of runs is a link: what it leads to is not of this project
 */
export async function findOldRuns(projectDir: string, before: number): Promise<OldRuns> {
  refuseLinks(projectDir);
  const old: OldRun[] = [];
  const spared: { id: string; why: string }[] = [];
  for (const id of listTeamIds(projectDir)) {
    const root = join(projectDir, sessionsPath, id);
    if (!isRealDirectory(root)) {
      spared.push({ id, why: "it is a link" });
      continue;
    }
    try {
      const lastUsed = lastUse(root);
      if (lastUsed > before) continue;
      if (isLocked(root)) spared.push({ id, why: "a process works on it" });
      else {
        const { query } = readTeamConfig(teamDirectory(root));
        old.push({ id, root, last_used: new Date(lastUsed).toISOString(), bytes: await sizeOfTree(root), query });
      }
    } catch (error) {
      if (!(error instanceof TeamError) && systemCodeOf(error) === undefined) throw error;
      // Of another user, for one: how old it is cannot be told.
      spared.push({ id, why: reasonOf(error) });
    }
  }
  return { old, spared };
}

// --- internal ---

function refuseLinks(projectDir: string): void {
  for (const path of [join(projectDir, ".massgen-quality"), join(projectDir, sessionsPath)]) {
    if (!fs.lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) continue;
    throw new TeamError(
      "usage",
      `${path} is a link, and clean follows none`,
      "Change to the project whose runs these are, and clean there.",
    );
  }
}

/** Its records tell; copying or looking at a run changes none of them. */
function lastUse(root: string): number {
  const times = ["config.json", "events.jsonl", "result.json", "session/agents"].map(
    (name) => fs.lstatSync(join(root, name), { throwIfNoEntry: false })?.mtimeMs ?? 0,
  );
  const latest = Math.max(...times);
  return latest > 0 ? latest : fs.lstatSync(root).mtimeMs;
}
