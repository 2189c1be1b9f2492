import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { readAnswer } from "../../session/steps.ts";
import type { Answer } from "../../types.ts";
import { beginningOf } from "./clean.ts";
import { stepPath } from "./links.ts";
import type { ReportSource } from "./source.ts";

/** An answer as the report shows it. */
export interface ShownAnswer {
  readonly step: number;
  readonly round: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Relative to the team directory. */
  readonly file: string;
  /** Relative to the team directory; null without files. */
  readonly workspace: string | null;
  /** Markdown; null when it is not shown, see `missing`. */
  readonly text: string | null;
  /** Only the beginning is shown. */
  readonly cut: boolean;
  /** Why it is not shown, in a sentence; empty when it is. */
  readonly missing: string;
}

export interface ShownAnswers {
  /** Latest first. */
  readonly answers: readonly ShownAnswer[];
  /** How many earlier ones are not listed. */
  readonly unlisted: number;
}

/** How much of the answers goes into the report, so that the file of a large team stays small. Characters, answers, bytes. */
export const answerLimits = {
  /** Of the answer that was chosen. */
  chosen: 200_000,
  latest: 24_000,
  earlier: 6_000,
  /** Of all agents together, the chosen one aside. */
  all: 1_000_000,
  /** Answers listed for each agent. */
  listed: 8,
  /** Files larger than that are not opened. */
  fileBytes: 4 * 1048576,
} as const;

/** Reads each agent's answers; in a large team everybody gets an equal share of the room. */
export function readAnswers(source: ReportSource, redact: (text: string) => string): ReadonlyMap<string, ShownAnswers> {
  const { state, directory } = source;
  const share = Math.floor(answerLimits.all / Math.max(1, state.agents.length));
  return new Map(
    state.agents.map(({ agent, answers }) => {
      let left = share;
      const listed = answers.slice(-answerLimits.listed).reverse();
      const shown = listed.map((answer, index) => {
        const one = readOne(directory.root, answer, Math.min(left, index === 0 ? answerLimits.latest : answerLimits.earlier), redact);
        left -= one.text?.length ?? 0;
        return one;
      });
      return [agent.id, { answers: shown, unlisted: answers.length - listed.length }];
    }),
  );
}

// --- internal ---

/** Less than this is no beginning worth reading. */
const leastCharacters = 500;

function readOne(root: string, { agent, step, round, at }: Answer, longest: number, redact: (text: string) => string): ShownAnswer {
  const place = stepPath(agent, step);
  const file = `${place}/answer.json`;
  const base = { step, round, at, file, workspace: hasFiles(join(root, place, "workspace")) ? `${place}/workspace` : null };
  const missing = (why: string) => ({ ...base, text: null, cut: false, missing: why });
  if (longest < leastCharacters) return missing("It is left out to keep this page small.");
  const bytes = statSync(join(root, file), { throwIfNoEntry: false })?.size ?? 0;
  if (bytes > answerLimits.fileBytes) return missing("It is too long to be shown here.");
  try {
    const { text, cut } = beginningOf(redact(readAnswer(join(root, "session"), agent, step).text), longest);
    return { ...base, text, cut, missing: "" };
  } catch {
    return missing("Its file is not there any more, or cannot be read.");
  }
}

function hasFiles(directory: string): boolean {
  try {
    return readdirSync(directory).some((name) => !name.startsWith("."));
  } catch {
    return false;
  }
}
