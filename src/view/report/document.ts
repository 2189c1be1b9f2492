import type { RunResult } from "../../session/result.ts";
import type { RunState } from "../../session/state.ts";

/** The answer that was delivered. */
export interface DeliveredAnswer {
  /** Markdown. */
  readonly text: string;
  /** `synthesis`: made by a model from all answers; `winner`: as it was voted on; `document`: the whole of final_answer.md. */
  readonly kind: "synthesis" | "winner" | "document";
  /** The model that made a synthesis; null for the others, or when it is not known. */
  readonly madeBy: string | null;
}

/**
 * Finds the answer itself in what was delivered: `final_answer.md` also tells how it was decided, which the report shows in its own way. A document
 * that a plugin has made in another form is shown whole.
 * @returns null when there is no answer
 */
export function deliveredAnswer(result: RunResult, document: string | null, state: RunState): DeliveredAnswer | null {
  if (result.answer === null) return null;
  const madeBy = result.synthesis.kind === "agent" ? synthesisModel(state) : null;
  const kind = result.synthesis.kind === "agent" ? "synthesis" : "winner";
  if (document === null) return { text: result.answer, kind: "winner", madeBy: null };
  const inside = answerIn(document);
  if (inside !== null) return { text: inside, kind, madeBy };
  return document.trim() === result.answer.trim() ? { text: result.answer, kind, madeBy } : { text: document, kind: "document", madeBy };
}

// --- internal ---

/** The frame that the plugin markdown-synthesis puts around an answer: a head that names the line which ends it. */
function answerIn(document: string): string | null {
  const [head = ""] = /^(?:>[^\n]*\n)+/.exec(document) ?? [];
  const [, end] = /“(end of the answer [0-9a-f]{8,64})”/.exec(head) ?? [];
  const stop = end === undefined ? -1 : document.lastIndexOf(`\n---\n\n*— ${end} —*`);
  return stop < head.length ? null : document.slice(head.length, stop).trim();
}

/** Its step is journaled under the agent whose model it ran. */
function synthesisModel({ startedSteps, agents }: RunState): string | null {
  const last = [...startedSteps.values()].findLast(({ kind }) => kind === "synthesis");
  return agents.find(({ agent }) => agent.id === last?.agent)?.agent.model ?? null;
}
