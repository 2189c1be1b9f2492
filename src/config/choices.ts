import type { ContextPath, Limits } from "../types.ts";
import type { Price } from "./settings.ts";

/** Every setting but query, models and plugins, each with one value: what flags, variables and mg-team.yaml fill in, and the defaults. */
export interface Choices extends Limits {
  readonly docker: "auto" | "off";
  readonly context: readonly ContextPath[];
  /** Absolute; null without. */
  readonly criteriaPath: string | null;
  readonly synthesis: "agent" | "markdown";
  /** `backend/model`; null is the winner's. */
  readonly synthesizer: string | null;
  readonly prices: Readonly<Record<string, Price>>;
  readonly ballotFix: "auto" | "on" | "off";
  readonly engine: "auto" | "massgen" | "native";
  /** A command line for `splitCommand`; null to look around. */
  readonly massgenCommand: string | null;
  /** Who named the command; null with a null command. */
  readonly massgenSource: string | null;
  readonly report: boolean;
  readonly notify: boolean;
  readonly literal: boolean;
  readonly strict: boolean;
  readonly dryRun: boolean;
  readonly refresh: boolean;
  readonly mode: "text" | "json" | "events";
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly color: boolean;
}

/** What holds when nobody says otherwise (design.md, "Command line"). Times in seconds. */
export const defaultChoices: Choices = {
  maxRounds: 5,
  timeoutSeconds: 1800,
  costBudget: null,
  stepTimeoutSeconds: null,
  retries: 1,
  maxParallel: null,
  allowUnpriced: false,
  docker: "auto",
  context: [],
  criteriaPath: null,
  synthesis: "agent",
  synthesizer: null,
  prices: {},
  ballotFix: "auto",
  engine: "auto",
  massgenCommand: null,
  massgenSource: null,
  report: true,
  notify: true,
  literal: false,
  strict: false,
  dryRun: false,
  refresh: false,
  mode: "text",
  quiet: false,
  verbose: false,
  color: true,
};

/** The first of several sources that says something wins, setting by setting; the last is complete. */
export function firstOf(...sources: readonly [...Partial<Choices>[], Choices]): Choices {
  const layers = [...sources].reverse().map((source) => Object.entries(source).filter(([, value]) => value !== undefined));
  return Object.assign({}, ...layers.map((entries) => Object.fromEntries(entries)));
}
