import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type CurrentAnswer,
  copyDeliverable,
  definePlugin,
  formatDuration,
  listFiles,
  listOf,
  type SynthesisDocument,
  SynthesisStage,
  type Team,
} from "mg-team";

/** Seconds that must be left of `timeout` for a synthesis to be worth starting: a step of MassGen takes that long to start. */
const leastSeconds = 30;

/**
 * The default synthesis: one more step by the winner's model (or `synthesizer:`), in a session directory of its own that starts empty, so that
 * it can only answer; all latest answers and workspaces are its context files. Where it cannot be made, the winner's answer stands, with the reason.
 */
export default definePlugin({
  name: "agent-synthesis",
  apply(team) {
    let stopped: string | null = null;
    team.hooks.onEvent.tap("agent-synthesis", (event) => {
      if (event.type === "stop") stopped = event.message;
    });
    const tap = { name: "agent-synthesis", stage: SynthesisStage.write, timeLimitSeconds: null };
    team.hooks.onSynthesis.tapPromise(tap, async (document) => {
      if (document.kind !== "agent") return;
      const decided = stopped;
      document.whyNotAgent = reasonToSkip(team, document);
      if (document.whyNotAgent === null) await synthesise(team, document, () => (stopped === decided ? null : stopped));
    });
  },
});

function reasonToSkip(team: Team, { result }: SynthesisDocument): string | null {
  if (team.answers.length < 2) return "there is only one answer, so there is nothing to merge";
  const { timeoutSeconds, costBudget } = team.run.limits;
  const left = timeoutSeconds - team.elapsedSeconds;
  if (left < leastSeconds) return `only ${formatDuration(Math.max(0, left))} of the time limit was left`;
  const spent = team.cost.total_usd ?? 0;
  if (costBudget === null) return null;
  if (result.decision.reason === "cost_budget" || spent >= costBudget) return "the budget is used up";
  const dearest = Math.max(0, ...result.agents.flatMap((agent) => agent.steps.map((step) => step.usd ?? 0)));
  return spent + dearest > costBudget ? "it would likely exceed the budget" : null;
}

async function synthesise(team: Team, document: SynthesisDocument, stopMessage: () => string | null): Promise<void> {
  const { decision } = document.result;
  const winner = team.answers.find(({ agent }) => agent === decision.winner);
  if (!winner) return;
  const model = team.run.synthesizer ?? winner.agent;
  const sources = join(document.directory, "sources");
  gatherSources(team.answers, sources);
  const workspaces = team.answers.flatMap(({ workspace }) => (workspace ? [workspace] : []));
  const made = await team.runStep({
    model,
    query: taskOf(team.run.query, winner, team.answers, sources),
    sessionDir: emptySession(document.directory),
    context: [sources, ...workspaces],
  });
  if (made.answer === null) {
    document.whyNotAgent = `the synthesis step brought no answer (${stopMessage() ?? made.failure ?? "unknown"})`;
    return;
  }
  document.answer = made.answer;
  document.madeBy = team.run.synthesizer ?? winner.model;
  await replaceDeliverable(document, winner, made.workspace);
}

/** A resumed run may have begun a synthesis before: the step must start with nothing. */
function emptySession(directory: string): string {
  for (let attempt = 1; ; attempt++) {
    const path = join(directory, attempt === 1 ? "session" : `session_${attempt}`);
    if (!existsSync(path)) return path;
  }
}

/** The answers as files of their own: an answer may be longer than a command line can be. */
function gatherSources(answers: readonly CurrentAnswer[], directory: string): void {
  for (const answer of answers) {
    mkdirSync(join(directory, answer.agent), { recursive: true, mode: 0o700 });
    writeFileSync(sourceOf(directory, answer), answer.text, { mode: 0o600 });
  }
}

function sourceOf(directory: string, { agent }: CurrentAnswer): string {
  return join(directory, agent, "answer.md");
}

/** The task of the synthesis step. Agents are named by letter only, so that no model's name weighs in. */
function taskOf(query: string, winner: CurrentAnswer, answers: readonly CurrentAnswer[], sources: string): string {
  const describe = (answer: CurrentAnswer) =>
    `- ${answer.agent}: ${sourceOf(sources, answer)}${answer.workspace ? `, its files in ${answer.workspace}` : ""}`;
  const others = answers.filter(({ agent }) => agent !== winner.agent);
  return `A team of agents worked on the task below and voted for one answer. Write the final answer from it.

THE TASK
${query}

THE CHOSEN ANSWER (start from it; read it first)
${describe(winner)}

THE OTHER ANSWERS (read them too)
${others.map(describe).join("\n")}

WHAT TO DO
1. ${winner.workspace ? "Copy the files of the chosen answer into your own workspace and work on them there." : "Put any files that the task asks for into your own workspace."}
2. Verify it: no errors, no broken code, nothing missing. Test what can be tested.
3. Remove debug output and placeholders, and make it consistent.
4. Merge what the other answers have and the chosen one misses. Do not change what was chosen without need.
5. Submit the complete final answer as a new answer. It is read by the person who asked, without the other answers beside it: do not mention agents, votes or this process.`;
}

/** Puts the synthesised files in place, and reports what they lost against the winner's. */
async function replaceDeliverable(document: SynthesisDocument, winner: CurrentAnswer, workspace: string | null): Promise<void> {
  const { result } = document;
  const target = join(document.directory, "deliverable");
  const before = winner.workspace ? await listFiles(target) : [];
  const found = workspace ? await listFiles(workspace) : [];
  if (!workspace || found.length === 0) {
    if (before.length > 0) result.warnings.push("the synthesis left no files, so deliverable/ holds the winner's");
    return;
  }
  const { files } = await copyDeliverable(workspace, target);
  result.synthesis = { ...result.synthesis, deliverable: files.length > 0 ? target : result.synthesis.deliverable };
  const sizes = new Map(files.map(({ path, bytes }) => [path, bytes]));
  const gone = before.filter(({ path }) => !sizes.has(path)).map(({ path }) => path);
  const emptied = before.filter(({ path, bytes }) => bytes > 0 && sizes.get(path) === 0).map(({ path }) => path);
  if (gone.length > 0) result.warnings.push(`the synthesis left out files of the winner: ${listOf(gone)}; they are in winner/`);
  if (emptied.length > 0) result.warnings.push(`the synthesis emptied files of the winner: ${listOf(emptied)}; they are whole in winner/`);
}
