import type { TeamEvent } from "../session/events.ts";
import { type AgentState, type RunState, type StepRecord, stepKey } from "../session/state.ts";
import type { Agent, AgentId, FailureClass, Standing } from "../types.ts";

/** Who did what in which round, for swimlanes of every kind. Pure. */
export interface Timeline {
  /** 0 before the first. */
  readonly rounds: number;
  /** In the order of the team. */
  readonly lanes: readonly Lane[];
}

export interface Lane {
  readonly agent: Agent;
  readonly live: boolean;
  /** One for each round, the first round at 0; null where the agent was not asked. */
  readonly cells: readonly (Cell | null)[];
}

/** What became of an agent's round: its last try counts. */
export interface Cell {
  readonly round: number;
  readonly outcome: CellOutcome;
  /** Number of the step directory; null when there is none. */
  readonly step: number | null;
  /** Of an answer: which one it is of its agent, 1 or more. Else null. */
  readonly answer: number | null;
  readonly vote: CellVote | null;
  readonly failure: { readonly class: FailureClass; readonly message: string } | null;
  /** Who skipped the launch, and why; null unless it was skipped. */
  readonly skip: { readonly by: string; readonly reason: string } | null;
  /** How many attempts ended before this one. */
  readonly earlierTries: number;
  /** Seconds of all attempts together; null while nothing has ended. */
  readonly seconds: number | null;
  /** What plugins noted on the action. */
  readonly notes: readonly string[];
}

/** `stopped`: by us, before it acted. `unfinished`: started, and its end is not known (yet). */
export type CellOutcome = "answer" | "vote" | "failed" | "skipped" | "stopped" | "unfinished";

export interface CellVote {
  /** May name nobody. */
  readonly target: string;
  /** The voter's own words. */
  readonly reason: string;
  /** As it stood at the last barrier at which it was its voter's ballot; null before the first. */
  readonly standing: Standing | null;
  /** Why it is stale or invalid; empty otherwise. */
  readonly why: string;
  /** The step of the target's answer that existed when the voter started; null without. */
  readonly targetStep: number | null;
}

/** @param events the journal that `state` was folded from: it also knows how earlier votes stood */
export function timelineOf(state: RunState, events: readonly TeamEvent[]): Timeline {
  const standings = standingsOf(events);
  const started = Map.groupBy(state.startedSteps.values(), (step) => placeOf(step.agent, step.round));
  const lanes = state.agents.map((agent): Lane => {
    const records = Map.groupBy(
      agent.steps.filter(({ kind }) => kind === "round" || kind === "retry"),
      ({ action }) => action.round,
    );
    const cells = Array.from({ length: state.round }, (_, index) => {
      const round = index + 1;
      const steps = started.get(placeOf(agent.agent.id, round)) ?? [];
      const running = steps.some((step) => !state.costs.get(stepKey(step))?.finished);
      return cellOf(agent, round, records.get(round) ?? [], running, standings);
    });
    return { agent: agent.agent, live: agent.live, cells };
  });
  return { rounds: state.round, lanes };
}

/** The agent's letter or letters, as a sign that fits everywhere: `A` of `agent_a`, `AA` of `agent_aa`; of other ids the first two characters. */
export function signOf(id: AgentId): string {
  const [, letters] = /^agent_([a-z]{1,2})$/.exec(id) ?? [];
  return letters === undefined ? [...id].slice(0, 2).join("") : letters.toUpperCase();
}

// --- internal ---

type Standings = ReadonlyMap<string, { readonly standing: Standing; readonly why: string }>;

function standingsOf(events: readonly TeamEvent[]): Standings {
  const standings = new Map<string, { readonly standing: Standing; readonly why: string }>();
  for (const event of events) {
    if (event.type !== "ballots") continue;
    for (const { voter, step, standing, why } of event.ballots) standings.set(placeOf(voter, step), { standing, why });
  }
  return standings;
}

function placeOf(agent: AgentId, number: number): string {
  return `${agent}/${number}`;
}

function cellOf(agent: AgentState, round: number, records: readonly StepRecord[], running: boolean, standings: Standings): Cell | null {
  const last = records.findLast(({ interrupted }) => !interrupted) ?? records.at(-1);
  if (!last && !running) return null;
  const earlierTries = Math.max(0, records.length - (running ? 0 : 1));
  const seconds = records.length === 0 ? null : records.reduce((sum, { action }) => sum + action.seconds, 0);
  const empty = { round, step: null, answer: null, vote: null, failure: null, skip: null, earlierTries, seconds, notes: [] };
  if (running || !last) return { ...empty, outcome: "unfinished" };
  return { ...empty, notes: last.action.notes ?? [], ...outcomeOf(agent, last, standings) };
}

function outcomeOf(
  { agent, answers }: AgentState,
  { action, interrupted }: StepRecord,
  standings: Standings,
): Partial<Cell> & Pick<Cell, "outcome"> {
  switch (action.kind) {
    case "new_answer": {
      const index = answers.findIndex(({ step }) => step === action.step);
      return { outcome: "answer", step: action.step, answer: index + 1 || null };
    }
    case "vote": {
      const { target, reason, step, launchedWith } = action;
      const { standing = null, why = "" } = standings.get(placeOf(agent.id, step)) ?? {};
      return { outcome: "vote", step, vote: { target, reason, standing, why, targetStep: launchedWith.answers[target] ?? null } };
    }
    case "skipped":
      return { outcome: "skipped", skip: { by: action.by, reason: action.reason } };
    case "failed":
      return interrupted ? { outcome: "stopped" } : { outcome: "failed", failure: { class: action.class, message: action.message } };
  }
}
