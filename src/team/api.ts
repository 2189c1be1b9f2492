import type { LoadedPlugin } from "../plugin/load.ts";
import type { CurrentAnswer, Team } from "../plugin/plugin.ts";
import { readAnswer } from "../session/steps.ts";
import { totalCost } from "../session/totals.ts";
import { runExtraStep } from "./extra-step.ts";
import type { Run } from "./run.ts";
import { stopRun } from "./stop.ts";

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
      project: settings.projectDir,
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
    stop: (request, options) => stopRun(run, request, options),
    runStep: (step) => runExtraStep(run, step),
  };
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
