import { keysFor } from "../config/keys.ts";

/** How a backend is spoken to. `scripted` models are built in and speak to nobody. */
export type Protocol = "openai" | "anthropic" | "google" | "xai" | "compatible" | "scripted";

/** A backend that mg-team can run by itself. */
export interface NativeBackend {
  readonly protocol: Protocol;
  /** Where its API is, unless a config or a variable says otherwise; null when only they can. */
  readonly baseUrl: string | null;
  /** The variable that moves it: the one of the provider's own SDK where there is one. */
  readonly baseUrlVariable?: string;
  /** A server on this machine: it needs no key, and what it says costs nothing. */
  readonly local?: true;
}

/**
 * Backend types of MassGen (massgen 0.1.97, `cli/backends.py`, with its base URLs) that the native engine runs itself, and `ollama`. The
 * command-line backends run on their provider's API: `codex/M` on OpenAI, `claude_code/M` on Anthropic. To add one, add a line.
 */
export const nativeBackends: Readonly<Record<string, NativeBackend>> = {
  openai: { protocol: "openai", baseUrl: "https://api.openai.com/v1", baseUrlVariable: "OPENAI_BASE_URL" },
  codex: { protocol: "openai", baseUrl: "https://api.openai.com/v1", baseUrlVariable: "OPENAI_BASE_URL" },
  claude: { protocol: "anthropic", baseUrl: "https://api.anthropic.com/v1", baseUrlVariable: "ANTHROPIC_BASE_URL" },
  claude_code: { protocol: "anthropic", baseUrl: "https://api.anthropic.com/v1", baseUrlVariable: "ANTHROPIC_BASE_URL" },
  gemini: {
    protocol: "google",
    baseUrl: "https://generativelanguage.googleapis.com/v1beta",
    baseUrlVariable: "GOOGLE_GEMINI_BASE_URL",
  },
  gemini_cli: {
    protocol: "google",
    baseUrl: "https://generativelanguage.googleapis.com/v1beta",
    baseUrlVariable: "GOOGLE_GEMINI_BASE_URL",
  },
  grok: { protocol: "xai", baseUrl: "https://api.x.ai/v1", baseUrlVariable: "XAI_BASE_URL" },
  ollama: { protocol: "compatible", baseUrl: "http://127.0.0.1:11434/v1", baseUrlVariable: "OLLAMA_HOST", local: true },
  lmstudio: { protocol: "compatible", baseUrl: "http://127.0.0.1:1234/v1", baseUrlVariable: "LMSTUDIO_BASE_URL", local: true },
  vllm: { protocol: "compatible", baseUrl: "http://127.0.0.1:8000/v1", baseUrlVariable: "VLLM_BASE_URL", local: true },
  sglang: { protocol: "compatible", baseUrl: "http://127.0.0.1:30000/v1", baseUrlVariable: "SGLANG_BASE_URL", local: true },
  chatcompletion: { protocol: "compatible", baseUrl: "https://api.openai.com/v1", baseUrlVariable: "OPENAI_BASE_URL" },
  openrouter: { protocol: "compatible", baseUrl: "https://openrouter.ai/api/v1" },
  groq: { protocol: "compatible", baseUrl: "https://api.groq.com/openai/v1" },
  together: { protocol: "compatible", baseUrl: "https://api.together.xyz/v1" },
  fireworks: { protocol: "compatible", baseUrl: "https://api.fireworks.ai/inference/v1" },
  cerebras: { protocol: "compatible", baseUrl: "https://api.cerebras.ai/v1" },
  moonshot: { protocol: "compatible", baseUrl: "https://api.moonshot.cn/v1" },
  nvidia_nim: { protocol: "compatible", baseUrl: "https://integrate.api.nvidia.com/v1" },
  nebius: { protocol: "compatible", baseUrl: "https://api.studio.nebius.ai/v1" },
  qwen: { protocol: "compatible", baseUrl: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1" },
  zai: { protocol: "compatible", baseUrl: "https://api.z.ai/api/paas/v4" },
  demo: { protocol: "scripted", baseUrl: null, local: true },
};

/** The backend of that type; null when only MassGen runs it. */
export function nativeBackend(type: string): NativeBackend | null {
  return Object.hasOwn(nativeBackends, type) ? (nativeBackends[type] ?? null) : null;
}

/**
 * The variables that hold a key which the native engine can use, any of which will do. Logins and tokens of command-line programs are none.
 */
export function nativeKeys(type: string): readonly string[] {
  return keysFor(type).filter((name) => !["CLAUDE_CODE_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"].includes(name));
}

/**
 * Where a backend's API is: what the config says, else the variable, else the usual place; null when nobody says. Without a slash at its
 * end, and with the version in its path that the provider's own SDKs leave out.
 */
export function baseUrlOf(type: string, given: string | null, env: Readonly<Record<string, string | undefined>>): string | null {
  const backend = nativeBackend(type);
  const variable = backend?.baseUrlVariable === undefined ? "" : (env[backend.baseUrlVariable]?.trim() ?? "");
  const chosen = given ?? (variable === "" ? null : variable);
  if (chosen === null) return backend?.baseUrl ?? null;
  const url = (/^https?:\/\//i.test(chosen) ? chosen : `http://${chosen}`).replace(/\/+$/, "");
  const version = { anthropic: "v1", google: "v1beta" }[backend?.protocol as "anthropic" | "google"] ?? (type === "ollama" ? "v1" : null);
  return version === null || /\/v\d[a-z0-9]*$/.test(url) ? url : `${url}/${version}`;
}
