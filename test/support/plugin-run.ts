import type { Plugin } from "mg-team";
import { guardHooks } from "../../src/plugin/guard.ts";
import { createHooks, type LaunchRequest } from "../../src/plugin/hooks.ts";
import type { Cleanup } from "../../src/plugin/plugin.ts";
import type { EventBody } from "../../src/session/events.ts";
import { totalCost } from "../../src/session/totals.ts";
import type { Deliberation, Limits } from "../../src/types.ts";
import { envelope, fold, started } from "./events.ts";
import { sampleLaunch } from "./hook-values.ts";
import { agent, type FakeTeam, fakeTeam } from "./team.ts";

/** One plugin at work: real hooks under guard, and a state that its events are folded into. */
export interface PluginRun {
  readonly team: FakeTeam;
  readonly cleanup: Cleanup | undefined;
  /** Journals, folds and shows an event, as the run does. */
  emit(body: EventBody): void;
  launch(request?: Partial<LaunchRequest>): Promise<LaunchRequest>;
  deliberate(deliberation: Deliberation): Promise<Deliberation>;
}

/** @param before the journal of an earlier process; without it a run with agent_a, agent_b and agent_c has just started */
export function runPlugin(plugin: Plugin, limits: Partial<Limits>, before: readonly EventBody[] = [started("abc")]): PluginRun {
  const hooks = createHooks();
  guardHooks(
    hooks,
    (name) => ({ name, file: null }),
    (error) => {
      throw error;
    },
  );
  const state = fold(before);
  const agents = [..."abc"].map((letter) => agent(letter, `codex/model-${letter}`));
  const team = fakeTeam({ hooks, limits, agents });
  Object.defineProperty(team, "cost", { get: () => totalCost(state) });
  const cleanup = plugin.apply(team, undefined);
  return {
    team,
    cleanup: typeof cleanup === "function" ? cleanup : undefined,
    emit(body) {
      const event = envelope(body, state.seq + 1);
      fold([body], state);
      hooks.onEvent.call(event);
    },
    launch: async (request = {}) => (await hooks.beforeLaunch.promise(sampleLaunch(request))) as LaunchRequest,
    deliberate: async (deliberation) => (await hooks.onConsensus.promise(deliberation)) as Deliberation,
  };
}
