import { nativeBackend } from "../native/backends.ts";
import type { Agent } from "../types.ts";

/** What decides which engine runs an agent. */
export type Choosing = Pick<Agent, "engine" | "backend">;

/** Backends that MassGen does not have. */
const nativeOnly: ReadonlySet<string> = new Set(["ollama", "demo"]);

/** Whether mg-team runs an agent's steps itself: by the agent's own word, else by what its backend needs, else like the team. */
export function runsNatively({ engine, backend }: Choosing, teamIsNative: boolean): boolean {
  if (engine !== undefined) return engine === "native";
  return teamIsNative || nativeOnly.has(backend);
}

/** Whether MassGen is needed for an agent, and nothing else will do: its own word, or a backend that only MassGen has. */
export function needsMassgen({ engine, backend }: Choosing): boolean {
  return engine === "massgen" || nativeBackend(backend) === null;
}
