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
  /** How to start MassGen, when the user says so; null to look around. */
  readonly massgenCommand: string | null;
  readonly report: boolean;
  /** The project's directory, absolute: where .massgen-quality lives. */
  readonly projectDir: string;
}
