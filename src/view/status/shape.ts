import type { AgentCost, ResultCost } from "../../session/result.ts";
import type { AgentId, FailureClass, Limits, Standing, Verdict } from "../../types.ts";
import type { AgentPhase } from "../agent-row.ts";
import type { RunCondition } from "../condition.ts";

/** What `mg-team status --json` prints: a run, or any step-mode session directory, as it is at one moment. */
export interface TeamStatus {
  readonly version: 1;
  /** `team_20261129_181500`; null for a session directory on its own. */
  readonly session_id: string | null;
  /** Absolute path of the team directory, or of the session directory. */
  readonly directory: string;
  /** `journal`: everything that mg-team saw. `files`: only what the agents left behind; see `unknown`. */
  readonly source: "journal" | "files";
  readonly state: RunCondition;
  readonly query: string | null;
  /** ISO 8601. */
  readonly started_at: string | null;
  /** Seconds that mg-team has worked on it, over all resumes; null when nobody counted. */
  readonly elapsed_seconds: number | null;
  /** The last round that was started, 0 before the first; null when there are no rounds to know of. */
  readonly round: number | null;
  readonly limits: Limits | null;
  readonly cost: ResultCost | null;
  readonly agents: readonly StatusAgent[];
  /** The latest vote of each agent that has voted. */
  readonly ballots: readonly StatusBallot[];
  /** Valid votes by agent; agents without are absent. */
  readonly tally: Readonly<Record<AgentId, number>>;
  /** How many valid votes make a consensus: more than half of the agents that are not out. */
  readonly votes_needed: number;
  readonly decision: Verdict | null;
  /** Where the vote stands, in a sentence. */
  readonly consensus: string;
  /** What the columns of `timeline` are: rounds with a barrier after each; or, where rounds are not known, each agent's own steps. */
  readonly columns: "rounds" | "steps";
  /** What every agent did in every round that it took part in, agent by agent. */
  readonly timeline: readonly TimelineMark[];
  readonly warnings: readonly string[];
  /** What cannot be told from what is there, a sentence each; empty for runs of mg-team. */
  readonly unknown: readonly string[];
}

export interface StatusAgent {
  readonly id: AgentId;
  /** `codex/gpt-5.4`; null when nobody says. */
  readonly model: string | null;
  readonly phase: AgentPhase;
  /** Of a tool its name, of a vote its target, of all that went wrong the reason; else empty. */
  readonly detail: string;
  /** Why its vote is stale or invalid; empty otherwise. */
  readonly why: string;
  /** Whether a step of it is under way. */
  readonly running: boolean;
  /** Round (or step) and attempt under way, or of the last; 0 before the first. */
  readonly round: number;
  readonly try: number;
  /** Seconds that this step has taken; null before the first, and where nobody counted. */
  readonly seconds: number | null;
  readonly cost: AgentCost | null;
  /** Its last words, while it works; empty without. */
  readonly words: string;
  /** Its current answer; null before the first. */
  readonly answer: AnswerPreview | null;
  readonly failure: { readonly class: FailureClass; readonly message: string; readonly log: string } | null;
}

export interface AnswerPreview {
  readonly step: number;
  /** Null where rounds are not known. */
  readonly round: number | null;
  readonly characters: number;
  /** How it begins, 600 characters at most. */
  readonly preview: string;
}

export interface StatusBallot {
  readonly voter: AgentId;
  readonly target: string;
  readonly step: number;
  readonly standing: Standing;
  /** Why it is stale or invalid; empty while valid. */
  readonly why: string;
  readonly self: boolean;
  /** The voter's own words. */
  readonly reason: string;
}

export interface TimelineMark {
  readonly agent: AgentId;
  /** Round, or step where `columns` says so; 1 or more. */
  readonly column: number;
  /** How many attempts it took, 1 or more; the rest is about the last one. */
  readonly tries: number;
  readonly action: "new_answer" | "vote" | "failed" | "skipped" | "stopped" | "running";
  /** Number of the step directory; null when there is none. */
  readonly step: number | null;
  /** Whom a vote is for. */
  readonly target: string | null;
  /** Of a vote, as it stands now; null for everything else. */
  readonly standing: Standing | null;
  /** Why it failed; null for everything else. */
  readonly class: FailureClass | null;
}
