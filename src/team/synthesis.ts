import { existsSync } from "node:fs";
import type { SynthesisDocument } from "../plugin/hooks.ts";
import { writeFileAtomic } from "../session/atomic.ts";
import { copyDeliverable, copyWinner } from "../session/deliverable.ts";
import type { RunResult } from "../session/result.ts";
import { withPatience } from "./patience.ts";
import type { Run } from "./run.ts";
import { stopAfterLastCall } from "./stop.ts";

/**
 * Puts the winner's files in place and writes `final_answer.md` around its answer. After this the run's result is safe,
 * whatever a synthesis by a model does later.
 */
export async function writeMarkdown(run: Run, result: RunResult, workspace: string | null): Promise<void> {
  if (result.answer === null) return;
  run.emit({ type: "synthesis.started", kind: "markdown" });
  const { directory } = run;
  const whyStop = () => (run.rushed ? "a second signal ended the run before it was copied" : null);
  await copyWinner({ answer: result.answer, workspace, to: directory.winner }, { whyStop });
  result.synthesis = { ...result.synthesis, kind: "markdown", path: directory.finalAnswer, winner: directory.winner };
  // Also without files: a resume may have another winner, and what was delivered before must not pass for its own.
  const copied = await copyDeliverable(workspace, directory.deliverable, { whyStop });
  if (copied.files.length > 0) result.synthesis = { ...result.synthesis, deliverable: directory.deliverable };
  for (const { path, why } of copied.leftOut) if (why !== "internal") result.warnings.push(`${path} is not in the deliverable: ${why}`);
  if (run.signal && run.settings.synthesis === "agent") sayStopped(run, result);
  const document = newDocument(run, result, "markdown", result.answer);
  const { markdown } = await askPlugins(run, document);
  await writeFileAtomic(directory.finalAnswer, markdown === "" ? result.answer : markdown);
  run.emit({ type: "synthesis.finished", kind: "markdown", path: directory.finalAnswer });
}

/**
 * Whether a synthesis by a model is there already, as its files and the journal say: it is paid for, and a resume that only has to make
 * `result.json` anew makes no other.
 */
export function standingSynthesis({ state, directory }: Run, result: RunResult): boolean {
  if (state.synthesis !== "agent" || result.answer === null || !existsSync(directory.finalAnswer)) return false;
  const present = (path: string) => (existsSync(path) ? path : null);
  const [deliverable, winner] = [present(directory.deliverable), present(directory.winner)];
  result.synthesis = { kind: "agent", path: directory.finalAnswer, deliverable, winner, why_not_agent: null };
  result.warnings.push("result.json is made anew; what the checks found in the files is in final_answer.md");
  return true;
}

/** Offers plugins to make a synthesis by a model; keeps the Markdown document, with the reason, where none comes of it. */
export async function writeAgentSynthesis(run: Run, result: RunResult): Promise<void> {
  if (result.answer === null || result.synthesis.path === null) return;
  if (run.signal) return sayStopped(run, result);
  run.emit({ type: "synthesis.started", kind: "agent" });
  const document = newDocument(run, result, "agent", result.answer);
  const settled = await askPlugins(run, document);
  const made = settled.madeBy !== null && settled.whyNotAgent === null;
  const whyNot = made ? null : (settled.whyNotAgent ?? (run.signal ? whyStopped(run) : "no plugin made a synthesis"));
  result.synthesis = { ...result.synthesis, kind: made ? "agent" : "markdown", why_not_agent: whyNot };
  // A synthesis that is paid for is delivered, bare where nobody made a document of it: its plugin is left out, or a signal came in between.
  const text = settled.markdown !== "" || !made ? settled.markdown : settled.answer;
  if (text !== "") await writeFileAtomic(run.directory.finalAnswer, text);
  const { path } = result.synthesis;
  run.emit({
    type: "synthesis.finished",
    kind: result.synthesis.kind,
    path: path ?? "",
    ...(whyNot === null ? {} : { why_not_agent: whyNot }),
  });
}

// --- internal ---

function sayStopped(run: Run, result: RunResult): void {
  result.synthesis = { ...result.synthesis, why_not_agent: whyStopped(run) };
}

function whyStopped({ stopper }: Run): string {
  return `the run was stopped (${stopper.request?.message ?? "by a signal"})`;
}

function newDocument(run: Run, result: RunResult, kind: "agent" | "markdown", answer: string): SynthesisDocument {
  return {
    kind,
    answer,
    madeBy: null,
    markdown: "",
    whyNotAgent: result.synthesis.why_not_agent,
    result,
    directory: run.directory.synthesis,
  };
}

/**
 * Seconds that plugins have after a signal for a synthesis that is paid for: its files may be many. More than elsewhere, as `result.json` and
 * the document of the winner are there already; less than the 7.5 s that a host gives (reliability.md).
 */
const paidSeconds = 5;

async function askPlugins(run: Run, document: SynthesisDocument): Promise<SynthesisDocument> {
  try {
    const work = run.hooks.onSynthesis.promise(document);
    if (document.kind === "markdown") return (await withPatience(run, "onSynthesis", work)) ?? document;
    // A signal stops the synthesis step: what its plugin makes of that comes after its end.
    const steps = () => Promise.all([...run.running.keys()].map(({ report }) => report));
    return (await withPatience(run, "onSynthesis", work, steps, paidSeconds)) ?? document;
  } catch (error) {
    run.pluginWarned(error, "onSynthesis");
    return document;
  } finally {
    stopAfterLastCall(run);
  }
}
