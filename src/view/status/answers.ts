import { TeamError } from "../../errors.ts";
import { readAnswer } from "../../session/steps.ts";
import type { AgentId } from "../../types.ts";
import type { AnswerPreview } from "./shape.ts";

/** How an answer begins; null when it cannot be read (any more). */
export function previewOf(sessionDir: string, agent: AgentId, step: number, round: number | null): AnswerPreview | null {
  try {
    const { text } = readAnswer(sessionDir, agent, step);
    const start = text.trimStart().slice(0, previewCharacters);
    return { step, round, characters: text.length, preview: start.isWellFormed() ? start : start.slice(0, -1) };
  } catch (error) {
    if (error instanceof TeamError) return null;
    throw error;
  }
}

// --- internal ---

const previewCharacters = 600;
