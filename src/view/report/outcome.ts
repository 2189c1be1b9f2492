import { repairedBallot } from "../../session/ballot-repair.ts";
import type { EngineInfo } from "../../session/events.ts";
import { type RunResult, resultLimits } from "../../session/result.ts";
import type { RunState } from "../../session/state.ts";
import { totalCost } from "../../session/totals.ts";
import type { Limits, Verdict } from "../../types.ts";
import type { ReportSource } from "./source.ts";

/** The result of a run, or for one that has none what its journal knows of it so far. Pure. */
export function outcomeOf({ result, state, directory, query }: ReportSource): RunResult {
  const verdict = state.decision ?? undecided;
  return (
    result ?? {
      version: 1,
      session_id: state.sessionId || directory.id,
      session_dir: directory.root,
      query,
      started_at: state.startedAt,
      duration_seconds: state.elapsed,
      exit_code: 0,
      answer: null,
      decision: { ...verdict, ...votesOf(state), winner_model: modelOf(state, verdict.winner) },
      rounds: state.round,
      limits: resultLimits(state.limits ?? noLimits, null),
      cost: totalCost(state),
      agents: state.agents.map(({ agent, live, failure }) => ({
        id: agent.id,
        model: agent.model,
        status: live ? "live" : "out",
        steps: [],
        failure,
      })),
      synthesis: { kind: "none", path: null, deliverable: null, winner: null, why_not_agent: null },
      checks: [],
      engine: engineOf(state),
      warnings: state.warnings,
      plugins: {},
    }
  );
}

// --- internal ---

const undecided: Verdict = { kind: "none", reason: "interrupted", winner: null, rule: "" };

const noLimits: Limits = {
  maxRounds: 0,
  timeoutSeconds: 0,
  costBudget: null,
  stepTimeoutSeconds: null,
  retries: 0,
  maxParallel: null,
  allowUnpriced: false,
};

function engineOf({ engine, ballotRepairs }: RunState): EngineInfo {
  if (engine === null) return { name: "massgen", version: "unknown", ballot_fix: "off" };
  return { ...engine, ballot_fix: repairedBallot(engine.ballot_fix, ballotRepairs) };
}

function votesOf(state: RunState): Pick<RunResult["decision"], "tally" | "ballots"> {
  const ballots = state.agents.flatMap(({ ballot }) => (ballot ? [ballot] : []));
  const tally: Record<string, number> = {};
  for (const { target, standing } of ballots) if (standing === "valid") tally[target] = (tally[target] ?? 0) + 1;
  return { tally, ballots };
}

function modelOf(state: RunState, id: string | null): string | null {
  return state.agents.find(({ agent }) => agent.id === id)?.agent.model ?? null;
}
