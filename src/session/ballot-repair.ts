import type { BallotRepair } from "../types.ts";

/**
 * Whether the votes of a run were cast on a repaired ballot: the repair was put in place, and no step showed that it did not take hold
 * (not read, MassGen's code unknown to it) or was not needed. One step in which it took hold counts: where others differ, a warning tells.
 * @param placed whether it was put in place
 * @param shown by the steps of the run, in any order
 */
export function repairedBallot(placed: "on" | "off", shown: ReadonlySet<BallotRepair>): "on" | "off" {
  if (shown.has("applied")) return "on";
  return shown.has("not_needed") || shown.has("unexpected") || shown.has("silent") ? "off" : placed;
}
