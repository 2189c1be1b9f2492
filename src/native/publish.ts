import { randomBytes } from "node:crypto";
import fs from "node:fs";
import { join } from "node:path";
import { systemCodeOf } from "../errors.ts";
import { syncDirectory, writeFileAtomicSync } from "../session/atomic.ts";
import { writeError } from "../session/reasons.ts";
import { newestStep } from "../session/steps.ts";
import { copyPlanned } from "../session/tree-copy.ts";
import { planTree } from "../session/tree-plan.ts";
import type { AgentId, AnswerSteps } from "../types.ts";
import type { Usage } from "./usage.ts";
import type { Decision } from "./workflow.ts";

export interface Publication {
  readonly sessionDir: string;
  readonly agent: AgentId;
  readonly decision: Decision;
  /** For a vote: what existed when the step began. */
  readonly seenSteps: AnswerSteps;
  /** Absolute; the step's own. */
  readonly workspace: string;
  readonly seconds: number;
  readonly usage: Usage;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Aborted: nothing is published. */
  readonly stop: AbortSignal;
}

/** What was published. */
export interface Published {
  readonly step: number;
  /** Absolute. */
  readonly directory: string;
  /** Absolute. */
  readonly lastAction: string;
}

/**
 * Writes what a step brought into the session directory, as MassGen's step mode does (massgen 0.1.97, `step_mode.py`, save_step_mode_output),
 * but whole or not at all: the step's directory is filled under another name, which nobody reads, and renamed.
 * @throws TeamError `write`; or whatever `stop` was aborted with. Nothing is left behind then.
 */
export async function publish(publication: Publication): Promise<Published> {
  const { sessionDir, agent, decision, stop } = publication;
  const home = join(sessionDir, "agents", agent);
  const fresh = join(home, `.step.${process.pid}.${randomBytes(6).toString("hex")}.tmp`);
  const timestamp = new Date(publication.now).toISOString();
  try {
    fs.mkdirSync(home, { recursive: true });
    sweep(home);
    fs.mkdirSync(fresh, { mode: 0o755 });
    const hasFiles = decision.kind === "new_answer" && (await fillWorkspace(publication.workspace, join(fresh, "workspace")));
    writeJson(join(fresh, decision.kind === "vote" ? "vote.json" : "answer.json"), contentOf(publication, timestamp));
    stop.throwIfAborted();
    const step = claim(fresh, sessionDir, agent);
    const directory = placeOf(home, step);
    // From here on the step has happened, whatever becomes of the rest.
    const lastAction = join(home, "last_action.json");
    writeJson(lastAction, summaryOf(publication, timestamp, step, hasFiles ? join(directory, "workspace") : null));
    return { step, directory, lastAction };
  } catch (error) {
    throw systemCodeOf(error) === undefined ? error : writeError("write the step into", home, error);
  } finally {
    removeQuietly(fresh);
  }
}

// --- internal ---

function contentOf({ agent, decision, seenSteps }: Publication, timestamp: string): Readonly<Record<string, unknown>> {
  if (decision.kind === "new_answer") return { agent_id: agent, answer: decision.content, timestamp };
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

/** Copies the workspace as it is now. False when there is nothing in it: then the answer has no workspace. */
async function fillWorkspace(workspace: string, to: string): Promise<boolean> {
  const plan = await planTree(workspace, () => null);
  if (plan.files.length + plan.emptyDirectories.length === 0) return false;
  fs.mkdirSync(to, { mode: 0o755 });
  await copyPlanned(workspace, plan, to);
  return true;
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
