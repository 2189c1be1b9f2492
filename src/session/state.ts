import {
  type Action,
  type Agent,
  type AgentId,
  type AgentStanding,
  type Answer,
  type AnswerSteps,
  type Ballot,
  type BallotRepair,
  type Deliberation,
  type FailureClass,
  type Limits,
  type StepCost,
  type StopRequest,
  unknownCost,
  type Verdict,
} from "../types.ts";
import type { EngineInfo, TeamEvent } from "./events.ts";

/** The run as its journal tells it. Folding the events gives the same state live and on resume; nothing else is remembered. */
export interface RunState {
  sessionId: string;
  startedAt: string;
  agents: AgentState[];
  limits: Limits | null;
  engine: EngineInfo | null;
  /** The last round that was started; 0 before the first. */
  round: number;
  /** Whether that round reached its barrier; a stop ends the run but not the round, which a resume takes up again. */
  roundEnded: boolean;
  /** Whether this process was asked to stop. */
  stopped: boolean;
  /** The agents that this round was started for. */
  roundAgents: readonly AgentId[];
  /** How many steps that round launched. */
  launched: number;
  /** What every step has spent, by {@link stepKey}; running steps included. */
  readonly costs: Map<string, { readonly agent: AgentId; readonly cost: StepCost; readonly finished: boolean }>;
  /** Every step that was started, by {@link stepKey}. */
  readonly startedSteps: Map<string, StartedStep>;
  /** What steps showed of the ballot repair. */
  readonly ballotRepairs: Set<BallotRepair>;
  readonly warnings: string[];
  decision: Verdict | null;
  /** What the document of that decision was made by, once it is written. */
  synthesis: "agent" | "markdown" | "none" | null;
  /** The ballots as the last barrier or stop found them, by voter: a step that a signal left running may have voted since. */
  readonly standings: Map<AgentId, Ballot>;
  finished: boolean;
  /** Seconds that mg-team had worked when the last event was written. */
  elapsed: number;
  seq: number;
}

export interface AgentState {
  readonly agent: Agent;
  live: boolean;
  /** Why its last step brought no action; null when that did, or was stopped by us. */
  failure: { readonly class: FailureClass; readonly message: string; readonly log: string } | null;
  /** Steps that used up a round. */
  rounds: number;
  readonly answers: Answer[];
  ballot: Ballot | null;
  readonly steps: StepRecord[];
}

export interface StepRecord {
  readonly kind: StepKind;
  readonly action: Action;
  readonly interrupted: boolean;
}

export type StartedStep = TeamEvent & { readonly type: "step.started" };

export type StepKind = "round" | "retry" | "synthesis" | "plugin";

export function emptyState(): RunState {
  return {
    sessionId: "",
    startedAt: "",
    agents: [],
    limits: null,
    engine: null,
    round: 0,
    roundEnded: true,
    stopped: false,
    roundAgents: [],
    launched: 0,
    costs: new Map(),
    startedSteps: new Map(),
    ballotRepairs: new Set(),
    warnings: [],
    decision: null,
    synthesis: null,
    standings: new Map(),
    finished: false,
    elapsed: 0,
    seq: 0,
  };
}

/** Applies one event. Unknown event types are ignored, so that older programs can read newer journals. */
export function applyEvent(state: RunState, event: TeamEvent): void {
  state.elapsed = Math.max(state.elapsed, event.elapsed);
  state.seq = event.seq;
  switch (event.type) {
    case "run.started":
      state.sessionId = event.session_id;
      state.startedAt = event.ts;
      state.limits = event.limits;
      state.engine = event.engine;
      state.agents = event.agents.map(newAgent);
      break;
    case "run.resumed":
      state.limits = event.limits;
      if (!event.decided) Object.assign(state, { decision: null, synthesis: null });
      state.finished = false;
      state.stopped = false;
      giveUpLostSteps(state);
      break;
    case "preflight.warning":
      state.warnings.push(event.message);
      break;
    case "plugin.error":
      state.warnings.push(`plugin ${event.plugin}, ${event.hook}: ${event.message}`);
      break;
    case "round.started":
      // A resumed round is started again under the same number, for the agents that had not acted yet.
      if (event.round > state.round) state.launched = 0;
      state.round = event.round;
      state.roundEnded = false;
      state.roundAgents = event.agents;
      break;
    case "step.started":
      state.startedSteps.set(stepKey(event), event);
      if (event.kind === "round") state.launched++;
      break;
    case "step.cost":
      if (!state.costs.get(stepKey(event))?.finished) {
        state.costs.set(stepKey(event), { agent: event.agent, cost: event.cost, finished: false });
      }
      break;
    case "step.finished":
      finishStep(state, event);
      break;
    case "stop":
      state.stopped = true;
      break;
    case "ballots":
      state.roundEnded ||= !state.stopped && !event.more;
      for (const { voter, step, standing, why } of event.ballots) {
        const agent = findAgent(state, voter);
        if (agent?.ballot?.step === step) Object.assign(agent.ballot, { standing, why });
        for (const { action, kind, interrupted } of agent?.steps ?? []) {
          // Steps of plugins count from 1 in sessions of their own.
          if (interrupted || !isInTeam(kind)) continue;
          if (action.kind === "vote" && action.step === step) state.standings.set(voter, { ...ballotOf(action), standing, why });
        }
      }
      break;
    case "decision":
      state.decision = event.decision;
      break;
    case "synthesis.finished":
      state.synthesis = event.kind;
      break;
    case "run.finished":
      state.finished = true;
      // Another one where the winner's answer had gone.
      state.decision = event.decision;
      break;
  }
}

