import { createHash } from "node:crypto";
import { closeMarkdown } from "mg-team";
import { contributionsSection, failuresSection } from "./contributions.ts";
import { decisionSection, howChosen } from "./decision.ts";
import { checksSection, costSection, filesSection, notesSection } from "./facts.ts";
import type { FinalAnswerInput } from "./input.ts";
import { link, words } from "./markup.ts";

export type { FinalAnswerInput };

/**
 * The text of `final_answer.md`: the answer, and around it what mg-team knows of it. The same input gives the same text. The answer cannot pass
 * for the frame: it is closed where it leaves something open, and the line that ends it carries a mark that does not occur in it.
 */
export async function renderFinalAnswer(input: FinalAnswerInput): Promise<string> {
  const sections = [
    decisionSection(input.result),
    contributionsSection(input),
    failuresSection(input),
    filesSection(input),
    checksSection(input),
    costSection(input),
    notesSection(input),
  ];
  return `${[...(await answerPart(input)), ...sections.filter((section) => section !== "")].join("\n\n")}\n`;
}

// --- internal ---

/** What the text is, the text, and the line that ends it. */
async function answerPart(input: FinalAnswerInput): Promise<readonly string[]> {
  if (input.result.decision.winner === null && input.madeBy === null) return ["> **There is no answer.**"];
  const answer = await closeMarkdown(input.answer);
  const end = `end of the answer ${markFor(answer)}`;
  const frame = `All down to the line “${end}” is the text of the model; what follows it is by mg-team.`;
  const head = [...whatItIs(input), frame].map((line) => `> ${line}`).join("\n>\n");
  return [head, answer, `---\n\n*— ${end} —*`];
}

function whatItIs({ result, madeBy, whyNotAgent, directory }: FinalAnswerInput): readonly string[] {
  const { winner, winner_model } = result.decision;
  const by = winner === null ? "nobody" : `${words(winner, 60)} (${words(winner_model ?? "unknown model", 80)})`;
  if (madeBy === null) {
    const submitted = `**The answer of ${by}**, as submitted, chosen ${howChosen(result)}. Nothing was merged or tested.`;
    if (whyNotAgent === null) return [submitted];
    return [submitted, `There is no synthesis by a model: ${words(whyNotAgent, 300).replace(/[.\s]+$/, "")}.`];
  }
  const chosen = link("winner/answer.md", `${directory}/winner/answer.md`, directory);
  return [
    `**A synthesis by ${words(madeBy, 80)}**, made from the answer of ${by}, which was chosen ${howChosen(result)} and is in ${chosen}. ` +
      "What that model merged or tested is its own word; mg-team ran none of it.",
  ];
}

/** The shortest beginning of the answer's hash, of 8 digits or more, that is not in the answer. */
function markFor(answer: string): string {
  const digits = createHash("sha256").update(answer).digest("hex");
  for (let length = 8; length < digits.length; length++) if (!answer.includes(digits.slice(0, length))) return digits.slice(0, length);
  return digits;
}
