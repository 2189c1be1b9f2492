import { readAgentSteps, type StepFile } from "../../session/steps.ts";
import type { AgentId, FailureClass } from "../../types.ts";
import type { FoundAction } from "../engine.ts";

/** What a step left on disk: what peers see is the truth, however the process ended (design.md, core loop 2). */
export interface Findings {
  /** The last whole, non-blank answer or whole vote that is new; null without. */
  readonly action: FoundAction | null;
  /** What is new but counts for nothing, when there is no action. */
  readonly spoilt: { readonly class: Extract<FailureClass, "empty" | "garbled">; readonly message: string; readonly file: string } | null;
  /** A new file that would fail the step of every other agent; absolute path. */
  readonly poison: string | null;
  /** What should not be, as sentences. */
  readonly warnings: readonly string[];
}

/**
 * Looks for what an agent added to the session.
 * @param after the highest step number that existed when the step was started
 */
export function findAction(sessionDir: string, agent: AgentId, after: number): Findings {
  const steps = readAgentSteps(sessionDir, agent, after);
  const actions = steps.filter((step) => step.kind === "new_answer" || step.kind === "vote");
  const last = actions.at(-1);
  const spoilt = steps.filter((step) => step.kind === "blank" || step.kind === "garbled").at(-1);
  const warnings: string[] = [];
  if (actions.length > 1) {
    warnings.push(
      `${agent} left ${actions.length} actions in one step (${actions.map(({ step }) => step).join(", ")}); the last one counts`,
    );
  }
  return {
    action: last ? actionOf(last) : null,
    spoilt: last === undefined && spoilt ? explain(spoilt) : null,
    poison: steps.flatMap((step) => (step.kind === "garbled" && step.fatal ? [step.file] : [])).at(0) ?? null,
    warnings,
  };
}

// --- internal ---

function actionOf(found: StepFile): FoundAction | null {
  if (found.kind === "new_answer") return { kind: "new_answer", step: found.step };
  if (found.kind !== "vote") return null;
  const { step, target, reason, seenSteps } = found;
  return { kind: "vote", step, target, reason, seenSteps };
}

function explain(step: StepFile & { readonly kind: "blank" | "garbled" }): Findings["spoilt"] {
  const { file } = step;
  if (step.kind === "blank")
    return { class: "empty", message: `its answer in step ${step.step} has nothing in it that could be seen`, file };
  const name = file.slice(file.lastIndexOf("/") + 1);
  return { class: "garbled", message: `${name} of step ${step.step} ${step.why}`, file };
}
