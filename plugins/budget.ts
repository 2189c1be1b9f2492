import { definePlugin, force, Stage, type Team } from "mg-team";

/**
 * Keeps a run within `cost_budget` (design.md, "Money"): warns of a launch that would likely overshoot, refuses launches when nothing is left or
 * when a finished step has tokens but no price, and stops a round in progress once the budget is exceeded.
 */
export default definePlugin({
  name: "budget",
  apply(team) {
    const { costBudget, allowUnpriced } = team.run.limits;
    if (costBudget === null) return;
    const stepCosts: number[] = [];
    let warnedRound = -1;
    const refusal = () => (allowUnpriced ? null : missingPrice(team)) ?? spentAll(team, costBudget);

    team.hooks.onEvent.tap("budget", (event) => {
      if (event.type === "step.finished" && event.action.cost.usd !== null) stepCosts.push(event.action.cost.usd);
      if (event.type !== "step.finished" && event.type !== "step.cost") return;
      const spent = team.cost.total_usd ?? 0;
      if (spent > costBudget)
        team.stop({ reason: "cost_budget", message: `the budget of ${dollars(costBudget)} is exceeded (${dollars(spent)} spent)` });
    });
    team.hooks.beforeLaunch.tap("budget", (request) => {
      const message = refusal();
      if (message) team.stop({ reason: "cost_budget", message });
      const spent = team.cost.total_usd ?? 0;
      const ahead = request.kind === "round" ? team.run.agents.length : 1;
      const expected = mean(stepCosts) * ahead;
      if (!message && expected > 0 && spent + expected > costBudget && warnedRound !== request.round) {
        warnedRound = request.round;
        team.log.warn(
          `the next steps will likely exceed the budget of ${dollars(costBudget)}: ${dollars(spent)} spent, about ${dollars(expected)} ahead`,
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

function spentAll(team: Team, budget: number): string | null {
  const spent = team.cost.total_usd ?? 0;
  return spent >= budget ? `the budget of ${dollars(budget)} is used up (${dollars(spent)} spent)` : null;
}

/** A step with tokens and no price: nobody can say what is left of the budget. */
function missingPrice(team: Team): string | null {
  const agent = team.run.agents.find(({ id }) => (team.cost.by_agent[id]?.unpriced_tokens ?? 0) > 0);
  if (!agent) return null;
  return `the price of ${agent.modelName} is unknown, so the budget cannot be kept; add to mg-team.yaml  prices: { ${agent.modelName}: { input: USD, output: USD } }  (per million tokens), or pass --allow-unpriced`;
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function dollars(usd: number): string {
  return `$${usd.toFixed(usd !== 0 && Math.abs(usd) < 0.01 ? 4 : 2)}`;
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
