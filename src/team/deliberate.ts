import { decideByAttrition, decideByExhaustion, decideByMajority, force, markBallots, mustAct, tallyOf } from "../consensus.ts";
import { Stage, type TeamHooks } from "../plugin/hooks.ts";
import { deliberationOf } from "../session/state.ts";
import type { AgentId, Deliberation, StopRequest, Verdict } from "../types.ts";
import { within } from "./hurry.ts";
import type { Run } from "./run.ts";

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
  const { round, agents, verdict } = deliberation;
  const ballots = agents.flatMap(({ ballot }) => (ballot ? [ballot] : []));
  run.emit({ type: "ballots", round, ballots, tally: Object.fromEntries(tallyOf(agents)) });
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

/** Seconds that plugins have for a decision once a signal wants the result at once (reliability.md: hosts give 7.5-10 s). */
const hurriedSeconds = 2;

async function askPlugins(run: Run): Promise<Deliberation> {
  const fresh = () => deliberationOf(run.state, run.settings.limits.maxRounds, stopOf(run));
  const deliberation = fresh();
  try {
    const asked = run.hooks.onConsensus.promise(deliberation);
    const answer = run.stopper.interrupted ? await within(hurriedSeconds, asked) : await asked;
    const settled = answer ?? deliberation;
    if (settled.verdict) settled.verdict = checked(named(settled.verdict, settled), settled);
    return settled;
  } catch (error) {
    run.pluginFailed(error);
    return decideWithoutPlugins(fresh());
  }
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
  return { reason: "agents_failed", message: `${run.poison} is not readable as UTF-8 text and would fail every other agent` };
}

/** A forced verdict without a winner asks for the forced rule. */
function named(verdict: Verdict, deliberation: Deliberation): Verdict {
  if (verdict.kind !== "forced" || verdict.winner !== null) return verdict;
  return force(deliberation, verdict.reason, verdict.rule.replace(/[.\s]+$/, ""));
}

function checked(verdict: Verdict, deliberation: Deliberation): Verdict {
  if (verdict.kind === "none" || (verdict.winner !== null && deliberation.current[verdict.winner])) return verdict;
  throw new Error(`a plugin decided for ${verdict.winner ?? "nobody"}, which has no answer`);
}
