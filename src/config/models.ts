import { TeamError } from "../errors.ts";
import { listOf, nearest, quoted } from "../text.ts";
import type { Agent } from "../types.ts";
import { backendKeys } from "./keys.ts";

/** Names of models: short names, aliases, `backend/model` (mission.md, "Specifying models"). */

/** Short names and what they stand for; `aliases:` of mg-team.yaml may redefine them and add more. */
export const shortNames: Readonly<Record<string, string>> = {
  codex: "codex/gpt-5.4",
  gemini: "gemini/gemini-3.1-pro-preview",
  claude: "claude/claude-opus-4-6",
  grok: "grok/grok-4.20-0309-reasoning",
};

/** Backend types that MassGen knows; `keys.ts` has the list, with the keys that they need. `ollama` is the native engine's alone. */
export const backends: readonly string[] = [...Object.keys(backendKeys), "chatcompletion", "ollama"];

/** A model that somebody named. */
export interface Model {
  /** `codex/gpt-5.4`, `native:openai/gpt-5.4`. */
  readonly model: string;
  readonly backend: string;
  readonly modelName: string;
  /** The engine that stands before it; absent without. */
  readonly engine?: "massgen" | "native";
}

/** A model as named in a configuration file. */
export type FileModel = Model & {
  /** Absolute path of the agent config that it is to run with. */
  readonly config?: string;
};

/** Which names mean which model in this project. */
export interface ModelNames {
  /** The model of a short name, an alias or `backend/model`, each with or without an engine before it; null when the word is none of them. */
  find(word: string): Model | null;
  /** Short names and aliases, built-in ones first. */
  readonly words: readonly string[];
  readonly aliases: Readonly<Record<string, string>>;
}

/** Makes the table of names. Aliases may name each other; one that leads nowhere or in a circle finds nothing (see {@link checkAlias}). */
export function createModelNames(aliases: Readonly<Record<string, string>> = {}): ModelNames {
  const table = new Map(Object.entries({ ...shortNames, ...aliases }).map(([name, target]) => [name.toLowerCase(), target]));
  const find = (word: string): Model | null => {
    const seen = new Set<string>();
    const { engine, rest } = table.has(word.trim().toLowerCase()) ? { rest: word.trim() } : splitEngine(word.trim());
    if (engine !== undefined && splitEngine(rest).engine !== undefined) return null;
    let name = rest;
    for (let target = table.get(name.toLowerCase()); target !== undefined; target = table.get(name.toLowerCase())) {
      if (seen.has(name.toLowerCase())) return null;
      seen.add(name.toLowerCase());
      name = target.trim();
    }
    const model = splitModel(name);
    return model === null || engine === undefined ? model : withEngine(model, engine);
  };
  return { find, words: [...table.keys()], aliases };
}

/** What is wrong with one entry of `aliases:`, as a sentence; null when it leads to a model. */
export function checkAlias(name: string, aliases: Readonly<Record<string, string>>): string | null {
  if (!/^[^\s,/]+$/.test(name) || ["with", "using", "and"].includes(name.toLowerCase())) {
    return `${quoted(name)} can't be a short name; use one word without "/" or ",", for example fast: codex/gpt-5.4`;
  }
  const names = createModelNames(aliases);
  if (names.find(name)) return null;
  const path = [name];
  const targetOf = (alias: string) => (Object.hasOwn(aliases, alias) ? aliases[alias] : undefined);
  for (let target = targetOf(name); target !== undefined; target = targetOf(target)) {
    if (path.includes(target)) return `the alias goes in a circle: ${[...path, target].join(" → ")}; give one of them a BACKEND/MODEL`;
    path.push(target);
  }
  const { message, hint } = explainUnknown(path.at(-1) ?? name, names);
  return `${message}; ${lowerFirst(hint)}`;
}

