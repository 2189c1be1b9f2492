import type { BallotFixMode } from "../engine/massgen/ballot/fix.ts";
import type { BallotCheck } from "../engine/massgen/ballot/need.ts";
import { ok, type PreflightCheck, warn } from "./check.ts";

/** What it means that MassGen's ballot is, or is not, broken, under the `ballot_fix` that a run would have. */
export function checkBallot({ need, why }: BallotCheck, mode: BallotFixMode): PreflightCheck {
  if (need === "not_needed") {
    return ok(
      "ballot",
      `needs no repair: this MassGen offers voters every answer${mode === "on" ? ", and the repair changes nothing" : ""}`,
    );
  }
  if (mode === "off") {
    const fault = need === "needed" ? "this MassGen offers voters only themselves" : `whether it needs the repair is not known (${why})`;
    return warn(
      "ballot",
      `${fault}, and the repair is switched off, so votes may miss their targets`,
      "Set ballot_fix: auto under massgen: in mg-team.yaml.",
    );
  }
  if (need === "needed") return ok("ballot", "needs the repair: this MassGen offers voters only themselves; runs repair it (ballot_fix)");
  return ok("ballot", `whether it needs the repair is not known (${why}); runs put the repair in place, which looks for itself`);
}
