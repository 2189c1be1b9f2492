import { needsMassgen, runsNatively } from "../engine/choose.ts";
import type { MassgenInstall } from "../engine/massgen/install.ts";
import { nativeBackend } from "../native/backends.ts";
import { listOf } from "../text.ts";
import type { Agent } from "../types.ts";
import { errorOf, fail, ok, type PreflightCheck, warn } from "./check.ts";
import type { MassgenFound } from "./massgen.ts";

export type EngineChoice = "auto" | "massgen" | "native";

/** Who runs the steps. */
export interface EnginePlan {
  /** Null when nobody needs MassGen. */
  readonly install: MassgenInstall | null;
  /** Whether agents that do not say otherwise are run by mg-team itself. */
  readonly native: boolean;
  readonly checks: readonly PreflightCheck[];
}

/** Whether MassGen has to be looked for at all. */
export function wantsMassgen(choice: EngineChoice, agents: readonly Agent[]): boolean {
  if (choice === "massgen") return agents.length === 0 || agents.some((agent) => !runsNatively(agent, false));
  if (choice === "native") return agents.some(({ engine }) => engine === "massgen");
  return agents.length === 0 || agents.some((agent) => !runsNatively(agent, false));
}

/**
 * Settles who runs the steps. `auto` takes MassGen where it works; where it does not, mg-team itself, and says so in one line, unless
 * somebody asked for MassGen by name, or a model has nobody else.
 * @param named MassGen's command was given by the user
 */
export function planEngine(choice: EngineChoice, agents: readonly Agent[], massgen: MassgenFound, named: boolean): EnginePlan {
  const { install, checks } = massgen;
  if (!wantsMassgen(choice, agents)) {
    return {
      install: null,
      native: true,
      checks: [ok("engine", "mg-team runs the steps itself (native engine)"), ...checkNative(agents, true)],
    };
  }
  const native = choice === "native";
  if (install !== null) return { install, native, checks: [...checks, ...checkNative(agents, native)] };
  const failure = errorOf(checks);
  const mayDoWithout = choice === "auto" && !named && failure?.code !== "untrusted" && !agents.some(needsMassgen);
  if (!mayDoWithout) return { install, native, checks: [...checks, ...checkNative(agents, native)] };
  const why = failure?.message.split("\n", 1)[0] ?? "MassGen was not found";
  const message = `${why}; mg-team runs the steps itself (native engine), and its agents can read and write files, but not run code`;
  const others = checks.filter(({ status }) => status !== "fail");
  return {
    install: null,
    native: true,
    checks: [...others, warn("engine", message, "mg-team doctor --engine massgen tells what MassGen lacks.")],
  };
}

// --- internal ---

/** Agents that are to be run natively, and cannot. */
function checkNative(agents: readonly Agent[], native: boolean): PreflightCheck[] {
  const impossible = agents.filter((agent) => runsNatively(agent, native) && nativeBackend(agent.backend) === null);
  if (impossible.length === 0) return [];
  const names = listOf(impossible.map(({ id, model }) => `${id} (${model})`));
  return [fail("models", `only MassGen can run ${names}`, "Leave out --engine native, or choose other models.")];
}
