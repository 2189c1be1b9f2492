import { definePlugin, markBallots, Stage } from "mg-team";

/** Marks ballots that are stale (their voter has not seen a newer answer) or invalid (their target has no answer). */
export default definePlugin({
  name: "stale-votes",
  summary: "Marks the ballots that are stale or invalid",
  apply(team) {
    team.hooks.onConsensus.tap({ name: "stale-votes", stage: Stage.mark }, (deliberation) => markBallots(deliberation));
  },
});
