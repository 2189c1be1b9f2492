import { join } from "node:path";
import { TeamError } from "../errors.ts";
import type { AgentId, AnswerSteps, Snapshot } from "../types.ts";
import { type AnswerContent, parseAnswer, parseVote } from "./step-content.ts";
import { isInside, isRealDirectory, namesIn, readUntrusted, realPathOf } from "./untrusted.ts";

/** How much of a session directory is read. Beyond that a file is garbled, and the lowest numbers are left out. */
export const stepLimits = { answerBytes: 16 * 1048576, voteBytes: 1048576, stepsOfAgent: 10_000, agents: 1_000 } as const;

/** One numbered directory of an agent, as its peers will read it. */
export type StepFile = StepPlace &
  (
    | { readonly kind: "new_answer" }
    | { readonly kind: "vote"; readonly target: string; readonly reason: string; readonly seenSteps: AnswerSteps | null }
    /** An answer in which there is nothing to see; MassGen shows it to voters. */
    | { readonly kind: "blank"; readonly file: string }
    /** `why` completes "the file …". `fatal`: it makes the step of every other agent fail. */
    | { readonly kind: "garbled"; readonly file: string; readonly why: string; readonly fatal: boolean }
    /** Neither answer.json nor vote.json. */
    | { readonly kind: "none" }
  );

export interface StepPlace {
  /** Number of the directory, 1 or more. */
  readonly step: number;
  /** Absolute. */
  readonly directory: string;
}

/** Ids of all agents that have a directory in the session, sorted; empty when there is no session. */
export function listAgents(sessionDir: string): AgentId[] {
  const root = rootOf(sessionDir);
  return root === null ? [] : agentsIn(root);
}

/** Number of an agent's highest step directory, whatever is in it; 0 without any. The next step of MassGen is above it. */
export function newestStep(sessionDir: string, agent: AgentId): number {
  const root = rootOf(sessionDir);
  return root === null ? 0 : (placesOf(root, agent).next().value?.step ?? 0);
}

/**
 * An agent's steps in order. Everything there is untrusted: only real directories named by digits are looked at, nothing throws.
 * @param after only steps with a higher number
 */
export function readAgentSteps(sessionDir: string, agent: AgentId, after = 0): StepFile[] {
  const root = rootOf(sessionDir);
  if (root === null) return [];
  const steps: StepFile[] = [];
  for (const place of placesOf(root, agent)) {
    if (place.step <= after) break;
    steps.push(readStep(root, place));
  }
  return steps.reverse();
}

/** What exists at this moment: what a step that starts now will be shown (design.md, core loop 1). Reads the newest answers only. */
export function snapshotSession(sessionDir: string): Snapshot {
  const root = rootOf(sessionDir);
  const answers: [AgentId, number][] = [];
  const blank: AgentId[] = [];
  if (root === null) return { answers: {}, blank };
  for (const agent of agentsIn(root)) {
    let newest = true;
    for (const place of placesOf(root, agent)) {
      const content = readAnswerFile(root, place);
      if (content === null || (content.kind === "garbled" && !content.shown)) continue;
      if (content.kind === "answer") {
        answers.push([agent, place.step]);
        break;
      }
      if (newest) blank.push(agent);
      newest = false;
    }
  }
  return { answers: Object.fromEntries(answers), blank };
}

/** A file in the session that fails the step of every other agent (design.md, core loop 5); absolute path, null without one. */
export function findPoison(sessionDir: string): string | null {
  for (const agent of listAgents(sessionDir)) {
    for (const step of readAgentSteps(sessionDir, agent)) if (step.kind === "garbled" && step.fatal) return step.file;
  }
  return null;
}

/**
 * An answer and its files.
 * @returns `workspace`: absolute path, null when the step has none
 * @throws TeamError `not_found` when it is gone, blank or garbled by now
 */
export function readAnswer(sessionDir: string, agent: AgentId, step: number): { readonly text: string; readonly workspace: string | null } {
  const root = rootOf(sessionDir);
  for (const place of root === null ? [] : placesOf(root, agent)) {
    if (place.step !== step || root === null) continue;
    const content = readAnswerFile(root, place);
    if (content?.kind !== "answer") break;
    const workspace = join(place.directory, "workspace");
    return { text: content.text, workspace: isRealDirectory(workspace) ? workspace : null };
  }
  const hint = "Something changed the session directory after the step; only MassGen may write there.";
  throw new TeamError("not_found", `the answer of ${agent} in step ${step} is not in ${sessionDir} any more`, hint);
}

// --- internal ---

/** Real paths: links may lead to a session directory, not out of it. */
interface Root {
  readonly session: string;
  readonly agents: string;
}

function rootOf(sessionDir: string): Root | null {
  const session = realPathOf(sessionDir);
  const agents = session === null ? null : realPathOf(join(session, "agents"));
  return session !== null && agents !== null && isInside(agents, session) ? { session, agents } : null;
}

function agentsIn(root: Root): AgentId[] {
  const names = namesIn(root.agents).filter((name) => isRealDirectory(join(root.agents, name)));
  return names.sort().slice(0, stepLimits.agents);
}

/** An agent's step directories, highest number first. */
function* placesOf(root: Root, agent: AgentId): Generator<StepPlace, undefined> {
  if (/[/\\\0]|^\.{0,2}$/.test(agent)) return;
  const home = join(root.agents, agent);
  if (!isRealDirectory(home)) return;
  const numbered = namesIn(home)
    .filter((name) => /^\d{1,15}$/.test(name) && Number(name) > 0)
    // Not `join`: a large session has ten thousand of these, and it costs as much as looking at the file.
    .map((name) => ({ step: Number(name), directory: `${home}/${name}` }))
    .sort((a, b) => b.step - a.step || (a.directory < b.directory ? 1 : -1));
  for (const place of numbered.slice(0, stepLimits.stepsOfAgent)) if (isRealDirectory(place.directory)) yield place;
}

// MassGen looks at vote.json only where there is no answer.json, even when that one is garbled.
function readStep(root: Root, place: StepPlace): StepFile {
  const file = `${place.directory}/answer.json`;
  const answer = readAnswerFile(root, place);
  if (answer?.kind === "answer") return { ...place, kind: "new_answer" };
  if (answer?.kind === "blank") return { ...place, kind: "blank", file };
  if (answer !== null) return { ...place, kind: "garbled", file, why: answer.why, fatal: answer.fatal };
  return readVote(root, place);
}

function readVote(root: Root, place: StepPlace): StepFile {
  const file = `${place.directory}/vote.json`;
  const found = readUntrusted(file, root.session, stepLimits.voteBytes);
  if (found.kind === "missing") return { ...place, kind: "none" };
  if (found.kind === "refused") return { ...place, kind: "garbled", file, why: found.why, fatal: found.unreadable };
  const vote = parseVote(found.bytes);
  if (vote.kind === "garbled") return { ...place, kind: "garbled", file, why: vote.why, fatal: vote.fatal };
  return { ...place, ...vote };
}

function readAnswerFile(root: Root, place: StepPlace): AnswerContent | null {
  const found = readUntrusted(`${place.directory}/answer.json`, root.session, stepLimits.answerBytes);
  if (found.kind === "missing") return null;
  // MassGen reads on where we refuse; what it then shows voters is nothing that may win.
  if (found.kind === "refused") return { kind: "garbled", why: found.why, fatal: found.unreadable, shown: !found.unreadable };
  return parseAnswer(found.bytes);
}
