import { definePlugin, force, Stage } from "mg-team";

/** How often the clock is looked at, in milliseconds; one long timer would miss suspends (reliability.md, "Signals and terminals"). */
const tick = 250;

/** Ends the run when it has worked for `timeout` seconds, also in the middle of a round and during synthesis. */
export default definePlugin({
  name: "timeout",
  summary: "Ends the run at its --timeout",
  apply(team) {
    const { timeoutSeconds } = team.run.limits;
    const message = `the time limit of ${timeoutSeconds} s is reached`;
    const isOver = () => team.elapsedSeconds >= timeoutSeconds;
    team.hooks.onConsensus.tap({ name: "timeout", stage: Stage.limit }, (deliberation) => {
      if (!deliberation.verdict && !deliberation.stop && isOver()) {
        deliberation.verdict = force(deliberation, "timeout", `The time limit of ${timeoutSeconds} s is reached`);
      }
    });
    const stopWhenOver = () => {
      if (isOver()) team.stop({ reason: "timeout", message });
    };
    // Between two ticks a round may begin whose steps would be paid and stopped at once.
    team.hooks.beforeLaunch.tap("timeout", stopWhenOver);
    const timer = setInterval(stopWhenOver, tick);
    return () => clearInterval(timer);
  },
});
