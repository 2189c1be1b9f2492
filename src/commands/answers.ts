import { existsSync } from "node:fs";
import { ExitCode, messageOf, TeamError } from "../errors.ts";
import { isLocked } from "../session/lock.ts";
import { readResult } from "../session/read-result.ts";
import { readRegularText } from "../session/regular-file.ts";
import { listAgents, readAgentSteps, readAnswer } from "../session/steps.ts";
import { listOf, nearest, quoted } from "../text.ts";
import type { AgentId } from "../types.ts";
import type { NamedText } from "../view/diff.ts";
import { readTeamConfig, type StatusTarget } from "../view/status/read.ts";

/** Which answer is meant: of an agent (a word that names it) its newest, or that of a step; without an agent the final one. */
export interface AnswerName {
  readonly agent: string | null;
  readonly step: number | null;
}

/** An answer with what a diff calls it. */
export interface ShownAnswer extends NamedText {
  /** Absolute path of its files; null without. */
  readonly files: string | null;
}

/** The answers of one run, or of a session directory. */
export interface Answers {
  /** Throws a TeamError that says which answers there are: `usage` for an unknown agent, `not_found` for an answer that is not there. */
  read(name: AnswerName): ShownAnswer;
}

/** `agent_b`, `agent_b:2`, `final`; with an agent also `2`. Throws a TeamError (usage) for a step without an agent. */
export function parseAnswerName(word: string, agent: string | null): AnswerName {
  if (word === "final") return { agent: null, step: null };
  const [, name = "", step] = /^(.*?)(?::0*(\d{1,15}))?$/s.exec(word) ?? [];
  if (/^\d+$/.test(word)) {
    if (agent !== null) return { agent, step: Number(word) };
    const hint = `For example: mg-team show --agent agent_b --diff ${word} ${Number(word) + 1}`;
    throw new TeamError("usage", `${quoted(word)} is a step, but of which agent?`, hint);
  }
  return { agent: name, step: step === undefined ? null : Number(step) };
}

export function openAnswers(target: StatusTarget): Answers {
  const sessionDir = target.kind === "team" ? target.directory.session : target.path;
  const models = target.kind === "team" ? readTeamConfig(target.directory).models : {};
  return {
    read({ agent, step }) {
      if (agent === null) return finalAnswer(target);
      const id = findAgentId(agent, models, sessionDir);
      const answer = chooseStep(sessionDir, id, step);
      const { text, workspace } = readAnswer(sessionDir, id, answer);
      return { name: `${id} step ${answer}`, text, files: workspace };
    },
  };
}

// --- internal ---

function finalAnswer(target: StatusTarget): ShownAnswer {
  if (target.kind === "session") {
    const hint = "Name an agent: mg-team show PATH --agent agent_a. Who has an answer: mg-team status PATH";
    throw new TeamError("not_found", "a session directory has no final answer, only those of its agents", hint);
  }
  const { id, root, result: resultPath, finalAnswer: path, deliverable } = target.directory;
  const files = existsSync(deliverable) ? deliverable : null;
  const name = `final answer of ${id}`;
  const { result } = readResult(resultPath);
  if (existsSync(path)) {
    try {
      return { name, text: readRegularText(path), files };
    } catch (error) {
      throw new TeamError("not_found", `${path} cannot be read: ${messageOf(error)}`, "Its permissions may have been changed.", {
        cause: error,
      });
    }
  }
  if (typeof result?.answer === "string") return { name, text: result.answer, files };
  const others = `The answers so far: mg-team show ${id} --agent agent_a`;
  if (isLocked(root)) throw new TeamError("not_found", `${id} is still at work: there is no final answer yet`, others);
  const message = result ? `${id} ended without an answer: ${result.decision.rule}` : `${id} has no final answer`;
  const hint = result ? `What happened: mg-team status ${id}` : `Go on with it: mg-team resume ${id}\n${others}`;
  throw new TeamError("not_found", message, hint, { exitCode: ExitCode.noAnswer });
}

/** `agent_b` for `agent_b`, `b`, `gemini`, `gemini/gemini-3.1-pro-preview`. */
function findAgentId(word: string, models: Readonly<Record<AgentId, string>>, sessionDir: string): AgentId {
  const ids = [...new Set([...Object.keys(models), ...listAgents(sessionDir)])];
  const exact = ids.find((id) => id === word || id === `agent_${word.toLowerCase()}`);
  if (exact !== undefined) return exact;
  const named = Object.entries(models).flatMap(([id, model]) => (model === word || model.split("/").includes(word) ? [id] : []));
  const [only, another] = named;
  if (only !== undefined && another === undefined) return only;
  if (only !== undefined) throw new TeamError("usage", `${quoted(word)} means ${listOf(named)}`, `Name one of them: --agent ${only}`);
  const meant = nearest(word, ids);
  const there = ids.length === 0 ? "No agent has taken a step yet." : `There are ${listOf(ids)}.`;
  throw new TeamError("usage", `there is no agent ${quoted(word)} in this run`, meant === null ? there : `Did you mean ${meant}?`);
}

/** The step that was asked for when it holds an answer, or that of the newest answer. */
function chooseStep(sessionDir: string, id: AgentId, wanted: number | null): number {
  const steps = readAgentSteps(sessionDir, id);
  const answers = steps.filter(({ kind }) => kind === "new_answer").map(({ step }) => step);
  const newest = answers.at(-1);
  if (newest === undefined) throw new TeamError("not_found", `${id} has no answer`, "Who has one: mg-team status");
  if (wanted === null || answers.includes(wanted)) return wanted ?? newest;
  const step = steps.findLast((each) => each.step === wanted);
  const what = step?.kind === "vote" ? `is a vote for ${step.target || "nobody"}` : step ? "holds no answer" : "does not exist";
  const hint = `Its answers are in ${answers.length === 1 ? "step" : "steps"} ${listOf(answers.map(String))}.`;
  throw new TeamError("not_found", `step ${wanted} of ${id} ${what}`, hint);
}
