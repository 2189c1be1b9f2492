import { decideByAttrition, decideByExhaustion, decideByMajority, force, markBallots, mustAct, tallyOf } from "../consensus.ts";
import { Stage, type TeamHooks } from "../plugin/hooks.ts";
import type { BallotStanding } from "../session/events.ts";
import { deliberationOf } from "../session/state.ts";
import type { AgentId, Deliberation, StopRequest, Verdict } from "../types.ts";
import { withPatience } from "./patience.ts";
import type { Run } from "./run.ts";
import { stopAfterLastCall } from "./stop.ts";

/** Who acts next, or how the run ends. */
export interface Outcome {
  readonly verdict: Verdict | null;
  /** Live agents without a valid ballot. */
  readonly next: readonly AgentId[];
}

/** The host's own rules, between those of the plugins: who is left comes before votes, exhaustion after every plugin's limit. */
export function tapCoreRules(hooks: TeamHooks): void {
  hooks.onConsensus.tap({ name: "mg-team", stage: (Stage.mark + Stage.decide) / 2 }, (deliberation) => {
    deliberation.verdict ??= decideByAttrition(deliberation);
  });
  hooks.onConsensus.tap({ name: "mg-team", stage: (Stage.limit + Stage.overrule) / 2 }, (deliberation) => {
    deliberation.verdict ??= decideByExhaustion(deliberation);
    if (deliberation.verdict) deliberation.verdict = named(deliberation.verdict, deliberation);
  });
}

/** At each barrier and each stop: has the ballots marked, asks whether the run is decided, and journals both (core loop 4). */
export async function deliberate(run: Run): Promise<Outcome> {
  const deliberation = await askPlugins(run);
  const { round, verdict } = deliberation;
  journalBallots(run, deliberation);
  if (verdict) {
    const { reason } = verdict;
    const told = deliberation.stop?.reason === reason;
    if (!told && (reason === "timeout" || reason === "cost_budget" || reason === "max_rounds")) {
      run.emit({ type: "limit.reached", reason, message: verdict.rule });
    }
    run.emit({ type: "decision", round, decision: verdict });
  }
  return { verdict, next: mustAct(deliberation).map(({ id }) => id) };
}

// --- internal ---

/** How many ballots one event holds: with a sentence each they stay well below the 8 KiB of a line. */
const ballotsOfEvent = 15;

function journalBallots(run: Run, { round, agents }: Deliberation): void {
  const tally = Object.fromEntries(tallyOf(agents));
  const ballots = agents.flatMap(({ ballot }): BallotStanding[] => {
    if (!ballot) return [];
    const { voter, target, step, self, standing, why } = ballot;
    return [{ voter, target, step, round: ballot.round, self, standing, why }];
  });
  for (let first = 0; first === 0 || first < ballots.length; first += ballotsOfEvent) {
    const more = first + ballotsOfEvent < ballots.length;
    run.emit({ type: "ballots", round, ballots: ballots.slice(first, first + ballotsOfEvent), tally, ...(more ? { more } : {}) });
  }
}

async function askPlugins(run: Run): Promise<Deliberation> {
  const fresh = () => deliberationOf(run.state, run.settings.limits.maxRounds, stopOf(run));
  const deliberation = fresh();
  // Of the same moment: a step that a signal left running may end while plugins think, and its vote is not the one that they marked.
  const own = fresh();
  try {
    const answer = await withPatience(run, "onConsensus", run.hooks.onConsensus.promise(deliberation));
    // Asked for while a step of a plugin ran.
    stopAfterLastCall(run);
    return settle({ ...own, stop: stopOf(run) }, answer ?? deliberation);
  } catch (error) {
    run.pluginFailed(error, "onConsensus");
    return decideWithoutPlugins(fresh());
  }
}

/** Of what plugins return only what they may set counts: the standing of ballots, and the verdict. A run always goes on or ends. */
function settle(own: Deliberation, returned: Deliberation): Deliberation {
  for (const { id, ballot } of own.agents) {
    const marked = returned.agents.find((agent) => agent.id === id)?.ballot;
    if (ballot && marked) Object.assign(ballot, { standing: marked.standing, why: marked.why });
  }
  // A plugin that took a verdict back cannot take back a stop, or rounds that are used up.
  own.verdict = returned.verdict ?? decideByExhaustion(own);
  if (!own.verdict && mustAct(own).length === 0) own.verdict = force(own, "plugin", "Nobody has to act, and no plugin decided");
  if (own.verdict) own.verdict = named(own.verdict, own);
  return own;
}

/** The contract's rules alone, after a plugin has failed: the stop that this caused is in the deliberation. */
function decideWithoutPlugins(deliberation: Deliberation): Deliberation {
  markBallots(deliberation);
  deliberation.verdict = decideByAttrition(deliberation) ?? decideByMajority(deliberation) ?? decideByExhaustion(deliberation);
  return deliberation;
}

function stopOf(run: Run): StopRequest | null {
  if (run.stopper.request) return run.stopper.request;
  if (!run.poison) return null;
  return {
    reason: "agents_failed",
    message: `${run.poison} is damaged so that it would fail every other agent (bytes that are not UTF-8, or no JSON object)`,
  };
}

/** A forced verdict without a winner asks for the forced rule. */
function named(verdict: Verdict, deliberation: Deliberation): Verdict {
  if (verdict.kind !== "forced" || verdict.winner !== null) return verdict;
  return force(deliberation, verdict.reason, verdict.rule.replace(/[.\s]+$/, ""));
}
