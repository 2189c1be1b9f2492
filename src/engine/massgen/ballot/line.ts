/** What the repair found in a step. */
export interface BallotVerdict {
  /**
   * `applied`: the ballot was broken and is repaired. `ready`: in place, but there was no peer's answer to vote for yet.
   * `not_needed`: this MassGen's ballot is healthy; nothing was changed. `unexpected`: its code is not what the repair knows; nothing was changed.
   */
  readonly verdict: "applied" | "ready" | "not_needed" | "unexpected";
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
  "the repair of MassGen's ballot was not read: its launcher ignores PYTHONPATH (python -I or -E), a wrapper replaces it, or MassGen's modules have other names now";

// --- internal ---

const verdicts: Readonly<Record<string, BallotVerdict["verdict"]>> = {
  applied: "applied",
  ready: "ready",
  "not needed": "not_needed",
  "unexpected code": "unexpected",
};
