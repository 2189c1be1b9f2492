import { dirname } from "node:path";
import { parse } from "yaml";
import { type Clock, systemClock } from "../../clock.ts";
import { TeamError } from "../../errors.ts";
import { makeDirectory, writeFileAtomic } from "../../session/atomic.ts";
import { priceOf, type TokenPrice } from "../../session/cost.ts";
import { quoted } from "../../text.ts";
import type { Agent } from "../../types.ts";
import type { ConfigOptions, Engine } from "../engine.ts";
import { adjustConfig, onlyAgent } from "./adjust.ts";
import { type ConfigKey, readCachedConfig, writeCachedConfig } from "./config-cache.ts";
import { type ConfigMap, formatConfig, isMap, yamlOptions } from "./config-map.ts";
import type { MassgenInstall } from "./install.ts";
import { runQuickstart } from "./quickstart.ts";
import { startStep } from "./step.ts";
import { stepCommand } from "./step-command.ts";
import { reportLost } from "./step-report.ts";
import { readUserConfig } from "./user-config.ts";

export interface MassgenEngineOptions {
  readonly install: MassgenInstall;
  /** The caller's environment with the keys in it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Removes secrets; see `createRedactor`. */
  readonly redact: (text: string) => string;
  /** Marks all processes of the run. */
  readonly cookie: string;
  /** Absolute; what relative paths in MassGen's own configs (`.agent/skills`, `.env`) are relative to. */
  readonly projectDir: string;
  /** Directory of mg-team's cache; made when it is missing. */
  readonly cacheDir: string;
  /** By model, see `priceOf`. */
  readonly prices?: Readonly<Record<string, TokenPrice>>;
  /** The ballot repair, where it is in place: what it adds to the environment of steps. */
  readonly ballotFix?: { readonly env: Readonly<Record<string, string>> } | null;
  /** Told, in a sentence, what should not be but stops nothing. */
  readonly warn?: (message: string) => void;
  readonly clock?: Clock;
}

/** The engine that runs steps with MassGen's step mode. */
export function createMassgenEngine(options: MassgenEngineOptions): Engine {
  const { install, env, redact, cookie, prices = {}, ballotFix = null, clock = systemClock } = options;
  const warn = once(options.warn ?? (() => {}));
  const makeQuickstart = shareByKey((agent: Agent, config: ConfigOptions) => quickstartConfig(agent, config, { ...options, warn, clock }));
  const repair = ballotFix?.env ?? {};
  return {
    info: { name: "massgen", version: install.version, ballot_fix: ballotFix === null ? "off" : "on" },
    command: (step) => stepCommand(install, step, env, repair),
    start(step, events) {
      const price = priceOf(prices, step.agent.backend, step.agent.modelName);
      const setting = { clock, cookie, redact, price, warn, ballotFix: ballotFix !== null };
      return startStep(setting, step, events, () => stepCommand(install, step, env, repair));
    },
    recover: (step) => reportLost(step, priceOf(prices, step.agent.backend, step.agent.modelName)),
    async writeConfig(agent, out, config) {
      const { docker, context } = config;
      for (const { path } of context) refuseVariables(path);
      const own = agent.config === undefined ? null : readUserConfig(agent.config, redact);
      if (own?.model && own.model !== agent.model) {
        warn(`${agent.id}: its config ${agent.config} runs ${own.model}, while the team lists it as ${agent.model}`);
      }
      const base = own?.config ?? (await makeQuickstart(agent, config));
      const baseDir = agent.config === undefined ? options.projectDir : dirname(agent.config);
      const adjusted = adjustConfig(base, { agent: agent.id, docker, context, baseDir, env });
      makeDirectory(dirname(out));
      await writeFileAtomic(out, formatConfig(adjusted));
    },
  };
}

// --- internal ---

/** MassGen puts variables into every text of a config, and knows no way to keep it from that (cli/config_loading.py, _expand_env_vars). */
function refuseVariables(path: string): void {
  const variable = /\$\{[^}]+\}/.exec(path)?.[0];
  if (variable === undefined) return;
  const problem = `the context path ${quoted(path, 200)} cannot be given to MassGen, which would put a variable in place of ${variable}`;
  throw new TeamError("config", problem, "Rename the file or directory, or give a link to it with another name.");
}

/** Says each sentence once: what is wrong with MassGen is wrong in every step. */
function once(warn: (message: string) => void): (message: string) => void {
  const said = new Set<string>();
  return (message) => {
    if (!said.has(message)) warn(message);
    said.add(message);
  };
}

type QuickstartSetting = MassgenEngineOptions & { readonly warn: (message: string) => void; readonly clock: Clock };

/** From the cache, or from MassGen, which takes ten seconds. */
async function quickstartConfig(agent: Agent, { docker, runDir }: ConfigOptions, options: QuickstartSetting): Promise<ConfigMap> {
  const { install, cacheDir, redact, warn } = options;
  const key: ConfigKey = { install, backend: agent.backend, model: agent.modelName, docker };
  const cached = parseConfig(readCachedConfig(cacheDir, key));
  if (cached) return cached;
  const text = await runQuickstart(agent, { ...options, docker, runDir });
  const config = parseConfig(text);
  if (!config) {
    throw new TeamError(
      "config",
      `MassGen wrote no usable config for ${agent.model}`,
      `It is in ${runDir}. Give the agent a config of its own: models: [{ model: ${agent.model}, config: ./agent.yaml }]`,
    );
  }
  if (docker && !usesDocker(config)) {
    warn(
      `${agent.id}: docker was asked for, but MassGen does not find it; the agent gets file tools only (pip install docker helps, if docker runs)`,
    );
    return config;
  }
  if (redact(text) === text) await writeCachedConfig(cacheDir, key, text);
  return config;
}

function parseConfig(text: string | null): ConfigMap | null {
  try {
    const config: unknown = text === null ? null : parse(text, yamlOptions);
    return isMap(config) && onlyAgent(config) !== null ? config : null;
  } catch {
    return null;
  }
}

function usesDocker(config: ConfigMap): boolean {
  const backend = onlyAgent(config)?.backend;
  return isMap(backend) && backend.command_line_execution_mode === "docker";
}

/** Agents of the same model that need a config at the same time share one start of MassGen. */
function shareByKey(make: (agent: Agent, config: ConfigOptions) => Promise<ConfigMap>) {
  const running = new Map<string, Promise<ConfigMap>>();
  return (agent: Agent, config: ConfigOptions): Promise<ConfigMap> => {
    const key = `${agent.model} ${config.docker}`;
    const shared = running.get(key) ?? make(agent, config).finally(() => running.delete(key));
    running.set(key, shared);
    return shared;
  };
}
