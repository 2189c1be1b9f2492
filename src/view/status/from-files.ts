import { markBallots } from "../../consensus.ts";
import { listAgents, readAgentSteps, type StepFile } from "../../session/steps.ts";
import type { AgentId, AgentStanding, AnswerSteps, Ballot, Deliberation } from "../../types.ts";
import { previewOf } from "./answers.ts";
import { consensusSentence } from "./sentence.ts";
import type { StatusAgent, StatusBallot, TeamStatus, TimelineMark } from "./shape.ts";

/** What a caller knows of a session directory that mg-team has no journal of. */
export interface FilesInput {
  /** The step-mode session directory: the one with `agents/` in it. */
  readonly sessionDir: string;
  /** What to call it; the team directory where it belongs to one. */
  readonly directory: string;
  readonly sessionId: string | null;
  readonly query: string | null;
  readonly models: Readonly<Record<AgentId, string>>;
}

/** The status of any step-mode session directory, from what the agents left there. Nothing in it is trusted; it may change meanwhile. */
export function statusFromFiles({ sessionDir, directory, sessionId, query, models }: FilesInput): TeamStatus {
  // agent_b comes before agent_aa.
  const ids = [...new Set([...Object.keys(models), ...listAgents(sessionDir)])].sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
  const steps = new Map(ids.map((id) => [id, readAgentSteps(sessionDir, id)] as const));
  const deliberation = deliberationOf(steps);
  markBallots(deliberation);
  const ballots = deliberation.agents.flatMap(({ ballot }) => (ballot ? [ballot] : []));
  const tally: Record<AgentId, number> = {};
  for (const { target, standing } of ballots) if (standing === "valid") tally[target] = (tally[target] ?? 0) + 1;
  return {
    version: 1,
    session_id: sessionId,
    directory,
    source: "files",
    state: "unknown",
    query,
    started_at: null,
    elapsed_seconds: null,
    round: null,
    limits: null,
    cost: null,
    agents: deliberation.agents.map((standing) => agentOf(standing, steps.get(standing.id) ?? [], models[standing.id] ?? null, sessionDir)),
    ballots: ballots.map(publicBallot),
    tally,
    votes_needed: Math.floor(ids.length / 2) + 1,
    decision: null,
    consensus: ids.length === 0 ? "no agent has taken a step yet" : consensusSentence(deliberation, null),
    columns: "steps",
    timeline: deliberation.agents.flatMap((standing) => (steps.get(standing.id) ?? []).map((step) => markOf(standing, step))),
    warnings: [],
    unknown: unknownOf(models, ids),
  };
}

// --- internal ---

function deliberationOf(steps: ReadonlyMap<AgentId, readonly StepFile[]>): Deliberation {
  const agents = [...steps].map(([id, files]) => ({
    id,
    live: true,
    rounds: files.length,
    answers: files.filter(({ kind }) => kind === "new_answer").map(({ step }) => ({ agent: id, step, round: step, at: 0 })),
    vote: files.findLast((file) => file.kind === "vote"),
  }));
  const current = Object.fromEntries(agents.flatMap(({ id, answers }) => answers.slice(-1).map(({ step }) => [id, step])));
  const standings = agents.map(
    ({ vote, ...agent }): AgentStanding => ({ ...agent, ballot: vote ? ballotOf(agent.id, vote, current) : null }),
  );
  return { round: 0, agents: standings, current, maxRounds: Number.POSITIVE_INFINITY, launched: 0, stop: null, verdict: null };
}

/** Only the launcher knows what existed when a voter started (massgen.md, "Two faults in its voting"); what the vote claims to have seen must do. */
function ballotOf(voter: AgentId, vote: StepFile & { readonly kind: "vote" }, current: AnswerSteps): Ballot {
  const { target, reason, seenSteps, step } = vote;
  const launchedWith = { answers: current, blank: [] };
  return { voter, target, step, round: step, reason, self: voter === target, launchedWith, seenSteps, standing: "valid", why: "" };
}

function agentOf({ id, ballot }: AgentStanding, files: readonly StepFile[], model: string | null, sessionDir: string): StatusAgent {
  const last = files.at(-1);
  const answer = files.findLast(({ kind }) => kind === "new_answer");
  return {
    id,
    model,
    ...phaseOf(last, ballot),
    running: false,
    round: last?.step ?? 0,
    try: 1,
    seconds: null,
    cost: null,
    words: "",
    answer: answer ? previewOf(sessionDir, id, answer.step, null) : null,
    failure: null,
  };
}

function phaseOf(last: StepFile | undefined, ballot: Ballot | null): Pick<StatusAgent, "phase" | "detail" | "why"> {
  switch (last?.kind) {
    case undefined:
      return { phase: "waiting", detail: "", why: "" };
    case "new_answer":
      return { phase: "answered", detail: "", why: "" };
    case "vote":
      return { phase: ballot?.standing === "valid" ? "voted" : (ballot?.standing ?? "voted"), detail: last.target, why: ballot?.why ?? "" };
    case "blank":
      return { phase: "failed", detail: "the answer is empty", why: "" };
    case "garbled":
      return { phase: "failed", detail: `the file ${last.why}`, why: "" };
    case "none":
      return { phase: "failed", detail: "the step has left nothing, or is about to", why: "" };
  }
}

function publicBallot({ voter, target, step, standing, why, self, reason }: Ballot): StatusBallot {
  return { voter, target, step, standing, why, self, reason };
}

function markOf({ id, ballot }: AgentStanding, file: StepFile): TimelineMark {
  const place = { agent: id, column: file.step, tries: 1, step: file.step, target: null, standing: null, class: null };
  switch (file.kind) {
    case "new_answer":
      return { ...place, action: "new_answer" };
    case "vote":
      // An earlier vote was replaced because it no longer held, or nobody would have asked again.
      return { ...place, action: "vote", target: file.target, standing: ballot?.step === file.step ? ballot.standing : "stale" };
    case "blank":
      return { ...place, action: "failed", class: "empty" };
    case "garbled":
      return { ...place, action: "failed", class: "garbled" };
    case "none":
      return { ...place, action: "failed", class: "no_action" };
  }
}

function unknownOf(models: Readonly<Record<AgentId, string>>, ids: readonly AgentId[]): string[] {
  const nameless = ids.some((id) => models[id] === undefined);
  return [
    "Rounds: each agent's own steps are shown instead, and those of one column need not belong together.",
    "Whether a step runs now, and what failed without leaving a file.",
    "Votes that were stale when they were cast: MassGen writes seen_steps after the vote, so a vote shown as valid may be stale.",
    nameless ? "Models, time and money." : "Time and money.",
  ];
}
