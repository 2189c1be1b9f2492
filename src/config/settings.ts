import type { Agent, ContextPath, Limits } from "../types.ts";

/** US dollars per million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
}

/** A run as asked for: flags, MG_TEAM_* environment, mg-team.yaml and defaults, already merged and checked. */
export interface RunSettings {
  readonly query: string;
  readonly agents: readonly Agent[];
  readonly limits: Limits;
  readonly docker: "auto" | "off";
  readonly context: readonly ContextPath[];
  /** Absolute path of the criteria file; null without. */
  readonly criteriaPath: string | null;
  readonly synthesis: "agent" | "markdown";
  /** Model of the synthesis step; null is the winner's. */
  readonly synthesizer: string | null;
  readonly prices: Readonly<Record<string, Price>>;
  readonly ballotFix: "auto" | "on" | "off";
  readonly engine: "auto" | "massgen" | "native";
  /** How to start MassGen, when the user says so: a command line for `splitCommand` of text.ts, paths absolute. Null to look around. */
  readonly massgenCommand: string | null;
  /** Who says so: `--massgen`, `MG_TEAM_MASSGEN`, `massgen.command of mg-team.yaml`; null with a null command. */
  readonly massgenSource: string | null;
  readonly report: boolean;
  /** The project's directory, absolute: where .massgen-quality lives. */
  readonly projectDir: string;
}

/** A plugin that somebody asked for: on the command line, or in mg-team.yaml. */
export interface PluginRequest {
  /** Absolute path of its file. */
  readonly path: string;
  /** As in mg-team.yaml, not yet checked by the plugin; undefined without. */
  readonly options?: unknown;
  readonly source: "flag" | "file";
}

/** The settings of a run whose team may still be open: with `agents: null`, preflight picks it by the keys that it finds. */
export type DraftSettings = Omit<RunSettings, "agents"> & { readonly agents: readonly Agent[] | null };

/** How a command speaks. */
export interface OutputSettings {
  /** What stdout carries: the answer, one result object, or one event a line. */
  readonly mode: "text" | "json" | "events";
  readonly quiet: boolean;
  readonly verbose: boolean;
  /** False: never (`--no-color`, NO_COLOR, a dumb terminal). True: wherever a terminal reads. */
  readonly color: boolean;
  /** The terminal rings, or notifies, at the end of a run. */
  readonly notify: boolean;
}
