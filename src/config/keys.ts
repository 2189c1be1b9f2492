import { statSync } from "node:fs";
import { join } from "node:path";
import { messageOf, systemCodeOf } from "../errors.ts";
import { readRegularText } from "../session/regular-file.ts";
import { parseDotenv } from "./dotenv.ts";

/** A secret and where it came from. Never print, log or store `value`. */
export interface Key {
  readonly value: string;
  /** For people: `environment`, `./.env`, `~/.massgen/.env`. */
  readonly source: string;
}

/** What {@link findKeys} found. */
export interface Keys {
  /** By the name of the variable: keys, and the companions of a key. No value is blank. */
  readonly variables: Readonly<Record<string, Key>>;
  /** Variables that are set, but blank, and where (the first place); only those without a value elsewhere. */
  readonly blank: Readonly<Record<string, string>>;
  /** Files that could not be read: sentences without any value. */
  readonly notes: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The files in which keys are looked for after the environment, in order (design.md, "Before any money is spent"). */
export const keyFiles = ["./.env", "./configs/.env", "~/.massgen/.env", "~/.config/massgen/.env"] as const;

/**
 * The variables that hold a key for each backend of MassGen 0.1.97 (its `backend/capabilities.py` and `cli/backends.py`), any of which
 * will do. Backends with an empty list need none that we could see: local servers, and logins of programs. To add a backend, add a line.
 */
export const backendKeys: Readonly<Record<string, readonly string[]>> = {
  openai: ["OPENAI_API_KEY"],
  codex: ["OPENAI_API_KEY"],
  claude: ["ANTHROPIC_API_KEY"],
  claude_code: ["ANTHROPIC_API_KEY", "CLAUDE_CODE_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"],
  gemini: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
  gemini_cli: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
  antigravity_cli: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
  grok: ["XAI_API_KEY"],
  azure_openai: ["AZURE_OPENAI_API_KEY"],
  zai: ["ZAI_API_KEY"],
  cerebras: ["CEREBRAS_API_KEY"],
  together: ["TOGETHER_API_KEY"],
  fireworks: ["FIREWORKS_API_KEY"],
  groq: ["GROQ_API_KEY"],
  openrouter: ["OPENROUTER_API_KEY"],
  moonshot: ["MOONSHOT_API_KEY", "KIMI_API_KEY"],
  nvidia_nim: ["NGC_API_KEY"],
  nebius: ["NEBIUS_API_KEY"],
  poe: ["POE_API_KEY"],
  qwen: ["QWEN_API_KEY"],
  uitars: ["UI_TARS_API_KEY"],
  lmstudio: [],
  vllm: [],
  sglang: [],
  inference: [],
  copilot: [],
  ag2: [],
};

/** What a key needs beside it. Taken from a file only together with that file's key, so that no file can send another's key elsewhere. */
const companions: Readonly<Record<string, readonly string[]>> = {
  AZURE_OPENAI_API_KEY: ["AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_VERSION"],
  UI_TARS_API_KEY: ["UI_TARS_ENDPOINT"],
};

/** Names of all variables that count as keys. */
export const keyVariables: readonly string[] = [...new Set(Object.values(backendKeys).flat())];

/**
 * The variables that hold a key for a backend, any of which will do; empty when it needs none that we could see. `chatcompletion` takes
 * whichever key belongs to its base_url, so any key will do for it.
 */
export function keysFor(backend: string): readonly string[] {
  return backend === "chatcompletion" ? keyVariables : (backendKeys[backend] ?? []);
}

/**
 * Collects the keys: a variable of the environment beats all files, then the first file that defines it wins. A blank value is not a
 * key, wherever it stands. Files that are missing are no matter; others that cannot be read become notes.
 */
export function findKeys(env: Environment, projectDir: string, home: string): Keys {
  const variables: Record<string, Key> = {};
  const blank: Record<string, string> = {};
  const notes: string[] = [];
  const add = (source: string, lookUp: (name: string) => string | undefined) => {
    for (const name of keyVariables) {
      const value = lookUp(name)?.trim();
      if (value === undefined || variables[name] !== undefined) continue;
      if (value === "") {
        blank[name] ??= source;
        continue;
      }
      delete blank[name];
      variables[name] = { value, source };
      for (const companion of companions[name] ?? []) {
        const beside = lookUp(companion)?.trim();
        if (beside !== undefined && beside !== "") variables[companion] = { value: beside, source };
      }
    }
  };
  add("environment", (name) => env[name]);
  for (const file of keyFiles) {
    const path = join(file.startsWith("~") ? home : projectDir, file.slice(2));
    try {
      const text = readDotenv(path);
      if (text === null) continue;
      const values = parseDotenv(text, env);
      add(file, (name) => values.get(name));
    } catch (error) {
      notes.push(`${file} cannot be read (${messageOf(error)}), so its keys are not used`);
    }
  }
  return { variables, blank, notes };
}

/**
 * The file of a login that lets a backend work without a key, or null. Only the places that MassGen looks at count: its codex backend
 * copies `~/.codex/auth.json` and ignores CODEX_HOME (`backend/codex.py`); claude_code leaves it to the claude CLI, which honours
 * CLAUDE_CONFIG_DIR. On macOS that CLI keeps its login in the keychain, where it cannot be seen ({@link loginIsHidden}).
 */
export function loginOf(backend: string, home: string, env: Environment = {}): string | null {
  const candidates: Readonly<Record<string, readonly string[]>> = {
    codex: [join(home, ".codex", "auth.json")],
    claude_code: [join(env.CLAUDE_CONFIG_DIR || join(home, ".claude"), ".credentials.json")],
    gemini_cli: [join(home, ".gemini", "oauth_creds.json"), join(home, ".gemini", "google_accounts.json")],
    antigravity_cli: [join(home, ".gemini", "google_accounts.json"), join(home, ".gemini", "oauth_creds.json")],
  };
  return candidates[backend]?.find((path) => isFilledFile(path)) ?? null;
}

/** A codex login in CODEX_HOME that MassGen will not find, because it looks in `~/.codex` alone; null when there is none. */
export function unusableCodexLogin(home: string, env: Environment): string | null {
  const path = env.CODEX_HOME ? join(env.CODEX_HOME, "auth.json") : null;
  return path !== null && isFilledFile(path) && loginOf("codex", home) === null ? path : null;
}

/** Whether a backend may have a login that no file shows. */
export function loginIsHidden(backend: string, platform: NodeJS.Platform = process.platform): boolean {
  return backend === "claude_code" && platform === "darwin";
}

/** The place of a {@link Key} as a sentence has it: "the environment", "./.env". */
export function placeOf(source: string): string {
  return source === "environment" ? "the environment" : source;
}

/** The command that logs a backend in; null where a key is the only way. */
export function loginCommand(backend: string): string | null {
  const commands: Readonly<Record<string, string>> = {
    codex: "codex login",
    claude_code: "claude login",
    gemini_cli: "gemini",
    antigravity_cli: "gemini",
    copilot: "copilot login",
  };
  return commands[backend] ?? null;
}

// --- internal ---

/** Longest .env that is read, in bytes. */
const longest = 256 * 1024;

/** Null when there is no such file. */
function readDotenv(path: string): string | null {
  try {
    return readRegularText(path, longest);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(systemCodeOf(error) ?? "")) return null;
    throw error;
  }
}

function isFilledFile(path: string): boolean {
  try {
    const facts = statSync(path);
    return facts.isFile() && facts.size > 0;
  } catch {
    return false;
  }
}
