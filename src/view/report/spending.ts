import type { AgentCost } from "../../session/result.ts";
import type { RunState } from "../../session/state.ts";
import { sumCosts } from "../../session/totals.ts";
import type { AgentId, StepCost } from "../../types.ts";

/** What was spent, by agent and round. Pure. */
export interface Spending {
  /** Rounds with a step, in order; 0 stands for the steps outside of rounds. */
  readonly rounds: readonly number[];
  readonly agents: readonly {
    readonly id: AgentId;
    readonly total: AgentCost;
    /** One for each of `rounds`; undefined where the agent had no step. */
    readonly byRound: readonly (AgentCost | undefined)[];
  }[];
  readonly byRound: readonly AgentCost[];
  readonly total: AgentCost;
}

/** Every step counts once, running and lost ones too. */
export function spendingOf({ agents, costs }: RunState): Spending {
  const steps = [...costs].map(([key, { agent, cost }]): Step => ({ agent, cost, round: roundIn(key) }));
  const rounds = [...new Set(steps.map(({ round }) => round))].sort((a, b) => (a || Number.MAX_VALUE) - (b || Number.MAX_VALUE));
  const ids = [...new Set([...agents.map(({ agent }) => agent.id), ...steps.map(({ agent }) => agent)])];
  const ofAgents = Map.groupBy(steps, ({ agent }) => agent);
  const ofRounds = Map.groupBy(steps, ({ round }) => round);
  return {
    rounds,
    agents: ids.map((id) => {
      const own = ofAgents.get(id) ?? [];
      const ownRounds = Map.groupBy(own, ({ round }) => round);
      const byRound = rounds.map((round) => {
        const here = ownRounds.get(round);
        return here && sum(here);
      });
      return { id, total: sum(own), byRound };
    }),
    byRound: rounds.map((round) => sum(ofRounds.get(round) ?? [])),
    total: sum(steps),
  };
}

// --- internal ---

interface Step {
  readonly agent: AgentId;
  readonly round: number;
  readonly cost: StepCost;
}

/** `agent_a/2/1`: see `stepKey`. Ids hold no slash. */
function roundIn(key: string): number {
  return Number(key.split("/").at(-2) ?? 0);
}

function sum(steps: readonly Step[]): AgentCost {
  return sumCosts(steps.map(({ cost }) => cost));
}
