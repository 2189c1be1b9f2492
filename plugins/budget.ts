import { type Action, type AgentId, definePlugin, force, Stage, type Team } from "mg-team";

/**
 * Keeps a run within `cost_budget` (design.md, "Money"): warns of a launch that would likely overshoot, refuses launches when nothing is left or
 * when a finished step has tokens but no price, those that wait for a place of `--max-parallel` too, and stops a round in progress once
 * the budget is exceeded.
 */
export default definePlugin({
  name: "budget",
  summary: "Keeps the run within --cost-budget",
  apply(team) {
    const { costBudget, allowUnpriced } = team.run.limits;
    if (costBudget === null) return;
    const stepCosts: number[] = [];
    let ahead = team.run.agents.length;
    let warnedRound = -1;
    /** Agents of the round in progress that have not been launched: they were asked about before the steps that run now were paid. */
    const waiting = new Set<AgentId>();
    const silent = new Set<AgentId>();
    const hasUnpriced = (id: AgentId) => (team.cost.by_agent[id]?.unpriced_tokens ?? 0) > 0;
    // Only finished steps: one that is under way may report its tokens before it reports their price.
    const unpriced = new Set(Object.keys(team.cost.by_agent).filter(hasUnpriced));
    const refusal = () => (allowUnpriced ? null : missingPrice(team, unpriced)) ?? spentAll(team, costBudget);

    // What runs is not over the budget, and will be paid whether it finishes or not.
    const refuse = (message: string | null) => {
      if (message) team.stop({ reason: "cost_budget", message }, { finishRunning: true });
    };

    team.hooks.onEvent.tap("budget", (event) => {
      if (event.type === "round.started") {
        ahead = event.agents.length;
        waiting.clear();
        for (const agent of event.agents) waiting.add(agent);
      }
      if (event.type === "step.started") waiting.delete(event.agent);
      if (event.type === "step.finished") {
        const { agent, cost } = event.action;
        waiting.delete(agent);
        if (cost.usd !== null) stepCosts.push(cost.usd);
        if (saysNothing(event.action) && !silent.has(agent)) {
          silent.add(agent);
          team.log.warn(`${agent} reports neither a cost nor tokens: the budget of ${exact(costBudget)} cannot count its steps`);
        }
        if (hasUnpriced(agent)) unpriced.add(agent);
        else unpriced.delete(agent);
      }
      if (event.type !== "step.finished" && event.type !== "step.cost") return;
      const spent = team.cost.total_usd ?? 0;
      if (spent > costBudget) {
        const message = `the budget of ${exact(costBudget)} is exceeded (${dollars(spent, costBudget)} spent)`;
        team.stop({ reason: "cost_budget", message });
      }
      if (event.type === "step.finished" && waiting.size > 0) refuse(refusal());
    });
    team.hooks.beforeLaunch.tap("budget", (request) => {
      const message = refusal();
      refuse(message);
      const spent = team.cost.total_usd ?? 0;
      const expected = mean(stepCosts) * (request.kind === "round" ? ahead : 1);
      if (!message && expected > 0 && spent + expected > costBudget && warnedRound !== request.round) {
        warnedRound = request.round;
        team.log.warn(
          `the next steps will likely exceed the budget of ${exact(costBudget)}: ${dollars(spent)} spent, about ${dollars(expected)} ahead`,
        );
      }
    });
    team.hooks.onConsensus.tap({ name: "budget", stage: Stage.limit }, (deliberation) => {
      const message = refusal();
      if (message && !deliberation.verdict && !deliberation.stop) {
        deliberation.verdict = force(deliberation, "cost_budget", capitalised(message));
      }
    });
  },
});

/** It has acted, so it has asked a model, and tells nothing of it: some programs with a login of their own do not. */
function saysNothing({ kind, cost }: Action): boolean {
  return (kind === "new_answer" || kind === "vote") && cost.usd === null && cost.inputTokens === 0 && cost.outputTokens === 0;
}

function spentAll(team: Team, budget: number): string | null {
  const spent = team.cost.total_usd ?? 0;
  return spent >= budget ? `the budget of ${exact(budget)} is used up (${dollars(spent, budget)} spent)` : null;
}

/** A step with tokens and no price: nobody can say what is left of the budget. */
function missingPrice(team: Team, unpriced: ReadonlySet<AgentId>): string | null {
  if (unpriced.size === 0) return null;
  const agent = team.run.agents.find(({ id }) => unpriced.has(id));
  if (!agent)
    return "the price of a model that a plugin ran is unknown, so the budget cannot be kept; add it to mg-team.yaml under prices:, or pass --allow-unpriced";
  return `the price of ${agent.modelName} is unknown, so the budget cannot be kept; add to mg-team.yaml  prices: { ${agent.modelName}: { input: USD, output: USD } }  (per million tokens), or pass --allow-unpriced`;
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** With cents; with more digits where cents would show nothing, or would hide that it is not `other`. */
function dollars(usd: number, other = usd): string {
  const enough = (digits: number) =>
    (usd === 0 || Number(usd.toFixed(digits)) !== 0) && (usd === other || Number(usd.toFixed(digits)) !== other);
  return `$${usd.toFixed([2, 4, 6].find(enough) ?? 8)}`;
}

/** What somebody typed, to the last digit: $0.005 is not $0.01. */
function exact(usd: number): string {
  return `$${usd.toFixed([2, 3, 4, 5, 6, 7].find((digits) => Number(usd.toFixed(digits)) === usd) ?? 8)}`;
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
