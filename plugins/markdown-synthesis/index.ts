import { definePlugin, listFiles, SynthesisStage } from "mg-team";
import { renderFinalAnswer } from "./render.ts";

/**
 * Writes `final_answer.md`: the answer first, then how it was decided, what the others contributed, what was found, and what it cost. The winner's
 * answer stands as it was voted, or a synthesis in its place when another plugin made one.
 */
export default definePlugin({
  name: "markdown-synthesis",
  summary: "Writes final_answer.md",
  apply(team) {
    team.hooks.onSynthesis.tapPromise({ name: "markdown-synthesis", stage: SynthesisStage.render }, async (document) => {
      const { result, answer, madeBy, whyNotAgent, directory } = document;
      document.markdown = await renderFinalAnswer({
        answer,
        madeBy,
        whyNotAgent,
        result,
        answers: team.answers,
        files: result.synthesis.deliverable === null ? [] : await listFiles(result.synthesis.deliverable),
        directory,
      });
    });
  },
});
