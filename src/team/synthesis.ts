import { messageOf } from "../errors.ts";
import type { SynthesisDocument } from "../plugin/hooks.ts";
import { within } from "../plugin/within.ts";
import { writeFileAtomic } from "../session/atomic.ts";
import { copyDeliverable, copyWinner } from "../session/deliverable.ts";
import type { RunResult } from "../session/result.ts";
import type { Verdict } from "../types.ts";
import { currentAnswers } from "./api.ts";
import { asPluginError, type Run } from "./run.ts";

/** Seconds that plugins have for the document once a signal wants the result at once. */
const hurriedSeconds = 2;

/**
 * Puts the winner's files in place and writes `final_answer.md` around its answer. After this the run's result is safe,
 * whatever a synthesis by a model does later.
 */
export async function writeMarkdown(run: Run, result: RunResult, verdict: Verdict): Promise<void> {
  const winner = currentAnswers(run).find((answer) => answer.agent === verdict.winner);
  if (!winner || result.answer === null) return;
  run.emit({ type: "synthesis.started", kind: "markdown" });
  const { directory } = run;
  await copyWinner({ answer: result.answer, workspace: winner.workspace, to: directory.winner });
  result.synthesis = { ...result.synthesis, kind: "markdown", path: directory.finalAnswer, winner: directory.winner };
  if (winner.workspace) {
    const copied = await copyDeliverable(winner.workspace, directory.deliverable);
    if (copied.files.length > 0) result.synthesis = { ...result.synthesis, deliverable: directory.deliverable };
    for (const { path, why } of copied.leftOut) if (why !== "internal") result.warnings.push(`${path} is not in the deliverable: ${why}`);
  }
  const document = newDocument(run, result, "markdown", result.answer);
  const { markdown } = await askPlugins(run, document);
  await writeFileAtomic(directory.finalAnswer, markdown === "" ? result.answer : markdown);
  run.emit({ type: "synthesis.finished", kind: "markdown", path: directory.finalAnswer });
}

/** Offers plugins to make a synthesis by a model; keeps the Markdown document, with the reason, where none comes of it. */
export async function writeAgentSynthesis(run: Run, result: RunResult): Promise<void> {
  if (result.answer === null || result.synthesis.path === null || run.signal) return;
  run.emit({ type: "synthesis.started", kind: "agent" });
  const document = newDocument(run, result, "agent", result.answer);
  const settled = await askPlugins(run, document);
  const made = settled.madeBy !== null && settled.whyNotAgent === null;
  const whyNot = made ? null : (settled.whyNotAgent ?? "no plugin made a synthesis");
  result.synthesis = { ...result.synthesis, kind: made ? "agent" : "markdown", why_not_agent: whyNot };
  if (settled.markdown !== "") await writeFileAtomic(run.directory.finalAnswer, settled.markdown);
  const { path } = result.synthesis;
  run.emit({
    type: "synthesis.finished",
    kind: result.synthesis.kind,
    path: path ?? "",
    ...(whyNot === null ? {} : { why_not_agent: whyNot }),
  });
}

// --- internal ---

function newDocument(run: Run, result: RunResult, kind: "agent" | "markdown", answer: string): SynthesisDocument {
  return { kind, answer, madeBy: null, markdown: "", whyNotAgent: null, result, directory: run.directory.synthesis };
}

async function askPlugins(run: Run, document: SynthesisDocument): Promise<SynthesisDocument> {
  try {
    const asked = run.hooks.onSynthesis.promise(document);
    return (run.signal ? await within(hurriedSeconds, asked) : await asked) ?? document;
  } catch (error) {
    const { plugin, hook } = asPluginError(error, "onSynthesis");
    run.emit({ type: "plugin.error", plugin, hook, message: run.redact(messageOf(error)) });
    return document;
  }
}
