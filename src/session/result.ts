import type { AgentId, AnswerSteps, DecisionKind, DecisionReason, FailureClass, Limits, Standing } from "../types.ts";
import type { EngineInfo } from "./events.ts";

/** `result.json`, also what `--json` prints (design.md, "Files of a run"). */
export interface RunResult {
  readonly version: 1;
  readonly session_id: string;
  /** Absolute path of the team directory. */
  readonly session_dir: string;
  readonly query: string;
  /** ISO 8601. */
  readonly started_at: string;
  /** Seconds that mg-team worked on it, over all resumes. */
  duration_seconds: number;
  exit_code: number;
  /** The text of the winner's current answer; null when there is none. */
  readonly answer: string | null;
  readonly decision: ResultDecision;
  readonly rounds: number;
  readonly limits: ResultLimits;
  cost: ResultCost;
  agents: readonly ResultAgent[];
  synthesis: ResultSynthesis;
  checks: readonly CheckFinding[];
  readonly engine: EngineInfo;
  readonly warnings: string[];
  /** What plugins added in onFinish, by plugin name. */
  readonly plugins: Record<string, unknown>;
}

export interface ResultDecision {
  readonly kind: DecisionKind;
  readonly reason: DecisionReason;
  readonly rule: string;
  readonly winner: AgentId | null;
  readonly winner_model: string | null;
  /** Valid votes for each agent. */
  readonly tally: Readonly<Record<AgentId, number>>;
  readonly ballots: readonly ResultBallot[];
}

export interface ResultBallot {
  readonly voter: AgentId;
  readonly target: string;
  readonly step: number;
  readonly round: number;
  readonly standing: Standing;
  /** Why it is stale or invalid; empty while valid. */
  readonly why: string;
  readonly self: boolean;
  /** The voter's own words. */
  readonly reason: string;
}

/** Limits as set ({@link Limits}), with the one that ended the run. */
export interface ResultLimits {
  readonly max_rounds: number;
  readonly timeout_seconds: number;
  readonly cost_budget: number | null;
  readonly step_timeout_seconds: number | null;
  readonly retries: number;
  readonly max_parallel: number | null;
  readonly allow_unpriced: boolean;
  readonly reached: "max_rounds" | "timeout" | "cost_budget" | null;
}

/** Limits as `result.json` names them. Pure. */
export function resultLimits(limits: Limits, reached: ResultLimits["reached"]): ResultLimits {
  return {
    max_rounds: limits.maxRounds,
    timeout_seconds: limits.timeoutSeconds,
    cost_budget: limits.costBudget,
    step_timeout_seconds: limits.stepTimeoutSeconds,
    retries: limits.retries,
    max_parallel: limits.maxParallel,
    allow_unpriced: limits.allowUnpriced,
    reached,
  };
}

export type CostKnown = "all" | "partial" | "none";

export interface ResultCost {
  /** Sum of what is known, US dollars; null when nothing is known. */
  readonly total_usd: number | null;
  readonly known: CostKnown;
  readonly by_agent: Readonly<Record<AgentId, AgentCost>>;
}

export interface AgentCost {
  readonly usd: number | null;
  /** Whether every step of the agent has a price. */
  readonly known: CostKnown;
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** Tokens, of those, whose price is unknown. */
  readonly unpriced_tokens: number;
}

export interface ResultAgent {
  readonly id: AgentId;
  readonly model: string;
  readonly status: "live" | "out";
  readonly steps: readonly ResultStep[];
  readonly failure: { readonly class: FailureClass; readonly message: string; readonly log: string } | null;
}

export interface ResultStep {
  /** Number of the step directory; null when the step left none. */
  readonly step: number | null;
  /** 0 for a step outside the rounds: the synthesis, or one that a plugin asked for. */
  readonly round: number;
  readonly try: number;
  readonly action: "new_answer" | "vote" | "failed" | "skipped" | "interrupted";
  readonly class: FailureClass | null;
  readonly vote_target: string | null;
  readonly seconds: number;
  readonly usd: number | null;
  readonly launched_with?: AnswerSteps;
}

export interface ResultSynthesis {
  readonly kind: "agent" | "markdown" | "none";
  /** Absolute path of final_answer.md; null when there is no answer. */
  readonly path: string | null;
  /** Absolute path of deliverable/; null when there are no files. */
  readonly deliverable: string | null;
  /** Absolute path of winner/. */
  readonly winner: string | null;
  readonly why_not_agent: string | null;
}

/** What a file check found; nothing is ever fixed silently. */
export interface CheckFinding {
  /** Relative to deliverable/. */
  readonly file: string;
  /** 1 or more; 0 for the whole file. */
  readonly line: number;
  /** json, yaml, javascript, python, shell, links, placeholder, secret, … */
  readonly check: string;
  readonly message: string;
}
