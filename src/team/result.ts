import { ExitCode } from "../errors.ts";
import { repairedBallot } from "../session/ballot-repair.ts";
import {
  type ResultAgent,
  type ResultBallot,
  type ResultDecision,
  type ResultLimits,
  type ResultStep,
  type RunResult,
  resultLimits,
} from "../session/result.ts";
import { type AgentState, findAgent, type StepRecord } from "../session/state.ts";
import { totalCost } from "../session/totals.ts";
import type { Verdict } from "../types.ts";
import type { Run } from "./run.ts";

/** The result of a decided run, before synthesis. */
export function buildResult(run: Run, verdict: Verdict, answer: string | null): RunResult {
  const { state, settings, directory } = run;
  return {
    version: 1,
    session_id: state.sessionId,
    session_dir: directory.root,
    query: settings.query,
    started_at: state.startedAt,
    duration_seconds: seconds(run.elapsed()),
    exit_code: exitCodeOf(run, verdict),
    answer,
    decision: decisionOf(run, verdict),
    rounds: state.round,
    limits: limitsOf(run, verdict),
    cost: totalCost(state),
    agents: state.agents.map(agentOf),
    synthesis: { kind: "none", path: null, deliverable: null, winner: null, why_not_agent: null },
    checks: [],
    engine: { ...run.engine.info, ballot_fix: repairedBallot(run.engine.info.ballot_fix, state.ballotRepairs) },
    warnings: [...state.warnings],
    plugins: {},
  };
}

/** Brings what changes after the decision up to date: steps, money and time of the synthesis, the exit code. */
export function refreshResult(run: Run, result: RunResult, verdict: Verdict): void {
  result.duration_seconds = seconds(run.elapsed());
  result.cost = totalCost(run.state);
  result.agents = run.state.agents.map(agentOf);
  result.exit_code = exitCodeOf(run, verdict);
  for (const warning of run.state.warnings) if (!result.warnings.includes(warning)) result.warnings.push(warning);
}

/** The exit code that a decided run deserves (design.md, "Exit codes"). */
export function exitCodeOf(run: Run, verdict: Verdict): ExitCode {
  if (run.writeError) return ExitCode.write;
  if (run.signal) return run.signal.exitCode;
  const stopped = run.stoppedByPlugin || verdict.reason === "plugin";
  if (run.pluginBroke || (stopped && verdict.kind !== "consensus")) return ExitCode.plugin;
  if (verdict.kind === "none") return ExitCode.noAnswer;
  return run.strict && verdict.kind !== "consensus" ? ExitCode.noConsensus : ExitCode.ok;
}

// --- internal ---

function decisionOf(run: Run, verdict: Verdict): ResultDecision {
  const ballots = run.state.agents.flatMap(({ agent }): ResultBallot[] => {
    const ballot = run.state.standings.get(agent.id);
    if (!ballot) return [];
    const { voter, target, step, round, standing, why, self, reason } = ballot;
    return [{ voter, target, step, round, standing, why, self, reason }];
  });
  const tally: Record<string, number> = {};
  for (const { target, standing } of ballots) if (standing === "valid") tally[target] = (tally[target] ?? 0) + 1;
  const winner = verdict.winner ? findAgent(run.state, verdict.winner) : undefined;
  return {
    kind: verdict.kind,
    reason: verdict.reason,
    rule: verdict.rule,
    winner: verdict.winner,
    winner_model: winner?.agent.model ?? null,
    tally,
    ballots,
  };
}

function limitsOf(run: Run, { kind, reason }: Verdict): ResultLimits {
  const isLimit = kind !== "consensus" && (reason === "max_rounds" || reason === "timeout" || reason === "cost_budget");
  return resultLimits(run.settings.limits, isLimit ? reason : null);
}

function agentOf({ agent, live, failure, steps }: AgentState): ResultAgent {
  return { id: agent.id, model: agent.model, status: live ? "live" : "out", steps: steps.map(stepOf), failure };
}

function stepOf({ action, interrupted }: StepRecord): ResultStep {
  return {
    step: action.kind === "new_answer" || action.kind === "vote" ? action.step : null,
    round: action.round,
    try: action.try,
    action: interrupted ? "interrupted" : action.kind,
    class: action.kind === "failed" && !interrupted ? action.class : null,
    vote_target: action.kind === "vote" ? action.target : null,
    seconds: seconds(action.seconds),
    usd: action.cost.usd,
    launched_with: action.launchedWith.answers,
  };
}

function seconds(value: number): number {
  return Math.round(value * 1000) / 1000;
}
