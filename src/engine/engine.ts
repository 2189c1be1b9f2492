import type { EngineInfo, StepPhase } from "../session/events.ts";
import type { Agent, AnswerAction, BallotRepair, ContextPath, FailureClass, Snapshot, StepCost, VoteAction } from "../types.ts";

/** Everything an engine needs to run one step. All paths are absolute. */
export interface StepSpec {
  readonly agent: Agent;
  readonly query: string;
  /** The step-mode session directory; only the engine's child writes below its `agents/`. */
  readonly sessionDir: string;
  readonly configPath: string;
  readonly criteriaPath: string | null;
  /** Working directory of the step; stdout.log and stderr.log go here. Created by the engine. */
  readonly runDir: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Seconds; null for no limit of its own. */
  readonly timeoutSeconds: number | null;
}

/** What would be started: for `--dry-run` and for tests. */
export interface StepCommand {
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The whole environment of the child. */
  readonly env: Readonly<Record<string, string>>;
  /** Names of the variables that mg-team adds to the caller's environment. */
  readonly added: readonly string[];
}

/** Why we stop a step. The first cause wins and becomes part of its report. */
export type StopCause = "step_timeout" | "timeout" | "cost_budget" | "interrupted" | "plugin" | "ended";

/** An action as found on disk: what peers see is the truth (design.md, core loop 2). */
export type FoundAction = Pick<AnswerAction, "kind" | "step"> | Pick<VoteAction, "kind" | "step" | "target" | "reason" | "seenSteps">;

export interface StepFailure {
  readonly class: FailureClass;
  /** One line, the cause as the log tells it, secrets removed. */
  readonly message: string;
  /** Absolute path of the log that shows it. */
  readonly log: string;
  /** Seconds to wait before a retry, from the provider (class quota). */
  readonly retryAfterSeconds?: number;
}

/** How a step ended. Exactly one of `action` and `failure` is set. */
export interface StepReport {
  readonly action: FoundAction | null;
  readonly failure: StepFailure | null;
  readonly stopCause: StopCause | null;
  readonly seconds: number;
  readonly cost: StepCost;
  /** Of the repair of MassGen's ballot; absent where it was not put in place, or could not be told. */
  readonly ballot?: BallotRepair;
  /** An answer file whose bytes are not UTF-8 and would fail every other agent (core loop 5); absolute path. */
  readonly poison: string | null;
}

/** A step that was under way when mg-team itself ended. */
export interface LostStep {
  readonly agent: Agent;
  readonly sessionDir: string;
  readonly runDir: string;
  /** See {@link RunningStep.after}. */
  readonly after: number;
}

export interface StepEvents {
  onProgress?(progress: { readonly phase: StepPhase; readonly tool?: string; readonly text?: string }): void;
  /** Called about every 2 s while the reported cost changes. */
  onCost?(cost: StepCost): void;
}

export interface RunningStep {
  readonly pid: number;
  /** What existed on disk at the spawn. */
  readonly launchedWith: Snapshot;
  /** The agent's highest step number at the spawn; what is above it is this step's. */
  readonly after: number;
  /** Never rejects. */
  readonly report: Promise<StepReport>;
  /** Idempotent; resolves when nothing of the step is alive. `now` skips the grace period. */
  stop(cause: StopCause, options?: { readonly now?: boolean }): Promise<void>;
}

/** What runs a step: MassGen, or mg-team itself. */
export interface Engine {
  readonly info: EngineInfo;
  /** The command of a step, without starting it. */
  command(step: StepSpec): StepCommand;
  /** Starts it. Spawn errors (ENOENT, EMFILE, E2BIG …) come as a report with a failure, not as a throw. */
  start(step: StepSpec, events: StepEvents): RunningStep;
  /** Reads what a step left that an earlier process of mg-team started and did not see end. Only when nothing of it is alive. */
  recover(step: LostStep): StepReport;
  /** Writes one agent's step config to `out`; throws a TeamError (config) with the next step for the user. */
  writeConfig(agent: Agent, out: string, options: ConfigOptions): Promise<void>;
}

export interface ConfigOptions {
  /** Run the agents' code in docker. */
  readonly docker: boolean;
  readonly context: readonly ContextPath[];
  /** Where logs of making the config go. */
  readonly runDir: string;
}
