import { messageOf } from "./errors.ts";
import { runRound } from "./round.ts";
import type { RunResult } from "./session/result.ts";
import type { RunState } from "./session/state.ts";
import { teamFor } from "./team/api.ts";
import { deliberate } from "./team/deliberate.ts";
import { deliver } from "./team/deliver.ts";
import { beginRun, followSignals, openRun } from "./team/open.ts";
import { withPatience } from "./team/patience.ts";
import type { Run, TeamSetup } from "./team/run.ts";
import { closeSteps, recoverSteps } from "./team/step.ts";
import type { AgentId, Verdict } from "./types.ts";

/**
 * THE CORE. A run from its first launch to its result: rounds of steps until the votes, the plugins or a limit decide, then the final
 * answer. Never rejects for what agents or plugins do; the result says how it ended, and its `exit_code` is the program's.
 * Rejects with a TeamError when a plugin cannot be started, before anything is launched.
 */
export async function runTeam(setup: TeamSetup): Promise<RunResult> {
  const run = openRun(setup);
  const unfollow = followSignals(run);
  try {
    // A new run has nothing to lose. A resume that cannot begin leaves result, journal and decision as they were.
    const isNew = run.state.startedAt === "";
    if (isNew) await beginRun(run);
    const applied = run.host.apply(setup.plugins, (plugin) => teamFor(run, plugin));
    await withPatience(run, "apply", applied).catch((error: unknown) => {
      if (!run.signal) throw error;
      run.pluginWarned(error, "apply");
    });
    if (!isNew) await beginRun(run);
    recoverSteps(run);
    const verdict = run.state.decision ?? (await decide(run));
    return await deliver(run, verdict);
  } catch (error) {
    // A fault of ours: what is running must not outlive it.
    run.stopper.stop({ reason: "interrupted", message: messageOf(error) });
    await closeSteps(run, "ended");
    throw error;
  } finally {
    await withPatience(run, "cleanup", run.host.close()).catch((error: unknown) => run.log.warn(messageOf(error)));
    unfollow();
  }
}

/** The loop: round, barrier, decision (design.md, "The core loop"). */
async function decide(run: Run): Promise<Verdict> {
  const { state } = run;
  let round = state.round;
  let { verdict, next } = await whereItStands(run);
  while (!verdict) {
    if (state.roundEnded) round++;
    await runRound(run, round, next);
    ({ verdict, next } = await deliberate(run));
  }
  return verdict;
}

/** A new run starts with everybody; a resumed one goes on in its round, or at the barrier it had reached. */
async function whereItStands(run: Run): Promise<{ verdict: Verdict | null; next: readonly AgentId[] }> {
  const { state } = run;
  if (state.round === 0) return { verdict: null, next: state.agents.map(({ agent }) => agent.id) };
  const waiting = state.roundEnded ? [] : unfinished(state);
  return waiting.length > 0 ? { verdict: null, next: waiting } : deliberate(run);
}

/** Agents of the round in progress that have not acted in it. */
function unfinished(state: RunState): readonly AgentId[] {
  const acted = (id: AgentId) =>
    state.agents.some(
      ({ agent, live, steps }) =>
        agent.id === id &&
        (!live || steps.some(({ action, interrupted }) => action.round === state.round && !interrupted && action.kind !== "failed")),
    );
  return state.roundAgents.filter((id) => !acted(id));
}
