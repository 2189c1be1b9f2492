import { decideByMajority, definePlugin, Stage } from "mg-team";

/** Decides once every live agent has a valid ballot: more than half for one agent is a consensus, anything else a split vote. */
export default definePlugin({
  name: "majority",
  summary: "Decides once every live agent has a valid ballot: consensus or split vote",
  apply(team) {
    team.hooks.onConsensus.tap({ name: "majority", stage: Stage.decide }, (deliberation) => {
      deliberation.verdict ??= decideByMajority(deliberation);
    });
  },
});
