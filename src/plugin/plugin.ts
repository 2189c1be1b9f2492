import type { z } from "zod";
import type { ResultCost } from "../session/result.ts";
import type { Agent, AgentId, StepCost, StopRequest } from "../types.ts";
import type { RunInfo, TeamHooks } from "./hooks.ts";

/** Run in reverse order of `apply` when the run is over, all of them, also after errors. */
export type Cleanup = () => void | Promise<void>;

/** A plugin, as its file exports it by default. */
export interface Plugin<Options = unknown> {
  /** Unique in a run; errors and `result.plugins` use it. */
  readonly name: string;
  /** What it does, in one line without a full stop; `mg-team plugin list` shows it. */
  readonly summary?: string;
  /** Parses the plugin's `options:` of mg-team.yaml; without it, options are refused. */
  readonly options?: z.ZodType<Options>;
  /** Tap the hooks of `team`. May return a cleanup. */
  apply(team: Team, options: Options): Cleanup | void | Promise<Cleanup | void>;
}

/** Gives a plugin its types: `export default definePlugin({ name, summary, options, apply(team, options) { … } })`. */
export function definePlugin<Schema extends z.ZodType = z.ZodUndefined>(plugin: {
  readonly name: string;
  readonly summary?: string;
  readonly options?: Schema;
  apply(team: Team, options: z.output<Schema>): Cleanup | void | Promise<Cleanup | void>;
}): Plugin {
  return plugin as unknown as Plugin;
}

/** What a plugin gets to work with. Everything here is public and stable. */
export interface Team {
  readonly hooks: TeamHooks;
  /** Lines on stderr, prefixed with the plugin's name. */
  readonly log: Log;
  readonly run: RunInfo;
  /** Each agent's current answer, in the order of agents; read only. */
  readonly answers: readonly CurrentAnswer[];
  /** Seconds that mg-team has worked on the run, over all resumes; the clock that `timeout` uses. */
  readonly elapsedSeconds: number;
  /** What the run has cost so far, running steps included. */
  readonly cost: ResultCost;
  /** Ends the run with the best answer there is. The first call wins; after a decision it stops only synthesis. */
  stop(request: StopRequest, options?: StopOptions): void;
  /** Runs one more step, under the same supervision, cost and deadlines as any other. */
  runStep(request: ExtraStep): Promise<ExtraStepResult>;
}

export interface StopOptions {
  /** Steps that are running are paid for and may finish; nothing more is launched, and the run stops after them. Default: they are stopped. */
  readonly finishRunning?: boolean;
}

export interface Log {
  info(message: string): void;
  warn(message: string): void;
}

export interface CurrentAnswer {
  readonly agent: AgentId;
  readonly model: string;
  readonly step: number;
  readonly round: number;
  /** The answer's text, read from disk when asked for. */
  readonly text: string;
  /** Absolute path of its workspace; null without. */
  readonly workspace: string | null;
}

export interface ExtraStep {
  /** An agent of the team, or a model (`codex/gpt-5.4`). */
  readonly model: Agent | string;
  readonly query: string;
  /** Absolute path; a session directory of its own, empty at first. Not the team's. */
  readonly sessionDir: string;
  /** Files that the step may read. */
  readonly context: readonly string[];
}

export interface ExtraStepResult {
  /** The answer's text; null when the step failed, was stopped, or voted. */
  readonly answer: string | null;
  /** Absolute path of its workspace; null without. */
  readonly workspace: string | null;
  /** Why there is no answer, in one line; null with an answer. */
  readonly failure: string | null;
  readonly cost: StepCost;
  readonly seconds: number;
}
