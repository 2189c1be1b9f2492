import type { StepSpec } from "./engine/engine.ts";
import type { LaunchRequest } from "./plugin/hooks.ts";
import { findAgent, isInTeam, type StepKind, type StepRecord } from "./session/state.ts";
import { annotate } from "./team/annotate.ts";
import { withPatience } from "./team/patience.ts";
import type { Run } from "./team/run.ts";
import { createSlots, type Slots } from "./team/slots.ts";
import { type Ended, type FinishedStep, finishStep, momentOf, nextTry, runStep } from "./team/step.ts";
import { stopAfterLastCall, whyNoLaunch } from "./team/stop.ts";
import { type AgentId, unknownCost } from "./types.ts";

/**
 * One round (core loop 1 and 2): asks the plugins about every launch, then launches all of them together and waits for the barrier.
 * A stop of the run also ends the round: nothing more is launched, what runs is stopped, what landed counts.
 */
export async function runRound(run: Run, round: number, agents: readonly AgentId[]): Promise<void> {
  run.emit({ type: "round.started", round, agents });
  await launchAll(run, round, agents);
  stopAfterLastCall(run);
}

/** Lets plugins edit a launch, or skip it. Null when the run stops instead. */
export async function askPlugins(run: Run, request: LaunchRequest): Promise<LaunchRequest | null> {
  try {
    const answer = (await withPatience(run, "beforeLaunch", run.hooks.beforeLaunch.promise({ ...request }))) ?? request;
    return whyNoLaunch(run) ? null : edited(request, answer);
  } catch (error) {
    run.pluginFailed(error, "beforeLaunch");
    return null;
  }
}

// --- internal ---

async function launchAll(run: Run, round: number, agents: readonly AgentId[]): Promise<void> {
  const requests: LaunchRequest[] = [];
  for (const agent of agents) {
    const request = await askPlugins(run, newRequest(run, "round", agent, round));
    if (!request) return;
    requests.push(request);
  }
  const slots = createSlots(run.settings.limits.maxParallel ?? Number.POSITIVE_INFINITY);
  const turns = Promise.all(requests.map((request) => slots.take(() => takeTurn(run, request, slots))));
  run.pending.push(turns);
  await Promise.race([turns, run.stopper.whenInterrupted]);
  // A step that ended before the signal has acted, although plugins were still looking at it.
  await Promise.all(run.finishing);
}

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
async function takeTurn(run: Run, first: LaunchRequest, slots: Slots): Promise<void> {
  let request: LaunchRequest | null = first;
  for (let retries = failedTries(run, first); request && !whyNoLaunch(run) && !run.poison; retries++) {
    const { kind, skip } = request;
    if (skip) return finish(run, kind, skipped(run, request, skip), false);
    const step = await runStep(run, request, specOf(run, request));
    if (!step) return;
    const retry = retries < run.settings.limits.retries && mayRetry(run, step);
    await finish(run, kind, step, retry);
    if (!retry || whyNoLaunch(run)) return;
    if (step.action.kind === "failed" && step.action.class === "quota") {
      const seconds = step.report.failure?.retryAfterSeconds ?? quotaWait;
      await slots.leave(() => run.clock.sleep(seconds, run.stopper.signal));
    }
    if (whyNoLaunch(run)) return;
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

/** How often that agent has failed in that round, in earlier processes too: a resume does not start its retries anew. */
function failedTries({ state }: Run, { agent, round }: LaunchRequest): number {
  const failed = ({ kind, action, interrupted }: StepRecord) =>
    isInTeam(kind) && action.kind === "failed" && action.round === round && !interrupted;
  return findAgent(state, agent)?.steps.filter(failed).length ?? 0;
}

/** Has plugins look at what a step did, and journals its end. Whoever decides meanwhile waits for it. */
async function finish(run: Run, kind: StepKind, step: Ended, retry: boolean): Promise<void> {
  const { action, interrupted } = step;
  const finishing = (async () => {
    if (!interrupted) await annotate(run, action);
    finishStep(run, kind, step, retry);
    if (!retry && !interrupted && action.kind === "failed") {
      run.emit({ type: "agent.out", agent: action.agent, class: action.class, message: action.message, log: action.log });
    }
  })();
  run.finishing.add(finishing);
  await finishing;
  run.finishing.delete(finishing);
  // Those that wait, for a quota or for a place, would wait in vain.
  if (run.running.size === 0 && run.finishing.size === 0) stopAfterLastCall(run);
}

function skipped(run: Run, { agent, round, try: attempt }: LaunchRequest, skip: NonNullable<LaunchRequest["skip"]>): Ended {
  const launchedWith = { answers: {}, blank: [] };
  const place = { agent, round, try: attempt, launchedWith };
  const action = { kind: "skipped", ...place, seconds: 0, cost: unknownCost, at: momentOf(run), reason: skip.reason, by: skip.by } as const;
  return { action, interrupted: false };
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
