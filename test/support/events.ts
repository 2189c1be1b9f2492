import type { EventBody, TeamEvent } from "../../src/session/events.ts";
import { applyEvent, emptyState, type RunState } from "../../src/session/state.ts";
import type { Action, AgentId, Snapshot, StepCost } from "../../src/types.ts";
import { unknownCost } from "../../src/types.ts";
import { agent, noLimits } from "./team.ts";

/** Folds bodies as the journal would: numbered, a second apart. */
export function fold(bodies: readonly EventBody[], state: RunState = emptyState()): RunState {
  for (const body of bodies) applyEvent(state, envelope(body, state.seq + 1));
  return state;
}

export function envelope(body: EventBody, seq: number): TeamEvent {
  return { ...body, v: 1, seq, ts: "2026-11-29T18:15:00.000Z", elapsed: seq };
}

/** `started("abc")`: a run with agent_a, agent_b and agent_c. */
export function started(letters: string): EventBody {
  return {
    type: "run.started",
    session_id: "team_20261129_181500",
    directory: "/nowhere",
    agents: [...letters].map((letter) => agent(letter, `codex/model-${letter}`)),
    limits: noLimits,
    engine: { name: "massgen", version: "0.1.97", ballot_fix: "on" },
    mg_team: "0.1.0",
  };
}

export function resumed(elapsed = 0): EventBody {
  return { type: "run.resumed", elapsed_seconds: elapsed, limits: noLimits };
}

export function roundStarted(round: number, letters: string): EventBody {
  return { type: "round.started", round, agents: [...letters].map((letter) => `agent_${letter}`) };
}

interface Where {
  readonly round?: number;
  readonly try?: number;
  readonly kind?: "round" | "retry" | "synthesis" | "plugin";
}

export function stepStarted(letter: string, where: Where = {}): EventBody {
  const { round = 1, try: attempt = 1, kind = "round" } = where;
  const agent = `agent_${letter}`;
  return {
    type: "step.started",
    kind,
    agent,
    round,
    try: attempt,
    pid: 42,
    launched_with: nothing,
    after: 0,
    run_dir: `runs/${agent}/r${round}`,
  };
}

export function stepCost(letter: string, cost: Partial<StepCost>, where: Where = {}): EventBody {
  const { round = 1, try: attempt = 1 } = where;
  return { type: "step.cost", agent: `agent_${letter}`, round, try: attempt, cost: { ...unknownCost, ...cost } };
}

interface Finish extends Where {
  readonly at?: number;
  readonly cost?: Partial<StepCost>;
  readonly launchedWith?: Snapshot;
  readonly retry?: boolean;
  readonly interrupted?: boolean;
}

/** What a step did: an answer or a vote with the number of its directory, a failure, or a skip. */
type Deed =
  | { readonly answer: number }
  | { readonly vote: string; readonly step: number; readonly seen?: Readonly<Record<AgentId, number>> | null }
  | { readonly failed: (Action & { readonly kind: "failed" })["class"] }
  | { readonly skipped: string };

export function stepFinished(letter: string, deed: Deed, finish: Finish = {}): EventBody {
  const { round = 1, try: attempt = 1, kind = "round", at = 100, retry = false, interrupted = false } = finish;
  const base = {
    agent: `agent_${letter}`,
    round,
    try: attempt,
    launchedWith: finish.launchedWith ?? nothing,
    seconds: 30,
    cost: { ...unknownCost, ...finish.cost },
    at,
  };
  return { type: "step.finished", kind, action: actionOf(base, deed), retry, interrupted };
}

// --- internal ---

const nothing: Snapshot = { answers: {}, blank: [] };

function actionOf(base: Omit<Action & { readonly kind: "new_answer" }, "kind" | "step">, deed: Deed): Action {
  if ("answer" in deed) return { ...base, kind: "new_answer", step: deed.answer };
  if ("vote" in deed) return { ...base, kind: "vote", step: deed.step, target: deed.vote, reason: "good", seenSteps: deed.seen ?? null };
  if ("failed" in deed) return { ...base, kind: "failed", class: deed.failed, message: "it broke", log: "runs/stderr.log" };
  return { ...base, kind: "skipped", reason: deed.skipped, by: "tester" };
}
