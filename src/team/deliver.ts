import { messageOf } from "../errors.ts";
import { writeFileAtomic } from "../session/atomic.ts";
import type { RunResult } from "../session/result.ts";
import type { Verdict } from "../types.ts";
import { withPatience } from "./patience.ts";
import { buildResult, refreshResult } from "./result.ts";
import type { Run } from "./run.ts";
import { closeSteps, stopCauseOf } from "./step.ts";
import { whyNoLaunch } from "./stop.ts";
import { createStopper } from "./stopper.ts";
import { standingSynthesis, writeAgentSynthesis, writeMarkdown } from "./synthesis.ts";
import { readWinner } from "./winner.ts";

/**
 * From the decision to the files: first `result.json` with the answer, so that nothing can lose it, then the winner's files and the document,
 * which may take long; the children that a signal left running are stopped meanwhile. Then the synthesis by a model; last the plugins'
 * reports. A failed write ends in exit 7, never in a success.
 */
export async function deliver(run: Run, decided: Verdict): Promise<RunResult> {
  const { verdict, answer, workspace } = readWinner(run, decided);
  const result = buildResult(run, verdict, answer);
  run.refresh = () => refreshResult(run, result, verdict);
  const write = async (work: () => Promise<void>): Promise<boolean> => {
    try {
      await work();
      return true;
    } catch (error) {
      run.writeError ??= error instanceof Error ? error : new Error(messageOf(error));
      run.log.warn(messageOf(error));
      run.refresh();
      return false;
    }
  };
  // Refreshed before, never after: what is printed must be what the file says.
  const writeResult = () => {
    run.refresh();
    return writeFileAtomic(run.directory.result, `${JSON.stringify(result, null, 2)}\n`);
  };

  const cause = run.stopper.request ? stopCauseOf(run.stopper.request.reason) : "ended";
  if (!run.signal) beginSynthesis(run);
  await write(writeResult);
  const closing = run.signal ? closeSteps(run, cause) : Promise.resolve();
  const stands = standingSynthesis(run, result);
  if (!stands) await write(() => writeMarkdown(run, result, workspace));
  await closing;
  await write(writeResult);
  await closeSteps(run, cause);
  if (!stands && run.settings.synthesis === "agent" && !run.writeError) {
    await write(() => writeAgentSynthesis(run, result));
    await closeSteps(run, "ended");
  }
  await write(writeResult);
  await finish(run, result);
  run.phase = "over";
  await closeSteps(run, "ended");
  // A signal may have come while plugins were reporting.
  run.refresh();
  run.emit({
    type: "run.finished",
    exit_code: result.exit_code,
    decision: verdict,
    total_usd: result.cost.total_usd,
    elapsed_seconds: run.elapsed(),
  });
  // Once more where it fails: an older result.json, or one that may not survive, would say that all is well.
  if (!(await write(writeResult))) await write(writeResult);
  return result;
}

// --- internal ---

/** From here a stop ends only the synthesis. A run that was stopped starts none: what stopped it, time or money or a plugin, still holds. */
function beginSynthesis(run: Run): void {
  const request = whyNoLaunch(run);
  run.lastCall = null;
  run.phase = "synthesis";
  run.stopper = createStopper();
  if (request) run.stopper.stop(request);
}

async function finish(run: Run, result: RunResult): Promise<void> {
  try {
    // A copy but for the data: whatever a plugin does to it, the result stays what it is.
    const shown = { ...structuredClone({ ...result, plugins: {} }), plugins: result.plugins };
    await withPatience(run, "onFinish", run.hooks.onFinish.promise(shown));
  } catch (error) {
    run.pluginWarned(error, "onFinish");
  }
}
