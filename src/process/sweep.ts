import fs from "node:fs";
import { join } from "node:path";
import { listTeamIds, sessionsPath, type TeamDirectory, teamDirectory } from "../session/directory.ts";
import { forgetHolder, readHolder, whileUnlocked } from "../session/lock.ts";
import { isRealDirectory, namesIn } from "../session/untrusted.ts";
import { removeContainers } from "./containers.ts";
import { childEnvironment, cookieVariable } from "./environment.ts";
import { endLeftovers } from "./leftovers.ts";
import { findMarked } from "./processes.ts";
import { logFiles, scrubLogs } from "./scrub.ts";

/** What a sweep found. */
export interface SweepReport {
  /** Ids of the dead runs that were swept. */
  readonly runs: readonly string[];
  /** How many processes of them were alive. */
  readonly processes: number;
  /** Ids of their containers. */
  readonly containers: readonly string[];
  /** What went wrong, one line each. */
  readonly warnings: readonly string[];
}

export interface SweepOptions {
  /** For finding docker; the caller's by default. */
  readonly env?: Readonly<Record<string, string>>;
  /** Removes secrets from the logs of steps that nobody saw end. */
  readonly redact?: (text: string) => string;
}

/**
 * Ends what dead runs of a project left alive; for every start of mg-team. A run is dead when nobody holds its lock. Its processes are
 * those that carry the cookie of its record, never those of a name or a pid; other projects and other users are not touched. Costs a
 * look at the process table, a few milliseconds, when there is nothing to do.
 */
export async function sweepDeadRuns(projectDir: string, options: SweepOptions = {}): Promise<SweepReport> {
  const cookies = new Set(findMarked(cookieVariable).map(({ value }) => value));
  const reports: SweepReport[] = [];
  for (const id of listTeamIds(projectDir)) {
    const root = join(projectDir, sessionsPath, id);
    const crashed = readHolder(root) !== null;
    if (!crashed && cookies.size === 0) continue;
    try {
      const directory = crashed ? teamDirectory(root) : readable(root);
      if (directory === null || (!crashed && !cookies.has(directory.cookie))) continue;
      await whileUnlocked(root, async () => {
        reports.push(await sweepRun(directory, options));
        forgetHolder(root);
      });
    } catch (error) {
      reports.push({
        runs: [],
        processes: 0,
        containers: [],
        warnings: [`cannot sweep ${id}: ${error instanceof Error ? error.message : error}`],
      });
    }
  }
  return {
    runs: reports.flatMap((report) => report.runs),
    processes: reports.reduce((sum, report) => sum + report.processes, 0),
    containers: reports.flatMap((report) => report.containers),
    warnings: reports.flatMap((report) => report.warnings),
  };
}

/**
 * Ends what one run left alive: processes by its cookie, containers that mount something of it, secrets in logs that nobody cleaned.
 * Only for a run that no other process works on (hold its lock).
 */
export async function sweepRun(directory: TeamDirectory, options: SweepOptions = {}): Promise<SweepReport> {
  const { env = childEnvironment(), redact } = options;
  const { cookie, id, root, runs } = directory;
  const find = () => (cookie === "" ? [] : findMarked(cookieVariable, new Set([cookie])).map(({ pid }) => pid));
  const found = find().length;
  await endLeftovers(find, new AbortController().signal);
  const left = find().length;
  const containers = await removeContainers({ marks: cookie === "" ? [] : [cookie], directory: root }, env);
  const warnings = left > 0 ? [`${left} processes of ${id} cannot be ended`] : [];
  if (redact) for (const logs of logDirectories(runs)) warnings.push(...(await scrubLogs(logs, redact)));
  return { runs: [id], processes: found, containers, warnings };
}

// --- internal ---

/** Null for a run of another user: its processes are not ours to end, and whose it is is no news. */
function readable(root: string): TeamDirectory | null {
  try {
    return teamDirectory(root);
  } catch {
    return null;
  }
}

// runs/agent_a/r1, runs/agent_a/r1/try2, runs/synthesis; a step's own directories are not ours.
function logDirectories(directory: string, depth = 2): string[] {
  const isRun = logFiles.some((name) => fs.existsSync(join(directory, name)));
  const below = namesIn(directory).filter((name) => (isRun ? /^try\d+$/.test(name) : depth > 0) && isRealDirectory(join(directory, name)));
  return [...(isRun ? [directory] : []), ...below.flatMap((name) => logDirectories(join(directory, name), depth - 1))];
}
