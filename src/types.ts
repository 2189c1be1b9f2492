/** The words of the contract (design.md, "Words"). Data only; everything here is readonly unless a plugin may edit it. */

/** `agent_a`, `agent_b`, … `agent_z`, `agent_aa`. Never `agent1`: MassGen would take that for an anonymous label. */
export type AgentId = string;

/** One model in the team. */
export interface Agent {
  readonly id: AgentId;
  /** As requested, with aliases resolved: `codex/gpt-5.4`. */
  readonly model: string;
  /** `codex` of `codex/gpt-5.4`. */
  readonly backend: string;
  /** `gpt-5.4` of `codex/gpt-5.4`. */
  readonly modelName: string;
  /** Absolute path of the user's own agent config, when mg-team.yaml names one. */
  readonly config?: string;
  /** What runs its steps, when its model says so (`native:openai/gpt-5.4`); absent: whatever runs the team's. */
  readonly engine?: "massgen" | "native";
}

/** Why a step brought no action. */
export const failureClasses = ["auth", "config", "quota", "model", "empty", "garbled", "crash", "timeout", "killed", "no_action"] as const;
export type FailureClass = (typeof failureClasses)[number];

/** What a step has spent. */
export interface StepCost {
  /** US dollars, 0 or more; null while unknown (no report, or tokens without a price). Unknown is not free. */
  readonly usd: number | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** A part was never counted (a reply that broke off, a step that was killed while it waited for one): all numbers are the least that it was. */
  readonly incomplete?: true;
}

export const unknownCost: StepCost = { usd: null, inputTokens: 0, outputTokens: 0 };

/** Answer step number by agent; agents without an answer are absent. */
export type AnswerSteps = Readonly<Record<AgentId, number>>;

/** What existed on disk when a step was spawned. */
export interface Snapshot {
  /** The newest whole, non-blank answer of each agent. */
  readonly answers: AnswerSteps;
  /** Agents whose newest answer on disk was blank: MassGen shows that one to voters. */
  readonly blank: readonly AgentId[];
}

/** Where and when a step took place; common to all actions. */
interface ActionBase {
  readonly agent: AgentId;
  /** 1 or more. */
  readonly round: number;
  /** 1 for the first attempt of a round, 2 or more for retries. */
  readonly try: number;
  readonly launchedWith: Snapshot;
  /** Wall clock of the step in seconds, start-up included; 0 for a skip. */
  readonly seconds: number;
  readonly cost: StepCost;
  /** Milliseconds since the epoch when mg-team learned of it, by the time that it has worked since the start; orders first answers. */
  readonly at: number;
  /** Free for plugins: shown in journal and report. The first 50 are kept, and 2000 characters of them. */
  notes?: string[];
}

export interface AnswerAction extends ActionBase {
  readonly kind: "new_answer";
  /** Number of the step directory, 1 or more. */
  readonly step: number;
}

export interface VoteAction extends ActionBase {
  readonly kind: "vote";
  readonly step: number;
  /** As written in vote.json; may name nobody. */
  readonly target: string;
  readonly reason: string;
  /** As written in vote.json, but of agents of the team only; null when there are none, or it is not a map of numbers. */
  readonly seenSteps: AnswerSteps | null;
}

export interface FailedAction extends ActionBase {
  readonly kind: "failed";
  readonly class: FailureClass;
  /** The cause in one line, without secrets. */
  readonly message: string;
  /** Path of the log that shows it, relative to the team directory. */
  readonly log: string;
}

export interface SkippedAction extends ActionBase {
  readonly kind: "skipped";
  readonly reason: string;
  /** The plugin that skipped the launch. */
  readonly by: string;
}

/** What an agent did with a step. */
export type Action = AnswerAction | VoteAction | FailedAction | SkippedAction;

/**
 * What a step showed of the repair of MassGen's ballot. `applied`: the ballot was broken and is repaired. `ready`: in place, but there was no
 * peer's answer to vote for yet. `not_needed`: the ballot is healthy, nothing was changed. `unexpected`: the code is not what the repair knows,
 * nothing was changed. `silent`: the step acted, and nothing was seen of the repair.
 */
export type BallotRepair = "applied" | "ready" | "not_needed" | "unexpected" | "silent";

export type Standing = "valid" | "stale" | "invalid";

/** An agent's latest vote with its standing. Plugins of the stage `mark` set `standing` and `why`. */
export interface Ballot {
  readonly voter: AgentId;
  readonly target: string;
  readonly step: number;
  readonly round: number;
  /** The voter's own words. */
  readonly reason: string;
  /** The voter named itself. */
  readonly self: boolean;
  readonly launchedWith: Snapshot;
  readonly seenSteps: AnswerSteps | null;
  standing: Standing;
  /** Why it is stale or invalid, in a sentence; empty while valid. */
  why: string;
}

/** One answer that an agent submitted. */
export interface Answer {
  readonly agent: AgentId;
  readonly step: number;
  readonly round: number;
  /** Milliseconds since the epoch; see `ActionBase.at`. */
  readonly at: number;
}

export type DecisionKind = "consensus" | "forced" | "single" | "none";

/** Why a run ended as it did. */
export const decisionReasons = [
  "majority",
  "split_vote",
  "max_rounds",
  "timeout",
  "cost_budget",
  "interrupted",
  "only_agent",
  "agents_failed",
  "no_answers",
  "plugin",
] as const;
export type DecisionReason = (typeof decisionReasons)[number];

/** How the run ends. Set in `onConsensus`; `winner: null` with `kind: "forced"` asks the host to apply the forced rule. */
export interface Verdict {
  readonly kind: DecisionKind;
  readonly reason: DecisionReason;
  readonly winner: AgentId | null;
  /** Which rule decided, in a sentence. */
  readonly rule: string;
}

/** Why a run is asked to stop before its rules end it. */
export interface StopRequest {
  readonly reason: DecisionReason;
  /** For people: "the budget of $5.00 is exceeded ($5.31 spent)". */
  readonly message: string;
}

/** One agent as `onConsensus` sees it. */
export interface AgentStanding {
  readonly id: AgentId;
  readonly live: boolean;
  /** Steps that used up a round: actions and skips, 0 or more. */
  readonly rounds: number;
  readonly answers: readonly Answer[];
  /** Its latest vote; null before the first. */
  readonly ballot: Ballot | null;
}

/** The value of `onConsensus`: everything a decision may rest on. Plugins mark ballots and set `verdict`. */
export interface Deliberation {
  /** The round that has just ended, or was stopped; 0 before the first. */
  readonly round: number;
  readonly agents: readonly AgentStanding[];
  /** Step number of each agent's current answer. */
  readonly current: AnswerSteps;
  readonly maxRounds: number;
  /** How many steps the round launched (skips are not launches). */
  readonly launched: number;
  /** Set when the round did not run to its barrier. */
  readonly stop: StopRequest | null;
  verdict: Verdict | null;
}

/** Limits of a run. Times in seconds, money in US dollars; null is no limit. */
export interface Limits {
  readonly maxRounds: number;
  readonly timeoutSeconds: number;
  readonly costBudget: number | null;
  readonly stepTimeoutSeconds: number | null;
  /** Retries of a failed step, 0 or more. */
  readonly retries: number;
  /** Steps at the same time; null is all at once. */
  readonly maxParallel: number | null;
  readonly allowUnpriced: boolean;
}

/** A file or directory that the agents may read, or also write. */
export interface ContextPath {
  /** Absolute. */
  readonly path: string;
  readonly permission: "read" | "write";
}
