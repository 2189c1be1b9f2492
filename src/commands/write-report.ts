import type { Clock } from "../clock.ts";
import { ExitCode, messageOf, systemCodeOf } from "../errors.ts";
import { writeFileAtomic } from "../session/atomic.ts";
import type { TeamDirectory } from "../session/directory.ts";
import type { RunResult } from "../session/result.ts";
import { version } from "./version.ts";

/** What the end of a run brings along. */
export interface ReportedRun {
  readonly directory: TeamDirectory;
  readonly redact: (text: string) => string;
  readonly clock: Clock;
  readonly warn: (message: string) => void;
}

/**
 * Writes the report at the end of a run. It is made of files that are there already, so a failure is a warning and `mg-team report` can make
 * up for it; a full disk is not: then the run ends in exit 7, and the result says so (design.md, "Exit codes").
 * @returns its absolute path; null when there is none
 */
export async function reportRun(result: RunResult, { directory, redact, clock, warn }: ReportedRun): Promise<string | null> {
  try {
    const { writeReport } = await import("../view/report/write.ts"); // no run has to wait for it at its start
    return await writeReport(directory, { date: new Date(clock.date()), version, redact });
  } catch (error) {
    warn(`there is no report: ${messageOf(error)}; make it later with: mg-team report ${directory.id}`);
    if (isFull(error) && result.exit_code !== ExitCode.write) await becomeFailure(result, directory, warn);
    return null;
  }
}

// --- internal ---

function isFull(error: unknown): boolean {
  const code = systemCodeOf(error instanceof Error ? error.cause : undefined);
  return code === "ENOSPC" || code === "EDQUOT";
}

async function becomeFailure(result: RunResult, directory: TeamDirectory, warn: ReportedRun["warn"]): Promise<void> {
  result.exit_code = ExitCode.write;
  try {
    await writeFileAtomic(directory.result, `${JSON.stringify(result, null, 2)}\n`);
  } catch (error) {
    warn(messageOf(error)); // the older one is still whole
  }
}
