import type { LanguageModel } from "ai";
import { listOf } from "../text.ts";
import { nativeKeys } from "./backends.ts";
import type { StepConfig } from "./config.ts";
import { StepError } from "./failure.ts";
import type { Provider } from "./provider-error.ts";

/** Options of one provider, as the AI SDK passes them on. */
export type ProviderOptions = Record<string, Record<string, string | number | boolean | null | Record<string, string>>>;

/** A model that can be asked. */
export interface ConnectedModel {
  readonly model: LanguageModel;
  readonly providerOptions: ProviderOptions;
  /** Null for the provider's default. */
  readonly maxOutputTokens: number | null;
  readonly temperature: number | null;
  /** A call of a tool may be demanded of it. */
  readonly forcible: boolean;
  /** Mark in the prompt what shall be kept in the provider's cache. */
  readonly cacheMarks: boolean;
  /** For messages. */
  readonly provider: Provider;
  /** Values to be taken out of whatever is printed. */
  readonly secrets: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Connects to the model of a config; only its provider's package is loaded. Nothing is sent yet.
 * @throws StepError `auth` when there is no key for it
 */
export async function connect(config: StepConfig, env: Environment): Promise<ConnectedModel> {
  const { type, backend, model: name, baseUrl, effort, temperature, maxReplyTokens } = config;
  const keys = keysOf(config);
  const apiKey = config.apiKey ?? keys.map((key) => env[key]?.trim()).find((value) => value !== undefined && value !== "") ?? null;
  const needsNone = backend.local === true || config.ownBaseUrl || isMoved(config);
  if (apiKey === null && !needsNone) {
    throw new StepError("auth", `there is no API key for ${type}/${name}: set ${listOf(keys, "or")}`);
  }
  const shared = { baseURL: baseUrl ?? "", apiKey: apiKey ?? "none", fetch: patientFetch };
  const common = {
    temperature,
    provider: { keys, url: baseUrl ?? "", local: backend.local === true },
    secrets: apiKey === null ? [] : [apiKey],
    maxOutputTokens: maxReplyTokens,
    cacheMarks: false,
    forcible: true,
  };
  const reasoning = (key: string): Record<string, string> => (effort === null ? {} : { [key]: effort });
  switch (backend.protocol) {
    case "openai": {
      const { createOpenAI } = await import("@ai-sdk/openai");
      const model = createOpenAI(shared).responses(name);
      // Nothing of the conversation is kept at the provider; its thinking comes back to it from here, encrypted.
      return { ...common, model, providerOptions: { openai: { store: false, ...reasoning("reasoningEffort") } } };
    }
    case "anthropic": {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      const model = createAnthropic(shared)(name);
      const maxOutputTokens = maxReplyTokens ?? anthropicReplyTokens;
      // Its newest models refuse a demand for a tool, as all do while they think.
      return { ...common, model, providerOptions: { anthropic: reasoning("effort") }, maxOutputTokens, cacheMarks: true, forcible: false };
    }
    case "google": {
      const { createGoogleGenerativeAI } = await import("@ai-sdk/google");
      const model = createGoogleGenerativeAI(shared)(name);
      const google: ProviderOptions[string] = effort === null ? {} : { thinkingConfig: { thinkingLevel: effort } };
      return { ...common, model, providerOptions: { google } };
    }
    case "xai": {
      const { createXai } = await import("@ai-sdk/xai");
      const model = createXai(shared).responses(name);
      return { ...common, model, providerOptions: { xai: { store: false, ...reasoning("reasoningEffort") } } };
    }
    case "compatible": {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      const { baseURL, fetch } = shared;
      const model = createOpenAICompatible({ name: type, baseURL, fetch, includeUsage: true, ...(apiKey === null ? {} : { apiKey }) })(
        name,
      );
      // Local servers differ in what they make of a demand for a tool.
      return { ...common, model, providerOptions: { [type]: reasoning("reasoningEffort") }, forcible: false };
    }
    case "scripted": {
      const { scriptedModel } = await import("./scripted.ts");
      return { ...common, model: scriptedModel(name), providerOptions: {} };
    }
  }
}

// --- internal ---

/** Anthropic wants to be told a limit. The SDK lowers it to what an older model can do; one that it doesn't know would get 4096. */
const anthropicReplyTokens = 64_000;

/** `chatcompletion` takes the key that belongs to the host of its base_url, else OpenAI's, like MassGen (cli/backends.py). */
function keysOf({ type, baseUrl }: StepConfig): readonly string[] {
  if (type !== "chatcompletion") return nativeKeys(type);
  const host = baseUrl === null ? "" : (URL.parse(baseUrl)?.hostname ?? "");
  const known = Object.entries(hosts).find(([name]) => host === name || host.endsWith(`.${name}`));
  return nativeKeys(known?.[1] ?? "openai");
}

const hosts: Readonly<Record<string, string>> = {
  "cerebras.ai": "cerebras",
  "together.xyz": "together",
  "fireworks.ai": "fireworks",
  "groq.com": "groq",
  "nebius.ai": "nebius",
  "nebius.com": "nebius",
  "openrouter.ai": "openrouter",
  "z.ai": "zai",
  "moonshot.ai": "moonshot",
  "moonshot.cn": "moonshot",
  "nvidia.com": "nvidia_nim",
  "aliyuncs.com": "qwen",
};

/** Whether a variable moved it elsewhere, where it may want no key. */
function isMoved({ backend, baseUrl }: StepConfig): boolean {
  return baseUrl !== backend.baseUrl;
}

/**
 * Bun ends a request after five minutes of silence, and models think longer: the step has its own watch. A redirection would carry the key
 * elsewhere, so there is none.
 */
const patientFetch = Object.assign(
  (input: string | URL | Request, init?: RequestInit) => fetch(input, { ...init, redirect: "error", timeout: false } as RequestInit),
  { preconnect: fetch.preconnect },
);
