import { TeamError } from "../errors.ts";
import { listOf } from "../text.ts";
import type { Agent } from "../types.ts";
import { agentsOf, createModelNames, type Model, type ModelNames } from "./models.ts";

/** Who takes part when nobody was named, in order (mission.md, "Default selection"). To add a provider, add a line. */
export const defaultOrder: readonly { readonly name: string; readonly variables: readonly string[] }[] = [
  { name: "codex", variables: ["OPENAI_API_KEY"] },
  { name: "gemini", variables: ["GOOGLE_API_KEY", "GEMINI_API_KEY"] },
  { name: "claude", variables: ["ANTHROPIC_API_KEY"] },
  { name: "grok", variables: ["XAI_API_KEY"] },
];

/** A default team has three at most. */
export const defaultTeamSize = 3;

/**
 * The team when no model was named: the first three providers with a key. `keysPresent` are the names of the variables that hold
 * one. Throws a TeamError (preflight) when fewer than two have.
 */
export function defaultModels(keysPresent: Iterable<string>, names: ModelNames = createModelNames()): Agent[] {
  const present = new Set(keysPresent);
  const withKey = defaultOrder.filter(({ variables }) => variables.some((variable) => present.has(variable)));
  if (withKey.length < 2) throw tooFewKeys(withKey.map(({ name }) => name));
  const models = withKey.slice(0, defaultTeamSize).map(({ name }) => names.find(name));
  return agentsOf(models.filter((model): model is Model => model !== null));
}

/** The line that says who takes part and why: `models: codex/gpt-5.4, grok/grok-4 (named in the query)`. */
export function modelsNote(agents: readonly { readonly model: string }[], why: string): string {
  return `models: ${agents.map(({ model }) => model).join(", ")} (${why})`;
}

// --- internal ---

function tooFewKeys(withKey: readonly string[]): TeamError {
  const missing = defaultOrder.filter(({ name }) => !withKey.includes(name)).map(({ variables }) => variables.join(" or "));
  const found = withKey.length === 0 ? "there is no API key" : `only ${withKey.join()} has an API key`;
  return new TeamError(
    "preflight",
    `${found}, and a team needs two models`,
    `Set ${withKey.length === 0 ? "two of " : ""}${listOf(missing, "or")}, or name the models: mg-team "QUERY" with codex and claude`,
  );
}
