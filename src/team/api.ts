import type { LoadedPlugin } from "../plugin/load.ts";
import type { CurrentAnswer, Team } from "../plugin/plugin.ts";
import { readAnswer } from "../session/steps.ts";
import { totalCost } from "../session/totals.ts";
import { decisionReasons, type StopRequest } from "../types.ts";
import { runExtraStep } from "./extra-step.ts";
import type { Run } from "./run.ts";

/** What one plugin gets to work with: the public face of a run. */
export function teamFor(run: Run, { plugin }: LoadedPlugin): Team {
  const { settings, directory } = run;
  return {
    hooks: run.hooks,
    log: {
      info: (message) => run.log.info(`${plugin.name}: ${message}`),
      warn: (message) => run.log.warn(`${plugin.name}: ${message}`),
    },
    run: {
      sessionId: run.state.sessionId,
      query: settings.query,
      agents: settings.agents,
      directory: directory.root,
      limits: settings.limits,
      synthesis: settings.synthesis,
      synthesizer: settings.synthesizer,
    },
    get answers() {
      return currentAnswers(run);
    },
    get elapsedSeconds() {
      return run.elapsed();
    },
    get cost() {
      return totalCost(run.state);
    },
    stop: (request) => stopRun(run, request),
    runStep: (step) => runExtraStep(run, step),
  };
}

/** Ends the current phase; the first request wins. */
export function stopRun(run: Run, request: StopRequest): void {
  if (run.phase === "over") return;
  const reason = decisionReasons.includes(request.reason) ? request.reason : "plugin";
  const message = run.redact(String(request.message ?? "a plugin stopped the run"));
  if (!run.stopper.stop({ reason, message })) return;
  if (reason === "plugin" && run.phase === "deciding") run.stoppedByPlugin = true;
  announceStop(run, { reason, message });
}

/** Journals why the phase stops and whom that stops. */
export function announceStop(run: Run, { reason, message }: StopRequest): void {
  if (reason === "timeout" || reason === "cost_budget") run.emit({ type: "limit.reached", reason, message });
  run.emit({ type: "stop", reason, message, stopped: [...run.running.values()] });
}

/** Each agent's current answer; the text is read when asked for, and may be large. */
export function currentAnswers(run: Run): readonly CurrentAnswer[] {
  return run.state.agents.flatMap(({ agent, answers }): CurrentAnswer[] => {
    const current = answers.at(-1);
    if (!current) return [];
    const read = () => readAnswer(run.directory.session, agent.id, current.step);
    return [
      {
        agent: agent.id,
        model: agent.model,
        step: current.step,
        round: current.round,
        get text() {
          return read().text;
        },
        get workspace() {
          return read().workspace;
        },
      },
    ];
  });
}
