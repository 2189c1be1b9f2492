import { mkdirSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import { splitModel } from "../config/models.ts";
import { messageOf } from "../errors.ts";
import type { LaunchRequest } from "../plugin/hooks.ts";
import type { ExtraStep, ExtraStepResult } from "../plugin/plugin.ts";
import { askPlugins } from "../round.ts";
import { readAnswer } from "../session/steps.ts";
import { type Agent, unknownCost } from "../types.ts";
import type { Run } from "./run.ts";
import { finishStep, nextTry, runStep } from "./step.ts";
import { whyNoLaunch } from "./stop.ts";

/** `team.runStep`: one more step, in a session directory of its own, under the same supervision, cost and deadlines as any other. Never rejects for what the step does. */
export async function runExtraStep(run: Run, step: ExtraStep): Promise<ExtraStepResult> {
  const { sessionDir } = step;
  if (!isAbsolute(sessionDir)) throw new Error(`runStep needs an absolute sessionDir, not ${sessionDir}`);
  if (!/^\.\.([/\\]|$)/.test(relative(run.directory.session, sessionDir))) {
    throw new Error("runStep needs a sessionDir of its own: only the agents' rounds write to the team's session directory");
  }
  const before = stopMessage(run);
  if (before) return nothing(before);
  const kind = run.phase === "synthesis" ? "synthesis" : "plugin";
  const agent = agentFor(run, step.model, kind === "synthesis" ? "synthesizer" : "extra");
  const attempt = nextTry(run, agent.id, 0);
  const asked: LaunchRequest = {
    kind,
    agent: agent.id,
    model: agent.model,
    round: 0,
    try: attempt,
    asked: step.query,
    query: step.query,
    args: [],
    env: {},
    skip: null,
  };
  const request = await askPlugins(run, asked);
  if (!request) return nothing(stopMessage(run) ?? "a plugin stopped the run");
  if (request.skip) return nothing(`skipped by ${request.skip.by}: ${request.skip.reason}`);

  const runDir = join(run.directory.runs, kind, `${agent.id}_${attempt}`);
  const configPath = join(run.directory.configs, `${kind}_${agent.id}_${attempt}.yaml`);
  const context = step.context.map((path) => ({ path, permission: "read" }) as const);
  try {
    mkdirSync(sessionDir, { recursive: true, mode: 0o700 });
    const made = run.engine.writeConfig(agent, configPath, {
      docker: run.docker,
      context: [...run.settings.context, ...context],
      runDir: `${runDir}_config`,
    });
    // MassGen may take ten seconds for it; a stop does not wait for that. What is still at it then ends with the program.
    await Promise.race([made, run.stopper.whenStopped]);
  } catch (error) {
    return nothing(messageOf(error));
  }
  const since = stopMessage(run);
  if (since) return nothing(since);
  const finished = await runStep(run, request, {
    agent,
    query: request.query,
    sessionDir,
    configPath,
    // What the answers are measured by, the final one is as well; a step that a plugin runs meanwhile may be about anything.
    criteriaPath: kind === "synthesis" ? run.settings.criteriaPath : null,
    runDir,
    args: request.args,
    env: request.env,
    timeoutSeconds: run.settings.limits.stepTimeoutSeconds,
  });
  if (!finished) return nothing(run.writeError?.message ?? "its directory could not be written");
  finishStep(run, kind, finished, false);
  run.refresh();
  const { action } = finished;
  const { cost, seconds } = action;
  if (action.kind === "new_answer") {
    const { text, workspace } = readAnswer(sessionDir, agent.id, action.step);
    return { answer: text, workspace, failure: null, cost, seconds };
  }
  const failure = action.kind === "failed" ? `${action.class}: ${action.message}` : "it voted instead of answering";
  return { answer: null, workspace: null, failure, cost, seconds };
}

// --- internal ---

function nothing(failure: string): ExtraStepResult {
  return { answer: null, workspace: null, failure, cost: unknownCost, seconds: 0 };
}

function stopMessage(run: Run): string | null {
  return run.phase === "over" ? "the run is over" : (whyNoLaunch(run)?.message ?? null);
}

/** @param otherwise the id of a model that is not in the team */
function agentFor(run: Run, model: Agent | string, otherwise: string): Agent {
  if (typeof model !== "string") {
    if (/^\.{0,2}$|[/\\\0]/.test(model.id))
      throw new Error(`runStep makes paths of an agent's id, so it cannot be ${JSON.stringify(model.id)}`);
    return model;
  }
  const known = run.settings.agents.find((agent) => agent.id === model || agent.model === model);
  if (known) return known;
  const found = splitModel(model);
  if (found === null) throw new Error(`runStep needs an agent of the team or a model such as codex/gpt-5.4, not ${model}`);
  return { id: otherwise, ...found };
}