/** What a decision may rest on, for `onConsensus`. Ballots are copies: marking them changes no state. */
export function deliberationOf(state: RunState, maxRounds: number, stop: StopRequest | null): Deliberation {
  const agents = state.agents.map(
    ({ agent, live, rounds, answers, ballot }): AgentStanding => ({
      id: agent.id,
      live,
      rounds,
      answers: [...answers],
      ballot: ballot ? { ...ballot } : null,
    }),
  );
  return { round: state.round, agents, current: currentSteps(state), maxRounds, launched: state.launched, stop, verdict: null };
}

/** Step number of each agent's current answer. */
export function currentSteps(state: RunState): AnswerSteps {
  return Object.fromEntries(state.agents.flatMap(({ agent, answers }) => answers.slice(-1).map((answer) => [agent.id, answer.step])));
}

/** Steps that were started and whose end is not in the journal: this process has them running, or an earlier one lost them. */
export function unfinishedSteps(state: RunState): readonly StartedStep[] {
  return [...state.startedSteps].flatMap(([key, step]) => (state.costs.get(key)?.finished ? [] : [step]));
}

export function findAgent(state: RunState, id: AgentId): AgentState | undefined {
  return state.agents.find(({ agent }) => agent.id === id);
}

/** A step of the team's own rounds; others are of plugins, in sessions of their own. */
export function isInTeam(kind: StepKind): boolean {
  return kind === "round" || kind === "retry";
}

/** One step of a run: its money counts once under this key. */
export function stepKey(step: { readonly agent: AgentId; readonly round: number; readonly try: number }): string {
  return `${step.agent}/${step.round}/${step.try}`;
}

// --- internal ---

function newAgent({ id, model }: Pick<Agent, "id" | "model">): AgentState {
  const [, engine, backend = "", modelName = ""] = /^(?:(native|massgen):)?([^/]*)\/?(.*)$/s.exec(model) ?? [];
  const agent: Agent = { id, model, backend, modelName, ...(engine === undefined ? {} : { engine: engine as Agent["engine"] }) };
  return { agent, live: true, failure: null, rounds: 0, answers: [], ballot: null, steps: [] };
}

function finishStep(state: RunState, event: TeamEvent & { readonly type: "step.finished" }): void {
  const { action, kind, interrupted, retry, ballot } = event;
  if (ballot) state.ballotRepairs.add(ballot);
  if (action.kind !== "skipped") finishCost(state, action);
  const agent = findAgent(state, action.agent);
  if (!agent) return;
  agent.steps.push({ kind, action, interrupted });
  if (interrupted || !isInTeam(kind)) return;
  // Of a try that another was to follow too: a limit may come in between.
  agent.failure = action.kind === "failed" ? { class: action.class, message: action.message, log: action.log } : null;
  if (retry) return;
  agent.rounds++;
  const { round, at } = action;
  switch (action.kind) {
    case "new_answer":
      agent.answers.push({ agent: action.agent, step: action.step, round, at });
      break;
    case "vote":
      agent.ballot = ballotOf(action);
      break;
    case "failed":
      agent.live = false;
      break;
  }
}

/** A report that says nothing does not undo what the step had reported while it ran. */
function finishCost(state: RunState, action: Action): void {
  const reported = state.costs.get(stepKey(action))?.cost;
  const { usd, inputTokens, outputTokens } = action.cost;
  const silent = usd === null && inputTokens === 0 && outputTokens === 0;
  state.costs.set(stepKey(action), { agent: action.agent, cost: silent && reported ? reported : action.cost, finished: true });
}

/** Steps that were under way when an earlier process ended, and had reported nothing yet, have spent nobody knows what. */
function giveUpLostSteps(state: RunState): void {
  for (const [key, { agent }] of state.startedSteps) {
    if (!state.costs.has(key)) state.costs.set(key, { agent, cost: unknownCost, finished: false });
  }
}

function ballotOf(vote: Action & { readonly kind: "vote" }): Ballot {
  const { agent, target, step, round, reason, launchedWith, seenSteps } = vote;
  return { voter: agent, target, step, round, reason, self: target === agent, launchedWith, seenSteps, standing: "valid", why: "" };
}
