import { isAbsolute, resolve } from "node:path";
import { type ConfigMap, isMap } from "../engine/massgen/config-map.ts";
import { withHome } from "../engine/massgen/relative-paths.ts";
import { readUserConfig } from "../engine/massgen/user-config.ts";
import { TeamError } from "../errors.ts";
import { listOf, nearest, quoted } from "../text.ts";
import type { AgentId, ContextPath } from "../types.ts";
import { baseUrlOf, type NativeBackend, nativeBackend, nativeBackends } from "./backends.ts";
import { type StepLimits, stepLimits } from "./limits.ts";
import type { ModelPrice } from "./prices.ts";

/** What one step runs, as its config says. */
export interface StepConfig {
  readonly agent: AgentId;
  /** The backend's type: `openai`. */
  readonly type: string;
  readonly backend: NativeBackend;
  readonly model: string;
  /** Without a slash at its end; null for scripted models. */
  readonly baseUrl: string | null;
  /** The config names it: it may be a server that wants no key. */
  readonly ownBaseUrl: boolean;
  /** From the config itself; null when it is in the environment. Secret. */
  readonly apiKey: string | null;
  /** `minimal`, `low`, `medium`, `high` …: the provider's own words; null for its default. */
  readonly effort: string | null;
  readonly temperature: number | null;
  /** Tokens that one reply may have; null for the provider's default. */
  readonly maxReplyTokens: number | null;
  /** The user's own words to the agent; empty without. */
  readonly instructions: string;
  readonly context: readonly ContextPath[];
  readonly limits: StepLimits;
  /** What `prices:` says; null to look in the built-in table. */
  readonly price: ModelPrice | null;
  /** Keys of a MassGen config that mean tools which this engine does not have, sorted. */
  readonly ignored: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the config of a step: one agent, as MassGen writes it. `${NAME}` stands for a variable there.
 * @param env for variables in the config and for base URLs
 * @param cwd what relative paths in it are relative to; absolute
 * @throws TeamError `config` with path, line where it is known, and what to change
 */
export function readStepConfig(path: string, env: Environment, cwd: string): StepConfig {
  const { config } = readUserConfig(path, (text) => text);
  const agent = firstAgent(config);
  const backend = agent.backend as ConfigMap;
  const type = String(backend.type).toLowerCase();
  const native = nativeBackend(type);
  if (native === null) throw unsupported(path, type);
  const text = (key: string): string | null => {
    const value = backend[key];
    return typeof value === "string" && value.trim() !== "" ? expand(value.trim(), env, path) : null;
  };
  const model = text("model");
  if (model === null) throw new TeamError("config", `${path} names no model`, `Add "model:" below "backend:", beside "type: ${type}".`);
  const baseUrl = text("base_url");
  if (baseUrl !== null && !URL.canParse(/^\w+:\/\//.test(baseUrl) ? baseUrl : `http://${baseUrl}`)) {
    throw new TeamError("config", `${path}: the base_url is no URL`, "For example: base_url: http://127.0.0.1:11434/v1");
  }
  return {
    agent: agentName(agent, path),
    type,
    backend: native,
    model,
    baseUrl: baseUrlOf(type, baseUrl, env),
    ownBaseUrl: baseUrl !== null,
    apiKey: text("api_key"),
    effort: effortOf(backend, path),
    temperature: required(backend.temperature, "temperature", 0, 2, path),
    maxReplyTokens: required(backend.max_tokens ?? backend.max_output_tokens, "max_tokens", 1, 1e7, path),
    instructions: [agent.system_message, backend.system_message].filter((words) => typeof words === "string").join("\n\n"),
    context: contextOf(config, cwd, (given) => expand(given, env, path)),
    limits: limitsOf(config, path),
    price: priceIn(config, path),
    ignored: unavailable.filter((key) => backend[key] !== undefined && backend[key] !== false && backend[key] !== null),
  };
}

// --- internal ---

/** Switches of MassGen's backends for tools that the native engine does not have (massgen 0.1.97, docs of its YAML schema). */
const unavailable = [
  "command_line_execution_mode",
  "custom_tools",
  "enable_code_based_tools",
  "enable_code_execution",
  "enable_code_interpreter",
  "enable_mcp_command_line",
  "enable_multimodal_tools",
  "enable_web_search",
  "mcp_servers",
] as const;

/** `readUserConfig` has made sure that there is exactly one, and that it has a backend with a type. */
function firstAgent(config: ConfigMap): ConfigMap {
  const { agents, agent } = config;
  return (Array.isArray(agents) ? agents[0] : agent) as ConfigMap;
}

function agentName(agent: ConfigMap, path: string): AgentId {
  const id = agent.id ?? "agent";
  if (typeof id === "string" && /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$/.test(id)) return id;
  throw new TeamError("config", `${path}: the agent's id cannot be the name of a directory`, "Use letters, digits and _: id: agent_a");
}

function unsupported(path: string, type: string): TeamError {
  const known = Object.keys(nativeBackends).filter((name) => name !== "demo");
  const meant = nearest(type, known);
  const hint = meant === null ? `It runs ${listOf(known)}. Use --engine massgen for others.` : `Did you mean ${meant}?`;
  return new TeamError("config", `${path}: the native engine has no backend of type ${JSON.stringify(type.slice(0, 60))}`, hint);
}

function expand(text: string, env: Environment, path: string): string {
  return text.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => {
    const value = env[name];
    if (value !== undefined && value !== "") return value;
    throw new TeamError("config", `${path} needs the variable ${name}, which is not set`, `Set it: export ${name}=…`);
  });
}

/** `reasoning: { effort: high }` as MassGen has it for OpenAI, or one key of that meaning. */
function effortOf(backend: ConfigMap, path: string): string | null {
  const { reasoning, reasoning_effort, effort } = backend;
  const value = isMap(reasoning) ? reasoning.effort : (reasoning_effort ?? effort);
  if (value === undefined || value === null || value === "") return null;
  if (typeof value === "string" && /^[a-z]{1,20}$/.test(value)) return value;
  throw wrongValue(path, "effort", value, "a word in small letters, such as high");
}

/** For keys of others, which may mean anything. */
function numberOf(value: unknown, least: number, most: number): number | null {
  return typeof value === "number" && value >= least && value <= most ? value : null;
}

/** Null when it is not given; a limit that is not kept because nobody understood it costs money. */
function required(value: unknown, key: string, least: number, most: number, path: string): number | null {
  if (value === undefined || value === null) return null;
  const found = numberOf(value, least, most);
  if (found === null) throw wrongValue(path, key, value, `a number from ${least} to ${most}, without a unit`);
  return found;
}

function wrongValue(path: string, key: string, value: unknown, wanted: string): TeamError {
  return new TeamError("config", `${path}: ${key} cannot be ${quoted(JSON.stringify(value) ?? String(value))}`, `It must be ${wanted}.`);
}

/** The map under one of our own keys, which has no others than these. */
function ownMap(config: ConfigMap, name: string, keys: readonly string[], path: string): ConfigMap {
  const found = config[name] ?? {};
  if (!isMap(found)) throw wrongValue(path, name, found, `a map with ${listOf(keys)}`);
  const stranger = Object.keys(found).find((key) => !keys.includes(key));
  if (stranger === undefined) return found;
  const meant = nearest(stranger, keys);
  const hint = meant === null ? `It has ${listOf(keys)}.` : `Did you mean ${meant}?`;
  throw new TeamError("config", `${path}: there is no ${quoted(stranger)} under ${name}`, hint);
}

function contextOf({ orchestrator }: ConfigMap, cwd: string, expanded: (path: string) => string): ContextPath[] {
  const listed = isMap(orchestrator) ? orchestrator.context_paths : undefined;
  return (Array.isArray(listed) ? listed : []).flatMap((entry: unknown): ContextPath[] => {
    const { path: given, permission } = isMap(entry) ? entry : { path: entry, permission: "read" };
    if (typeof given !== "string" || given === "") return [];
    const path = withHome(expanded(given));
    return [{ path: isAbsolute(path) ? path : resolve(cwd, path), permission: permission === "write" ? "write" : "read" }];
  });
}

/** Ours are under `limits:`; of MassGen's own, the time of the whole. */
function limitsOf(config: ConfigMap, path: string): StepLimits {
  const own = ownMap(config, "limits", ["turns", "output_tokens", "seconds", "silence_seconds", "attempts"], path);
  const { timeout_settings: times } = config;
  const seconds = isMap(times) ? numberOf(times.orchestrator_timeout_seconds, 0.001, 1e6) : null;
  const limit = (key: string, least: number, most: number) => required(own[key], `limits: ${key}`, least, most, path);
  return {
    turns: limit("turns", 1, 10_000) ?? stepLimits.turns,
    outputTokens: limit("output_tokens", 1, 1e9) ?? stepLimits.outputTokens,
    seconds: limit("seconds", 0.001, 1e6) ?? seconds ?? stepLimits.seconds,
    silenceSeconds: limit("silence_seconds", 0.001, 1e6) ?? stepLimits.silenceSeconds,
    attempts: limit("attempts", 1, 100) ?? stepLimits.attempts,
  };
}

function priceIn(config: ConfigMap, path: string): ModelPrice | null {
  const own = ownMap(config, "price", ["input", "output"], path);
  const [input, output] = (["input", "output"] as const).map((key) => required(own[key], `price: ${key}`, 0, 1e6, path));
  if (input == null && output == null) return null;
  if (input == null || output == null) throw wrongValue(path, "price", own, "input and output, in US dollars per million tokens");
  return { input, output };
}
