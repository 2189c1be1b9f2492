import { randomInt } from "node:crypto";
import { join } from "node:path";
import { listAgents, readAgentSteps, readAnswer, snapshotSession } from "../session/steps.ts";
import { realPathOf } from "../session/untrusted.ts";
import type { AgentId, AnswerSteps } from "../types.ts";

/** An answer as the agents see it: under a label that says nothing of who wrote it. */
export interface Candidate {
  /** `agent1`, `agent2` …, dealt anew for every step. */
  readonly label: string;
  readonly agent: AgentId;
  readonly step: number;
  /** Without the places of its files, which name its agent. */
  readonly text: string;
  /** Absolute; null without files. */
  readonly workspace: string | null;
}

/** What existed when a step began. */
export interface SeenSession {
  /** In the order of their labels; the step's own agent among them. */
  readonly candidates: readonly Candidate[];
  /** For vote.json: the newest answer of each agent, those included that cannot be voted for. */
  readonly seenSteps: AnswerSteps;
}

/**
 * Reads a session directory: whatever peers submit while it does, or later, this step has not seen. Labels are dealt at random, so that neither name nor
 * place tells who wrote what. An agent whose newest answer is blank is left out: a vote for it would count for nothing.
 * @param deal puts things into an order; a test brings its own
 */
export function readSession(sessionDir: string, deal: <T>(items: readonly T[]) => readonly T[] = shuffled): SeenSession {
  // Before the snapshot: of an answer that nobody is shown, an older step may be named, never a newer one.
  const before = newestAnswers(sessionDir);
  const { answers, blank } = snapshotSession(sessionDir);
  const agents = deal(Object.keys(answers).filter((agent) => !blank.includes(agent)));
  const found = agents.map((agent) => ({ agent, step: answers[agent] ?? 0 }));
  const candidates = found.map(({ agent, step }, index) => ({
    label: `agent${index + 1}`,
    agent,
    step,
    ...readAnswer(sessionDir, agent, step),
  }));
  const shown = candidates.map((candidate) => ({ ...candidate, text: withoutPlaces(candidate.text, sessionDir, candidates) }));
  return { candidates: shown, seenSteps: { ...before, ...Object.fromEntries(found.map(({ agent, step }) => [agent, step])) } };
}

// --- internal ---

/**
 * Takes the paths of workspaces out of an answer: MassGen puts in where the files are, and with it the name of the agent. What is left is
 * the name that this step's tools know them by: `@agent1`.
 */
function withoutPlaces(text: string, sessionDir: string, candidates: readonly Candidate[]): string {
  const roots = [...new Set([sessionDir, realPathOf(sessionDir) ?? sessionDir])].map((root) => join(root, "agents"));
  let result = text;
  for (const { agent, label } of candidates) {
    for (const root of roots) {
      const place = new RegExp(`${escaped(join(root, agent))}/\\d+/workspace\\b`, "g");
      result = result.replace(place, `@${label}`);
    }
  }
  return result;
}

/** As MassGen counts them (step_mode.py, _get_latest_answer_steps): every answer file that can be read, blank or not. */
function newestAnswers(sessionDir: string): AnswerSteps {
  const newest = listAgents(sessionDir).map((agent) => {
    const steps = readAgentSteps(sessionDir, agent).filter(({ kind }) => kind === "new_answer" || kind === "blank");
    return [agent, steps.at(-1)?.step] as const;
  });
  return Object.fromEntries(newest.filter((entry): entry is [string, number] => entry[1] !== undefined));
}

/** Fisher and Yates, with numbers that nobody can guess. */
function shuffled<T>(items: readonly T[]): readonly T[] {
  const result = [...items];
  for (let last = result.length - 1; last > 0; last--) {
    const other = randomInt(last + 1);
    const [one, two] = [result[last], result[other]] as [T, T];
    [result[last], result[other]] = [two, one];
  }
  return result;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
