import { z } from "zod";
import { isBlank, longestReason } from "../session/step-content.ts";
import { listOf, quoted } from "../text.ts";
import type { Candidate } from "./peers.ts";
import { parseInput } from "./tools.ts";
import { ToolError } from "./workspace/places.ts";

/** How a step ends: with an answer of its own, or a vote for one that exists. */
export type Decision =
  | { readonly kind: "new_answer"; readonly content: string }
  | { readonly kind: "vote"; readonly candidate: Candidate; readonly reason: string };

/** A tool that ends the step, as a model sees it. */
export interface WorkflowTool {
  readonly name: "new_answer" | "vote";
  readonly description: string;
  readonly schema: z.ZodType;
}

/** Longest answer, in characters. */
export const longestAnswer = 1_000_000;

/** The tools that end a step. There is no vote while nobody has answered; else its `agent_id` offers exactly those who have. */
export function workflowTools(candidates: readonly Candidate[]): readonly WorkflowTool[] {
  const labels = candidates.map(({ label }) => label);
  const answer: WorkflowTool = {
    name: "new_answer",
    description:
      "Submits your answer, complete and as the person who asked shall read it, together with all files of your workspace. Ends your work in this round.",
    schema: z.object({ content: z.string().describe("The whole answer, without any mention of other answers, labels or votes") }),
  };
  if (labels.length === 0) return [answer];
  const vote: WorkflowTool = {
    name: "vote",
    description: "Votes for the answer that should be delivered as it is. Ends your work in this round.",
    schema: z.object({
      agent_id: z.enum(labels as [string, ...string[]]).describe("The label of the answer"),
      reason: z.string().describe("What makes it the best, and what you checked, in a few sentences"),
    }),
  };
  return [answer, vote];
}

/** Checks a call of one of these tools. Throws a ToolError with what to do instead: nothing has happened then. */
export function decide(name: string, input: unknown, candidates: readonly Candidate[]): Decision {
  if (name === "new_answer") {
    const { content } = parseInput(z.object({ content: z.string() }), input);
    if (isBlank(content)) throw new ToolError("the answer is blank; put the whole answer into content");
    if (content.length > longestAnswer) {
      throw new ToolError(`the answer is longer than ${longestAnswer} characters; put the long parts into files of your workspace`);
    }
    // Half a character in it would keep every other agent from sending its own request.
    return { kind: "new_answer", content: content.toWellFormed() };
  }
  const { agent_id: given, reason } = parseInput(z.object({ agent_id: z.string(), reason: z.string().optional() }), input);
  const candidate = candidates.find(({ label }) => label === given.trim().toLowerCase());
  if (candidate === undefined) {
    const labels = candidates.map(({ label }) => label);
    throw new ToolError(
      labels.length === 0
        ? "there is nothing to vote for yet; submit an answer with new_answer"
        : `${quoted(given)} is none of the answers; agent_id must be ${listOf(labels, "or")}`,
    );
  }
  return {
    kind: "vote",
    candidate,
    reason: namesIn(reason ?? "", candidates)
      .slice(0, longestReason)
      .toWellFormed(),
  };
}

// --- internal ---

/** A reason with the agents' names in place of this step's labels, which mean nothing to anybody else. */
function namesIn(reason: string, candidates: readonly Candidate[]): string {
  const names = new Map(candidates.map(({ label, agent }) => [label, agent]));
  return reason.toWellFormed().replace(/@?\b(agent\d+)\b/gi, (found, label: string) => names.get(label.toLowerCase()) ?? found);
}
