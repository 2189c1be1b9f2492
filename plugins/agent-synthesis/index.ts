import { existsSync } from "node:fs";
import { join } from "node:path";
import { definePlugin, formatDuration, type SynthesisDocument, SynthesisStage, type Team } from "mg-team";
import { replaceDeliverable } from "./files.ts";
import { prepareTask } from "./task.ts";

/** Seconds that must be left of `timeout` for a synthesis to be worth starting: a step of MassGen takes that long to start. */
const leastSeconds = 30;

/**
 * The default synthesis: one more step by the winner's model (or `synthesizer:`), in a session directory of its own that starts empty, so that
 * it can only answer; all latest answers and workspaces are its context files. Where it cannot be made, the winner's answer stands, with the reason.
 */
export default definePlugin({
  name: "agent-synthesis",
  summary: "Has the winner's model verify, complete and merge, in one more step",
  apply(team) {
    let stopped: string | null = null;
    team.hooks.onEvent.tap("agent-synthesis", (event) => {
      if (event.type === "stop") stopped = event.message;
    });
    const tap = { name: "agent-synthesis", stage: SynthesisStage.write, timeLimitSeconds: null };
    team.hooks.onSynthesis.tapPromise(tap, async (document) => {
      if (document.kind !== "agent") return;
      const decided = stopped;
      document.whyNotAgent =
        reasonToSkip(team, document) ?? (await synthesise(team, document, () => (stopped === decided ? null : stopped)));
    });
  },
});

function reasonToSkip(team: Team, { result }: SynthesisDocument): string | null {
  if (team.answers.length < 2) return "there is only one answer, so there is nothing to merge";
  const steps = result.agents.flatMap((agent) => agent.steps);
  const { timeoutSeconds, costBudget } = team.run.limits;
  const left = Math.max(0, timeoutSeconds - team.elapsedSeconds);
  if (left < leastSeconds) return `only ${formatDuration(left)} of the time limit was left`;
  // One that ends before it has answered costs money and brings nothing.
  const quickest = Math.min(...steps.filter(({ action }) => action === "new_answer").map(({ seconds }) => seconds));
  if (left < quickest)
    return `only ${formatDuration(left)} of the time limit was left, and no answer took less than ${formatDuration(quickest)}`;
  if (costBudget === null) return null;
  const spent = team.cost.total_usd ?? 0;
  if (result.decision.reason === "cost_budget" || spent >= costBudget) return "the budget is used up";
  const dearest = Math.max(0, ...steps.map(({ usd }) => usd ?? 0));
  return spent + dearest > costBudget ? "it would likely exceed the budget" : null;
}

/** @returns why there is none; null when `document` holds it */
async function synthesise(team: Team, document: SynthesisDocument, stopMessage: () => string | null): Promise<string | null> {
  const { answers } = team;
  const winner = answers.find(({ agent }) => agent === document.result.decision.winner);
  if (!winner) return "the winner's answer is gone";
  const synthesizer = team.run.synthesizer;
  try {
    const { query, context } = prepareTask(team.run.query, winner, answers, join(document.directory, "sources"));
    const sessionDir = emptySession(document.directory);
    const made = await team.runStep({ model: synthesizer ?? winner.agent, query, sessionDir, context });
    if (made.answer === null) return `the synthesis step brought no answer (${stopMessage() ?? made.failure ?? "unknown"})`;
    // The files first: where they cannot be put in place, neither is the text that speaks of them.
    for (const warning of await replaceDeliverable(document, winner, made.workspace)) {
      document.result.warnings.push(warning);
      team.log.warn(warning);
    }
    document.answer = made.answer;
    document.madeBy = synthesizer ?? winner.model;
    return null;
  } catch (error) {
    return `it could not be made (${error instanceof Error ? error.message : error})`;
  }
}

/** A resumed run may have begun a synthesis before: the step must start with nothing. */
function emptySession(directory: string): string {
  for (let attempt = 1; ; attempt++) {
    const path = join(directory, attempt === 1 ? "session" : `session_${attempt}`);
    if (!existsSync(path)) return path;
  }
}
