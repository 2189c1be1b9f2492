import { dirname } from "node:path";
import { TeamError } from "../../errors.ts";
import { nativeBackend, nativeBackends } from "../../native/backends.ts";
import type { TokenPrice } from "../../session/cost.ts";
import { listOf } from "../../text.ts";
import type { Agent, ContextPath } from "../../types.ts";
import { adjustConfig, onlyAgent } from "../massgen/adjust.ts";
import { type ConfigMap, isMap } from "../massgen/config-map.ts";
import { readUserConfig } from "../massgen/user-config.ts";

export interface NativeConfigOptions {
  readonly context: readonly ContextPath[];
  /** What `prices:` says about the model; null for the list price. */
  readonly price: TokenPrice | null;
  readonly redact: (text: string) => string;
  /** Told, in a sentence, what should not be but stops nothing. */
  readonly warn: (message: string) => void;
}

/**
 * The config of an agent's native steps: its own, or one that names backend and model. It has MassGen's form.
 * @throws TeamError `config` for a backend that only MassGen runs, or an own config that cannot be used
 */
export function nativeConfig(agent: Agent, { context, price, redact, warn }: NativeConfigOptions): ConfigMap {
  const own = agent.config === undefined ? null : readUserConfig(agent.config, redact);
  if (own?.model && own.model !== `${agent.backend}/${agent.modelName}`) {
    warn(`${agent.id}: its config ${agent.config} runs ${own.model}, while the team lists it as ${agent.model}`);
  }
  const base = own?.config ?? { agents: [{ id: agent.id, backend: { type: agent.backend, model: agent.modelName } }] };
  const baseDir = agent.config === undefined ? "/" : dirname(agent.config);
  const config = adjustConfig(base, { agent: agent.id, docker: false, context, baseDir, env: {} });
  const backend = onlyAgent(config)?.backend;
  const type = isMap(backend) ? String(backend.type) : agent.backend;
  if (nativeBackend(type) === null) throw onlyByMassgen(agent, type);
  return price === null ? config : { ...config, price: { input: price.input, output: price.output } };
}

// --- internal ---

function onlyByMassgen({ id, model }: Agent, type: string): TeamError {
  const known = listOf(Object.keys(nativeBackends).filter((name) => name !== "demo"));
  return new TeamError(
    "config",
    `the native engine cannot run ${id} (${model}): it has no backend ${type}`,
    `It has ${known}; for others: --engine massgen`,
  );
}
