import { randomBytes } from "node:crypto";
import fs from "node:fs";
import { dirname, join } from "node:path";
import { messageOf, systemCodeOf } from "../errors.ts";
import { syncDirectory, writeFileAtomicSync } from "../session/atomic.ts";
import { nativeMark } from "../session/internals.ts";
import { writeError } from "../session/reasons.ts";
import { newestStep } from "../session/steps.ts";
import { copyPlanned } from "../session/tree-copy.ts";
import { planTree, treeLimits } from "../session/tree-plan.ts";
import { namesIn } from "../session/untrusted.ts";
import type { AgentId, AnswerSteps } from "../types.ts";
import type { Usage } from "./usage.ts";
import type { Decision } from "./workflow.ts";

export interface Publication {
  readonly sessionDir: string;
  readonly agent: AgentId;
  readonly decision: Decision;
  /** For a vote: what existed when the step began. */
  readonly seenSteps: AnswerSteps;
  /** Absolute; the step's own. Is published itself, not a copy: nobody uses it afterwards. */
  readonly workspace: string;
  readonly seconds: number;
  readonly usage: Usage;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** What was published. */
export interface Published {
  readonly step: number;
  /** Absolute. */
  readonly directory: string;
  /** Absolute. */
  readonly lastAction: string;
  /** Why `lastAction` could not be written, as a sentence; null when it was. The step has happened all the same. */
  readonly problem: string | null;
}

/**
 * Writes what a step brought into the session directory, as MassGen's step mode does (massgen 0.1.97, `step_mode.py`, save_step_mode_output),
 * but whole or not at all: the step's directory is filled under another name, which nobody reads, and renamed. Whoever stops the step now has
 * paid for it already, so it goes on: the workspace is moved, and that takes no time, however large it is.
 * @throws TeamError `write`. Nothing is left behind then, and the workspace is where it was.
 */
export async function publish(publication: Publication): Promise<Published> {
  const { sessionDir, agent, decision, workspace } = publication;
  const home = join(sessionDir, "agents", agent);
  const fresh = join(home, `.step.${process.pid}.${randomBytes(6).toString("hex")}.tmp`);
  const timestamp = new Date(publication.now).toISOString();
  try {
    fs.mkdirSync(home, { recursive: true });
    sweep(home);
    fs.mkdirSync(fresh, { mode: 0o755 });
    const hasFiles = decision.kind === "new_answer" && namesIn(workspace).length > 0;
    writeJson(join(fresh, decision.kind === "vote" ? "vote.json" : "answer.json"), contentOf(publication, timestamp));
    if (hasFiles) await moveWorkspace(workspace, join(fresh, "workspace"));
    const step = claim(fresh, sessionDir, agent);
    const directory = placeOf(home, step);
    const lastAction = join(home, "last_action.json");
    const summary = summaryOf(publication, timestamp, step, hasFiles ? join(directory, "workspace") : null);
    return { step, directory, lastAction, problem: attempt(() => writeJson(lastAction, summary)) };
  } catch (error) {
    // It was paid for, and somebody may want to look into it.
    if (!fs.existsSync(workspace)) moveQuietly(join(fresh, "workspace"), workspace);
    throw systemCodeOf(error) === undefined ? error : writeError("write the step into", home, error);
  } finally {
    removeQuietly(fresh);
  }
}

// --- internal ---

function contentOf({ agent, decision, seenSteps }: Publication, timestamp: string): Readonly<Record<string, unknown>> {
  // MassGen reads over the last field: it is how we know that MassGen keeps nothing in this workspace.
  if (decision.kind === "new_answer") return { agent_id: agent, answer: decision.content, timestamp, engine: nativeMark };
  const { candidate, reason } = decision;
  return { voter: agent, target: candidate.agent, reason, seen_steps: seenSteps, timestamp };
}

function summaryOf(publication: Publication, timestamp: string, step: number, workspace: string | null): Readonly<Record<string, unknown>> {
  const { agent, decision, seconds, usage } = publication;
  const vote = decision.kind === "vote" ? decision : null;
  return {
    agent_id: agent,
    action: decision.kind,
    answer_text: decision.kind === "new_answer" ? decision.content : null,
    vote_target: vote?.candidate.agent ?? null,
    vote_reason: vote?.reason ?? null,
    timestamp,
    step_number: step,
    duration_seconds: seconds,
    cost: {
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
      // Left out while it is unknown: a zero would say that it was free, and a part that it was all.
      ...(usage.usd === null || usage.uncounted > 0 ? {} : { estimated_cost: usage.usd }),
    },
    workspace_path: workspace,
  };
}

/** Files in it are on the disk already, each by its fsync; the names of its directories are not. */
async function moveWorkspace(workspace: string, to: string): Promise<void> {
  fs.chmodSync(workspace, 0o755);
  for (const directory of directoriesIn(workspace)) syncDirectory(directory);
  try {
    fs.renameSync(workspace, to);
  } catch {
    // To another file system, or on Windows, where somebody may have a file of it open.
    await copyWorkspace(workspace, to);
  }
  syncDirectory(dirname(to));
}

/** Whoever reads the session may be another user, in a container. */
async function copyWorkspace(workspace: string, to: string): Promise<void> {
  const plan = await planTree(workspace, () => null, { ...treeLimits, depth: deepest });
  fs.mkdirSync(to, { mode: 0o755 });
  const { files } = await copyPlanned(workspace, plan, to);
  for (const { path } of files) {
    const file = fs.openSync(join(to, path), "r");
    try {
      const { mode } = fs.fstatSync(file);
      fs.fchmodSync(file, (mode & 0o100) === 0 ? 0o644 : 0o755);
      fs.fsyncSync(file);
    } finally {
      fs.closeSync(file);
    }
  }
  for (const directory of directoriesIn(to)) {
    fs.chmodSync(directory, 0o755);
    syncDirectory(directory);
  }
}

/** Names in a path that the tools take: it has 1000 characters at most. */
const deepest = 1000;

/** A directory and all below it; links are not followed. */
function directoriesIn(directory: string): string[] {
  const found = [directory];
  for (let next = 0; next < found.length; next++) {
    const parent = found[next] ?? "";
    for (const entry of fs.readdirSync(parent, { withFileTypes: true })) if (entry.isDirectory()) found.push(join(parent, entry.name));
  }
  return found;
}

/** Renames the finished directory to the next free number; somebody else may be faster. */
function claim(fresh: string, sessionDir: string, agent: AgentId): number {
  const home = join(sessionDir, "agents", agent);
  for (let step = newestStep(sessionDir, agent) + 1; ; step++) {
    if (fs.existsSync(placeOf(home, step))) continue;
    try {
      fs.renameSync(fresh, placeOf(home, step));
      syncDirectory(home);
      return step;
    } catch (error) {
      if (!["EEXIST", "ENOTEMPTY", "ENOTDIR", "EISDIR"].includes(systemCodeOf(error) ?? "")) throw error;
    }
  }
}

function placeOf(home: string, step: number): string {
  return join(home, String(step).padStart(3, "0"));
}

/** What went wrong, as a sentence; null when nothing did. */
function attempt(work: () => void): string | null {
  try {
    work();
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

function moveQuietly(from: string, to: string): void {
  try {
    fs.renameSync(from, to);
  } catch {
    // It had not been moved, or the disk fails.
  }
}

/** The first error is the one to report; the next step removes what stays. */
function removeQuietly(path: string): void {
  try {
    fs.rmSync(path, { recursive: true, force: true });
  } catch {
    // Its directory is none, or the disk fails.
  }
}

/** What steps of the same agent left that were killed while they wrote. */
function sweep(home: string): void {
  for (const name of fs.readdirSync(home)) {
    const pid = /^\.step\.(\d+)\.[0-9a-f]{12}\.tmp$/.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) fs.rmSync(join(home, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCodeOf(error) !== "ESRCH";
  }
}

function writeJson(path: string, value: unknown): void {
  writeFileAtomicSync(path, `${JSON.stringify(value, null, 2)}\n`, 0o644);
}
