import { checkFiles, definePlugin, knownSecrets, listFiles, SynthesisStage } from "mg-team";

/** Seconds for the checks once a signal has ended the run: the result must be written soon. */
const hurriedSeconds = 1;

/** Looks at the files of the deliverable and reports what is wrong with them, in `checks` of the result. Repairs nothing. */
export default definePlugin({
  name: "checks",
  summary: "Reports what is wrong with the files that are delivered",
  apply(team) {
    let stopped = false;
    team.hooks.onEvent.tap("checks", (event) => {
      if (event.type === "stop" && event.reason === "interrupted") stopped = true;
    });
    team.hooks.onSynthesis.tapPromise({ name: "checks", stage: SynthesisStage.check }, async ({ result }) => {
      const { deliverable } = result.synthesis;
      if (deliverable === null) {
        result.checks = [];
        return;
      }
      const hurried = result.decision.reason === "interrupted";
      // What stopped the run before has its second; a signal that comes now ends the checks, so that the document can still be built.
      stopped = false;
      result.checks = await checkFiles(deliverable, {
        secrets: knownSecrets(team.run.project),
        isStopped: () => stopped,
        ...(hurried ? { limits: { seconds: hurriedSeconds } } : {}),
      });
      result.plugins.checks = { files: (await listFiles(deliverable)).length };
    });
  },
});