/** Why a word is no model, and what to type instead. */
export function explainUnknown(asked: string, names: ModelNames): { readonly message: string; readonly hint: string } {
  const { rest: word } = splitEngine(asked);
  const slash = word.indexOf("/");
  const head = (slash < 0 ? word : word.slice(0, slash)).toLowerCase();
  if (backends.includes(head)) {
    return { message: `${quoted(word)} names a backend but no model`, hint: `Write ${head}/MODEL, for example ${exampleOf(head)}.` };
  }
  if (slash >= 0) {
    const meant = nearest(head, backends);
    const hint = meant
      ? `Did you mean ${meant}${word.slice(slash)}?`
      : `Models are BACKEND/MODEL, with a backend such as ${listOf(familiarBackends, "or")}; for example codex/gpt-5.4.`;
    return { message: `there is no backend ${quoted(word.slice(0, slash))} (in ${quoted(word)})`, hint };
  }
  const known = Object.values(shortNames).find((model) => model.endsWith(`/${word}`));
  const meant = known ?? nearest(word, names.words);
  const choices = `${listOf(names.words)} are short names; any other model is BACKEND/MODEL, such as codex/gpt-5.4.`;
  return { message: `there is no model ${quoted(word)}`, hint: meant ? `Did you mean ${meant}? ${choices}` : choices };
}

/** Finds a model or throws a TeamError that says what it may be. `from` says where the word stands: `--models`. */
export function requireModel(word: string, names: ModelNames, from: string, code: "usage" | "config" = "usage"): Model {
  const model = names.find(word);
  if (model) return model;
  const { message, hint } = explainUnknown(word, names);
  throw new TeamError(code, `${from}: ${message}`, hint);
}

/** Takes `backend/model`, with or without an engine before it (`native:ollama/llama3`), apart; null when it is none. */
export function splitModel(name: string): Model | null {
  const { engine, rest: plain } = splitEngine(name);
  const slash = plain.indexOf("/");
  const backend = plain.slice(0, Math.max(0, slash)).toLowerCase();
  const modelName = plain.slice(slash + 1);
  if (!backends.includes(backend) || !/^[^\s,\u0000-\u001f\u007f]+$/.test(modelName) || modelName.startsWith("-")) return null;
  const model = { model: `${backend}/${modelName}`, backend, modelName };
  return engine === undefined ? model : withEngine(model, engine);
}

/** `agent_a` for 0, `agent_z` for 25, `agent_aa` for 26 (design.md, "Words"). */
export function agentId(index: number): string {
  let letters = "";
  for (let rest = index + 1; rest > 0; rest = Math.floor((rest - 1) / 26)) letters = String.fromCharCode(97 + ((rest - 1) % 26)) + letters;
  return `agent_${letters}`;
}

/** Gives each model its agent, in the order in which they were named. */
export function agentsOf(models: readonly (Model & { readonly config?: string })[]): Agent[] {
  return models.map(({ model, backend, modelName, engine, config }, index) => ({
    id: agentId(index),
    model,
    backend,
    modelName,
    ...(config === undefined ? {} : { config }),
    ...(engine === undefined ? {} : { engine }),
  }));
}

// --- internal ---

function splitEngine(name: string): { readonly engine?: Model["engine"]; readonly rest: string } {
  const engine = /^(native|massgen):/i.exec(name)?.[1]?.toLowerCase() as Model["engine"];
  return engine === undefined ? { rest: name } : { engine, rest: name.slice(engine.length + 1) };
}

function withEngine({ backend, modelName }: Model, engine: NonNullable<Model["engine"]>): Model {
  return { model: `${engine}:${backend}/${modelName}`, backend, modelName, engine };
}

const familiarBackends = ["openai", "codex", "claude", "claude_code", "gemini", "grok"];

function exampleOf(backend: string): string {
  return shortNames[backend] ?? (backend === "claude_code" ? "claude_code/claude-opus-4-6" : `${backend}/gpt-5.4`);
}

function lowerFirst(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1).replace(/[.]$/, "");
}
