import type { Agent } from "../types.ts";
import type { Engine } from "./engine.ts";

/**
 * Several engines as one: each agent is run by its own. They share the session directory, which does not care who writes it.
 * @param main says what the engine of the run is called
 */
export function createMixedEngine(main: Engine, engineOf: (agent: Agent) => Engine): Engine {
  return {
    info: main.info,
    command: (step) => engineOf(step.agent).command(step),
    start: (step, events) => engineOf(step.agent).start(step, events),
    recover: (step) => engineOf(step.agent).recover(step),
    writeConfig: (agent, out, options) => engineOf(agent).writeConfig(agent, out, options),
  };
}
