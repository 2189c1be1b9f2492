import type { BallotRepair } from "../../../types.ts";

/** What the repair found in a step. */
export interface BallotVerdict {
  readonly verdict: Exclude<BallotRepair, "silent">;
  /** Of `unexpected`: what was not as expected. Else empty. */
  readonly detail: string;
}

/**
 * Reads the one line that the repair writes to a step's stderr, before the model is asked; null for every other line. A step that acted
 * (answer or vote) without such a line ran without the repair: {@link silentNote}.
 */
export function readBallotLine(line: string): BallotVerdict | null {
  const match = /^mg-team ballot: (applied|ready|not needed|unexpected code)(?:: (.*))?$/.exec(line.trimEnd());
  const verdict = verdicts[match?.[1] ?? ""];
  return verdict === undefined ? null : { verdict, detail: match?.[2] ?? "" };
}

/** Why a step that acted may have said nothing about its ballot, for the warning. */
export const silentNote =
  "the repair of MassGen's ballot was not read: its launcher ignores PYTHONPATH (python -I or -E), a wrapper replaces it, or MassGen's modules have other names now; so votes may miss their targets";

// --- internal ---

const verdicts: Readonly<Record<string, BallotVerdict["verdict"]>> = {
  applied: "applied",
  ready: "ready",
  "not needed": "not_needed",
  "unexpected code": "unexpected",
};
