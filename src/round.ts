import type { StepSpec } from "./engine/engine.ts";
import type { LaunchRequest } from "./plugin/hooks.ts";
import { findAgent, type StepKind } from "./session/state.ts";
import { withPatience } from "./team/patience.ts";
import type { Run } from "./team/run.ts";
import { type FinishedStep, finishStep, momentOf, nextTry, runStep } from "./team/step.ts";
import { type Action, type AgentId, unknownCost } from "./types.ts";

/**
 * One round (core loop 1 and 2): asks the plugins about every launch, then launches all of them together and waits for the barrier.
 * A stop of the run also ends the round: nothing more is launched, what runs is stopped, what landed counts.
 */
export async function runRound(run: Run, round: number, agents: readonly AgentId[]): Promise<void> {
  run.emit({ type: "round.started", round, agents });
  const requests: LaunchRequest[] = [];
  for (const agent of agents) {
    const request = await askPlugins(run, newRequest(run, "round", agent, round));
    if (!request) return;
    requests.push(request);
  }
  const slots = createSlots(run.settings.limits.maxParallel ?? Number.POSITIVE_INFINITY);
  const turns = Promise.all(requests.map((request) => slots(() => takeTurn(run, request))));
  run.pending.push(turns);
  await Promise.race([turns, run.stopper.whenInterrupted]);
}

/** Lets plugins edit a launch, or skip it. Null when the run stops instead. */
export async function askPlugins(run: Run, request: LaunchRequest): Promise<LaunchRequest | null> {
  try {
    const answer = (await withPatience(run, "beforeLaunch", run.hooks.beforeLaunch.promise({ ...request }))) ?? request;
    return run.stopper.request ? null : edited(request, answer);
  } catch (error) {
    run.pluginFailed(error, "beforeLaunch");
    return null;
  }
}

// --- internal ---

/** Of what plugins return only what they may edit counts. */
function edited(request: LaunchRequest, { query, args, env, skip }: LaunchRequest): LaunchRequest {
  return { ...request, query, args, env, skip };
}

/** Seconds before the retry of a step whose provider refused for quota without saying for how long. */
const quotaWait = 20;

/** Longest such wait in seconds: a limit that lasts longer is not worth waiting for within a run. */
const longestQuotaWait = 300;

function newRequest(run: Run, kind: "round" | "retry", agent: AgentId, round: number): LaunchRequest {
  const model = findAgent(run.state, agent)?.agent.model ?? agent;
  const attempt = nextTry(run, agent, round);
  return { kind, agent, model, round, try: attempt, asked: run.settings.query, query: run.settings.query, args: [], env: {}, skip: null };
}

/** One agent's part of a round: its step, and retries until it acts or is out. */
async function takeTurn(run: Run, first: LaunchRequest): Promise<void> {
  let request: LaunchRequest | null = first;
  for (let retries = 0; request && !run.stopper.request && !run.poison; retries++) {
    if (request.skip) return skip(run, request, request.skip);
    const step = await runStep(run, request, specOf(run, request));
    if (!step) return;
    const retry = retries < run.settings.limits.retries && mayRetry(run, step);
    if (!step.interrupted) await annotate(run, step.action);
    finishStep(run, request.kind, step, retry);
    const { action } = step;
    if (!retry && !step.interrupted && action.kind === "failed") {
      run.emit({ type: "agent.out", agent: action.agent, class: action.class, message: action.message, log: action.log });
    }
    if (!retry) return;
    if (action.kind === "failed" && action.class === "quota") {
      await run.clock.sleep(step.report.failure?.retryAfterSeconds ?? quotaWait, run.stopper.signal);
    }
    if (run.stopper.request) return;
    request = await askPlugins(run, newRequest(run, "retry", request.agent, request.round));
  }
}

/**
 * Retries help against accidents, not against wrong keys or configs, and not once the run stops (core loop 2). A provider that wants to be left
 * alone for longer than the run has left, or for very long, would only keep the others waiting, and asking before that is in vain.
 */
function mayRetry(run: Run, step: FinishedStep): boolean {
  const { action, report } = step;
  if (action.kind !== "failed" || report.stopCause || run.stopper.request || run.poison) return false;
  const left = run.settings.limits.timeoutSeconds - run.elapsed();
  if (action.class === "quota" && (report.failure?.retryAfterSeconds ?? 0) > Math.min(left, longestQuotaWait)) return false;
  return action.class !== "auth" && action.class !== "config" && action.class !== "timeout";
}

/** `onAction`: plugins see a copy; only their notes are kept, so that no plugin can change what an agent did. */
async function annotate(run: Run, action: Action): Promise<void> {
  if (run.stopper.interrupted) return;
  try {
    const copy = structuredClone(action);
    const { notes } = (await withPatience(run, "onAction", run.hooks.onAction.promise(copy))) ?? copy;
    if (Array.isArray(notes)) action.notes = notes.map(String);
  } catch (error) {
    run.pluginFailed(error, "onAction");
  }
}

async function skip(run: Run, request: LaunchRequest, { reason, by }: { readonly reason: string; readonly by: string }): Promise<void> {
  const { agent, round, try: attempt, kind } = request;
  const launchedWith = { answers: {}, blank: [] };
  const action: Action = {
    kind: "skipped",
    agent,
    round,
    try: attempt,
    launchedWith,
    seconds: 0,
    cost: unknownCost,
    at: momentOf(run),
    reason,
    by,
  };
  await annotate(run, action);
  run.emit({ type: "step.finished", kind: kind as StepKind, action, retry: false, interrupted: false });
}

function specOf(run: Run, request: LaunchRequest): StepSpec {
  const { settings, directory, configPaths } = run;
  const agent = findAgent(run.state, request.agent)?.agent;
  const configPath = configPaths[request.agent];
  if (!agent || configPath === undefined) throw new Error(`a plugin asked to launch ${request.agent}, which is not in the team`);
  return {
    agent,
    query: request.query,
    sessionDir: directory.session,
    configPath,
    criteriaPath: settings.criteriaPath,
    runDir: directory.runDir(request.agent, request.round, request.try),
    args: request.args,
    env: request.env,
    timeoutSeconds: settings.limits.stepTimeoutSeconds,
  };
}

/** Runs at most `size` at the same time, in the order of the calls. */
function createSlots(size: number): (work: () => Promise<void>) => Promise<void> {
  const waiting: (() => void)[] = [];
  let free = size;
  return async (work) => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free++;
    }
  };
}
