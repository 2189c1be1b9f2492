import type { RunResult } from "mg-team";

/** Everything that `final_answer.md` is made of. */
export interface FinalAnswerInput {
  /** The text that the document is about. */
  readonly answer: string;
  /** The model that made a synthesis, which `answer` then is; null for the winner's answer as it was voted on. */
  readonly madeBy: string | null;
  /** Why there is no synthesis by a model, in a sentence; null when none was asked for, or there is one. */
  readonly whyNotAgent: string | null;
  readonly result: RunResult;
  /** The current answer of each agent that has one. */
  readonly answers: readonly OtherAnswer[];
  /** Files of the deliverable, paths relative to it. */
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
  /** Absolute path of the directory of the document: links are relative to it. */
  readonly directory: string;
}

export interface OtherAnswer {
  readonly agent: string;
  readonly step: number;
  readonly text: string;
  /** Absolute; null without. */
  readonly workspace: string | null;
}
