import { createHooks, type HookName, type RunInfo } from "../../plugin/hooks.ts";
import type { Plugin, Team } from "../../plugin/plugin.ts";

/**
 * The hooks that a built-in plugin taps in a run with every limit: it is applied to a run that never begins. Not for plugins of others, whose
 * `apply` may do anything.
 */
export async function hooksOf(plugin: Plugin): Promise<readonly HookName[]> {
  const hooks = createHooks();
  const cleanup = await plugin.apply({ ...idleTeam, hooks }, undefined);
  if (typeof cleanup === "function") await cleanup();
  return (Object.keys(hooks) as HookName[]).filter((name) => hooks[name].isUsed());
}

// --- internal ---

const run: RunInfo = {
  sessionId: "",
  query: "",
  agents: [],
  project: "",
  directory: "",
  limits: {
    maxRounds: 1,
    timeoutSeconds: 1,
    costBudget: 1,
    stepTimeoutSeconds: 1,
    retries: 0,
    maxParallel: null,
    allowUnpriced: false,
  },
  synthesis: "agent",
  synthesizer: null,
};

const idleTeam: Omit<Team, "hooks"> = {
  log: { info() {}, warn() {} },
  run,
  answers: [],
  elapsedSeconds: 0,
  cost: { total_usd: null, known: "none", by_agent: {} },
  stop() {},
  runStep: () => Promise.reject(new Error("there is no run")),
};
