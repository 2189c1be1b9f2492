import { join } from "node:path";
import { plural, type ResultAgent } from "mg-team";
import type { FinalAnswerInput, OtherAnswer } from "./input.ts";
import { link, words } from "./markup.ts";

/** What the agents that did not win have submitted, and where to read on; empty without any. */
export function contributionsSection({ result, answers, directory }: FinalAnswerInput): string {
  const others = result.agents.filter(({ id }) => id !== result.decision.winner);
  if (others.length === 0) return "";
  const parts = others.map((agent) => {
    const answer = answers.find((each) => each.agent === agent.id);
    const name = `**${words(agent.id, 60)}** (${words(agent.model, 80)})`;
    return answer
      ? `${name}:\n\n> ${excerpt(answer.text)}\n\n${whereToRead(answer, result.session_dir, directory)}`
      : `${name}: no answer.`;
  });
  return ["## What the others contributed", ...parts].join("\n\n");
}

/** Agents that are out of the run, or whose last step failed, and why; empty without any. */
export function failuresSection({ result, directory }: FinalAnswerInput): string {
  const failed = result.agents.filter((agent) => agent.status === "out" || agent.failure !== null);
  if (failed.length === 0) return "";
  const lines = failed.map((agent) => {
    const tries = agent.steps.filter(({ action }) => action === "failed").length;
    const count = tries > 0 ? ` It failed in ${plural(tries, "step")}.` : "";
    return `- **${words(agent.id, 60)}** (${words(agent.model, 80)})${agent.status === "out" ? "" : ", still in the run"}: ${causeOf(agent, result.session_dir, directory)}${count}`;
  });
  return ["## Agents that failed", lines.join("\n")].join("\n\n");
}

// --- internal ---

const excerptLength = 500;

/** The first paragraph that is more than a heading, a rule or a fence. */
function excerpt(text: string): string {
  const blocks = text.split(/\n\s*\n/).map((block) =>
    block
      .split("\n")
      .filter((line) => !/^\s*(#{1,6}\s|[-*_=~`\s]+$|```|~~~|<!--)/.test(line))
      .join(" ")
      .trim(),
  );
  return words(blocks.find((block) => block !== "") ?? text, excerptLength);
}

/** Of the session directory, whose layout is MassGen's (massgen.md, "What it leaves"). */
function whereToRead({ agent, step, workspace }: OtherAnswer, sessionDir: string, directory: string): string {
  const file = join(sessionDir, "session", "agents", agent, String(step).padStart(3, "0"), "answer.json");
  const whole = link("the whole answer", file, directory);
  return workspace === null ? `Read ${whole}.` : `Read ${whole}; its files are in ${link("its workspace", workspace, directory)}.`;
}

function causeOf({ failure }: ResultAgent, sessionDir: string, directory: string): string {
  if (failure === null) return "unknown.";
  const log = failure.log === "" ? "" : ` (${link("log", join(sessionDir, failure.log), directory)})`;
  return `${failure.class}, ${words(failure.message, 400).replace(/[.\s]+$/, "")}${log}.`;
}
