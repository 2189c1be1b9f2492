import { basename } from "node:path";
import { TeamError } from "../errors.ts";
import { listOf, quoted } from "../text.ts";
import { findClause } from "./clause.ts";
import { modelsNote } from "./default-models.ts";
import { variableSource } from "./flags.ts";
import type { FileModel } from "./models.ts";
import type { ResolvedConfig } from "./sources.ts";
import { type CommandLine, optionValues } from "./tokenise.ts";
import type { Environment } from "./trust-store.ts";
import { type RunWords, readModels } from "./words.ts";

/** Models of a team at most: what happens at once in a larger one does not fit into a line of the journal. */
export const largestTeam = 40;

/** Who takes part. */
export interface Selection {
  /** Null when nobody was named. */
  readonly models: readonly FileModel[] | null;
  /** They are those of the configuration file. */
  readonly fromFile: boolean;
  /** Lines for stderr: who, and why. */
  readonly notes: readonly string[];
}

/**
 * The models of the strongest source: `--models`, a clause behind the query, a clause in it, MG_TEAM_MODELS, the file.
 * Throws a TeamError (usage) for a word that is no model, and when fewer than two are named.
 */
export function selectModels(
  line: CommandLine,
  words: RunWords,
  query: string,
  config: ResolvedConfig,
  environment: Environment,
): Selection {
  const notes: string[] = [];
  const named = strongest(line, words, query, config, environment, notes);
  if (named === null) return { models: null, fromFile: false, notes };
  checkSize(named);
  const { models, why } = named;
  return { models, fromFile: models === config.file?.models, notes: [modelsNote(models, why), ...notes] };
}

/**
 * Who would take part in a run whose command line and query name nobody: the models of MG_TEAM_MODELS, else of the file; null without either.
 * Throws a TeamError as {@link selectModels} does.
 */
export function configuredModels(config: ResolvedConfig, environment: Environment): readonly FileModel[] | null {
  const named = settled(config, environment);
  if (named !== null) checkSize(named);
  return named?.models ?? null;
}

/** Whether MG_TEAM_MODELS names models, so that those of the file are not used. */
export function namedByVariable(environment: Environment): boolean {
  return variableSource(environment).values("models").length > 0;
}

// --- internal ---

interface Named {
  readonly models: readonly FileModel[];
  readonly why: string;
}

function checkSize({ models, why }: Named): void {
  if (models.length < 2) {
    const found = listOf(models.map(({ model }) => model));
    const hint = `Name one more, for example ${oneMore(models)}; the same model may take part twice.`;
    throw new TeamError("usage", `a team needs two models, but only ${found} is named (${why})`, hint);
  }
  if (models.length > largestTeam) {
    const hint = `Name ${largestTeam} models or fewer; every one of them reads all answers of the others, in every round.`;
    throw new TeamError("usage", `a team has at most ${largestTeam} models, but ${models.length} are named (${why})`, hint);
  }
}

function strongest(
  line: CommandLine,
  words: RunWords,
  query: string,
  config: ResolvedConfig,
  environment: Environment,
  notes: string[],
): Named | null {
  const { names, choices } = config;
  const flags = optionValues(line, "models");
  if (flags.length > 0) {
    if (words.clause !== null) notes.push("--models was given, so the models named after the query are not used");
    return { models: [...readModels(flags, names, "--models"), ...words.more], why: "from --models" };
  }
  if (words.clause !== null) return { models: words.clause, why: "named after the query" };
  const { clause, doubt } = choices.literal ? { clause: null, doubt: null } : findClause(query, names);
  if (doubt !== null) notes.push(`${quoted(doubt.word)} in the query is no model; did you mean ${doubt.meant}?`);
  if (clause !== null) {
    return { models: clause.models, why: `named in the query, ${quoted(clause.text, 50)}; --literal takes no models from it` };
  }
  return settled(config, environment);
}

function settled({ names, file }: ResolvedConfig, environment: Environment): Named | null {
  const variables = variableSource(environment);
  const listed = variables.values("models");
  const variable = variables.nameOf("models");
  if (listed.length > 0) return { models: readModels(listed, names, variable, variables.errors), why: `from ${variable}` };
  return file?.models ? { models: file.models, why: `from ${basename(file.path)}` } : null;
}

function oneMore(models: readonly FileModel[]): string {
  return models[0]?.backend === "claude" ? "codex" : "claude";
}
