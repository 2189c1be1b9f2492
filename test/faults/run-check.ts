import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TeamDirectory } from "../../src/session/directory.ts";
import { readJournal } from "../../src/session/journal.ts";
import { filesBelow, isTheirs } from "../support/run-rules.ts";

/** What a fault may not leave behind, counted by code that shares as little as it can with ours. */

/** US dollars that the steps themselves report, one by one: metrics_summary.json of each log, or the status.json of a step that did not end. */
export function reportedBy({ runs }: TeamDirectory): number {
  const files = existsSync(runs) ? readdirSync(runs, { recursive: true, encoding: "utf8" }) : [];
  const attempts = new Set(
    files.filter((path) => /(metrics_summary|status)\.json$/.test(path)).map((path) => path.replace(/\/[^/]*$/, "")),
  );
  let usd = 0;
  for (const attempt of attempts) {
    const summary = parsed(join(runs, attempt, "metrics_summary.json"));
    usd += summary ? summary.totals.estimated_cost : (parsed(join(runs, attempt, "status.json"))?.costs.total_estimated_cost ?? 0);
  }
  return usd;
}

/** Files of ours that are not whole: JSON that does not parse, lines of the journal, temporary files that stayed. */
export function tornFiles(directory: TeamDirectory): string[] {
  const files = filesBelow(directory.root, isTheirs);
  const torn = files.filter((path) => isTemporary(path) || (path.endsWith(".json") && parsed(join(directory.root, path)) === null));
  const journal = readJournal(directory.journal);
  const lines = journal.torn || journal.damaged > 0 ? [`events.jsonl (torn: ${journal.torn}, damaged lines: ${journal.damaged})`] : [];
  const gap = journal.events.some((event, index) => event.seq !== index + 1) ? ["events.jsonl (numbers have a gap)"] : [];
  return [...torn, ...lines, ...gap];
}

/** Live processes (no zombies) whose environment holds one of these texts: a project's path is in all that its runs start, mg-team included. */
export function livingBy(...texts: readonly string[]): number[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const isMeant = (pid: number) => {
    const environment = environmentOf(pid);
    return texts.some((text) => environment.includes(text));
  };
  return pids.map(Number).filter((pid) => pid !== process.pid && !isZombie(pid) && isMeant(pid));
}

// --- internal ---

/** As atomic.ts and tree-copy.ts name what they have not finished. */
function isTemporary(path: string): boolean {
  return /\.[0-9a-f]{12}\.(tmp|new|old)(\/|$)/.test(path);
}

/** Null when it is not there, or cut off. */
function parsed(path: string) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return null;
  }
}

function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1");
  } catch {
    return "";
  }
}

function isZombie(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return /^ [ZX]/.test(stat.slice(stat.lastIndexOf(")") + 1));
  } catch {
    return true;
  }
}
