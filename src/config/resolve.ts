import { TeamError } from "../errors.ts";
import type { Agent } from "../types.ts";
import type { Choices } from "./choices.ts";
import { applyTrust, type Untrusted } from "./consent.ts";
import { agentsOf } from "./models.ts";
import { checkQuery, type Input, readQueryFile } from "./query.ts";
import { selectModels } from "./selection.ts";
import type { DraftSettings } from "./settings.ts";
import { type ResolvedConfig, readSources } from "./sources.ts";
import { type CommandLine, optionValue, optionValues } from "./tokenise.ts";
import type { Environment } from "./trust-store.ts";
import { sortWords } from "./words.ts";

/** A run as asked for, ready for preflight. */
export interface ResolvedRun extends ResolvedConfig {
  /** With `agents: null` nobody was named: preflight asks `defaultModels(keys, names)`. */
  readonly settings: DraftSettings;
  readonly strict: boolean;
  readonly dryRun: boolean;
  readonly refresh: boolean;
  /** Lines for stderr: who takes part, and why. */
  readonly notes: readonly string[];
}

/**
 * The configuration of a project, for commands without a query. Prints nothing. Throws a TeamError: `usage` for flags, `config` for
 * variables and the file, `untrusted` for a file that names programs without consent (with "leave out" a warning instead).
 * @param environment usually `process.env`
 * @param cwd the project's directory, absolute
 */
export function resolveConfig(line: CommandLine, environment: Environment, cwd: string, untrusted: Untrusted = "refuse"): ResolvedConfig {
  return applyTrust(readSources(line, environment, cwd), environment, cwd, false, untrusted);
}

/** What `mg-team [run] QUERY …` asks for. As {@link resolveConfig}, with the query and who takes part; `input` is read for `--query-file -`. */
export async function resolveRun(line: CommandLine, environment: Environment, cwd: string, input: Input): Promise<ResolvedRun> {
  const sources = readSources(line, environment, cwd);
  const queryFile = optionValue(line, "query-file");
  const words = sortWords(line.words, sources.names, optionValues(line, "models").at(-1) ?? null, queryFile !== undefined);
  const query = queryFile === undefined ? checkQuery(words.query ?? noQuery(line)) : await readQueryFile(queryFile, cwd, input);
  const selection = selectModels(line, words, query, sources, environment);
  const config = applyTrust(sources, environment, cwd, selection.models !== null && !selection.fromFile, "refuse");
  const { choices } = config;
  return {
    ...config,
    settings: settingsOf(query, selection.models === null ? null : agentsOf(selection.models), choices, cwd),
    strict: choices.strict,
    dryRun: choices.dryRun,
    refresh: choices.refresh,
    notes: selection.notes,
  };
}

// --- internal ---

function noQuery(line: CommandLine): never {
  const eaten = optionValues(line, "models").length > 0;
  const message = eaten ? "there is no query: every word after --models is a model" : "there is no query";
  throw new TeamError(
    "usage",
    message,
    'For example: mg-team "Build a landing page" --models codex gemini\nFrom a file: mg-team --query-file task.md',
  );
}

function settingsOf(query: string, agents: readonly Agent[] | null, choices: Choices, projectDir: string): DraftSettings {
  const { maxRounds, timeoutSeconds, costBudget, stepTimeoutSeconds, retries, maxParallel, allowUnpriced } = choices;
  return {
    query,
    agents,
    limits: { maxRounds, timeoutSeconds, costBudget, stepTimeoutSeconds, retries, maxParallel, allowUnpriced },
    docker: choices.docker,
    context: choices.context,
    criteriaPath: choices.criteriaPath,
    synthesis: choices.synthesis,
    synthesizer: choices.synthesizer,
    prices: choices.prices,
    ballotFix: choices.ballotFix,
    engine: choices.engine,
    massgenCommand: choices.massgenCommand,
    massgenSource: choices.massgenSource,
    report: choices.report,
    projectDir,
  };
}
