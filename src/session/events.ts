import type {
  Action,
  Agent,
  AgentId,
  Ballot,
  BallotRepair,
  FailureClass,
  Limits,
  Snapshot,
  StepCost,
  StopRequest,
  Verdict,
} from "../types.ts";

/**
 * Everything that can happen in a run, as written to `events.jsonl`, printed by `--events` and given to `onEvent`.
 * The journal is enough to rebuild the run: `state.ts` folds these, live and on resume alike.
 */
export type EventBody =
  | {
      readonly type: "run.started";
      readonly session_id: string;
      readonly directory: string;
      readonly agents: readonly Pick<Agent, "id" | "model">[];
      readonly limits: Limits;
      readonly engine: EngineInfo;
      readonly mg_team: string;
    }
  | { readonly type: "preflight.warning"; readonly message: string }
  | { readonly type: "round.started"; readonly round: number; readonly agents: readonly AgentId[] }
  | {
      readonly type: "step.started";
      readonly kind: "round" | "retry" | "synthesis" | "plugin";
      readonly agent: AgentId;
      readonly round: number;
      readonly try: number;
      readonly pid: number;
      readonly launched_with: Snapshot;
      /** The agent's highest step number at the spawn: a resume looks above it for what the step left. */
      readonly after: number;
      /** Relative to the team directory. */
      readonly run_dir: string;
      /** Present when a plugin edited the query: the text that was sent, at most 1000 characters of it. */
      readonly query?: string;
      /** Where the whole of it is; relative to the team directory. */
      readonly query_file?: string;
    }
  | {
      readonly type: "step.progress";
      readonly agent: AgentId;
      readonly round: number;
      readonly try: number;
      readonly phase: StepPhase;
      readonly tool?: string;
      /** Last words of the agent, at most 200 characters, control characters removed. */
      readonly text?: string;
    }
  | { readonly type: "step.cost"; readonly agent: AgentId; readonly round: number; readonly try: number; readonly cost: StepCost }
  | {
      readonly type: "step.finished";
      readonly kind: "round" | "retry" | "synthesis" | "plugin";
      readonly action: Action;
      /** Another attempt of the same round follows; this one was no action yet. */
      readonly retry: boolean;
      /** Stopped by us before it acted (limit, signal): uses up neither retry nor round. */
      readonly interrupted: boolean;
      /** What the step showed of the ballot repair, where that is in place. */
      readonly ballot?: BallotRepair;
    }
  | {
      readonly type: "ballots";
      readonly round: number;
      readonly ballots: readonly BallotStanding[];
      /** Another event with more ballots of the same barrier follows: a large team's do not fit into one line. */
      readonly more?: true;
      readonly tally: Readonly<Record<AgentId, number>>;
    }
  | { readonly type: "agent.out"; readonly agent: AgentId; readonly class: FailureClass; readonly message: string; readonly log: string }
  | { readonly type: "limit.reached"; readonly reason: StopRequest["reason"]; readonly message: string }
  | { readonly type: "stop"; readonly reason: StopRequest["reason"]; readonly message: string; readonly stopped: readonly AgentId[] }
  | { readonly type: "decision"; readonly round: number; readonly decision: Verdict }
  | { readonly type: "synthesis.started"; readonly kind: "agent" | "markdown"; readonly model?: string }
  | {
      readonly type: "synthesis.finished";
      readonly kind: "agent" | "markdown" | "none";
      readonly path: string;
      readonly why_not_agent?: string;
    }
  | { readonly type: "plugin.error"; readonly plugin: string; readonly hook: string; readonly message: string; readonly file?: string }
  | {
      readonly type: "run.resumed";
      readonly elapsed_seconds: number;
      readonly limits: Limits;
      /** The decision that was made stands; only what comes after it was not done, or not whole. */
      readonly decided?: true;
    }
  | {
      readonly type: "run.finished";
      readonly exit_code: number;
      readonly decision: Verdict;
      readonly total_usd: number | null;
      readonly elapsed_seconds: number;
    };

/** What a barrier finds of a ballot; the rest of it is in the voter's `step.finished`. */
export type BallotStanding = Pick<Ballot, "voter" | "target" | "step" | "round" | "self" | "standing" | "why">;

export type StepPhase = "starting" | "thinking" | "tool" | "answered" | "voted" | "failed" | "waiting";

export interface EngineInfo {
  readonly name: "massgen" | "native";
  readonly version: string;
  /**
   * Whether MassGen's ballot was repaired; "off" also where that was not needed. In `run.started`: whether the repair was put in place; in
   * the result: whether it also took hold (see `repairedBallot`).
   */
  readonly ballot_fix: "on" | "off";
}

/** An event with its envelope. `seq` counts from 1 without gaps within a run, resumes included; `ts` is ISO 8601 with milliseconds. */
export type TeamEvent = EventBody & {
  readonly v: 1;
  readonly seq: number;
  readonly ts: string;
  /** Seconds that mg-team has worked on the run, over all resumes. */
  readonly elapsed: number;
};
