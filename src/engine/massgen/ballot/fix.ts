import { delimiter, join } from "node:path";
import { makeDirectory, writeFileAtomic } from "../../../session/atomic.ts";
import type { BallotNeed } from "./need.ts";
import source from "./sitecustomize.py" with { type: "text" };

/** `ballot_fix` of mg-team.yaml; `--no-ballot-fix` is `off`. */
export type BallotFixMode = "auto" | "on" | "off";

export interface BallotFixInput {
  /** A directory of the run for the repair alone, absolute; made when it is missing. One serves all steps of a run. */
  readonly directory: string;
  /** The environment that steps will get; only PYTHONPATH is read. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly mode: BallotFixMode;
  /** What `needsBallotFix` found for this MassGen, when anybody asked. */
  readonly need: BallotNeed;
}

export interface BallotFix {
  /** To be added to the environment of every step, and of nothing else. Empty while off. */
  readonly env: Readonly<Record<string, string>>;
  /** `on`: it is in place; whether it took hold is told by each step's own line (see `readBallotLine`). */
  readonly state: "on" | "off";
  /** Why it is off, in a sentence; empty while on. */
  readonly note: string;
  /** Whether to warn: it is off against the user's will, and votes will not mean much. */
  readonly warn: boolean;
}

/**
 * Puts the repair of MassGen's step-mode ballot (massgen.md, "Two faults in its voting", 1) where Python will find it: `auto` unless this
 * MassGen is known not to need it, `on` always, `off` never. A repair in place still looks before it touches anything, and does nothing
 * where the code is healthy. Throws a TeamError `write` when the file cannot be written.
 */
export async function prepareBallotFix(input: BallotFixInput): Promise<BallotFix> {
  const fix = planBallotFix(input);
  if (fix.state === "off") return fix;
  const { directory } = input;
  makeDirectory(directory);
  await writeFileAtomic(join(directory, "sitecustomize.py"), source);
  return fix;
}

/** What {@link prepareBallotFix} would do, without writing anything. */
export function planBallotFix({ directory, env, mode, need }: BallotFixInput): BallotFix {
  if (mode === "off") return off("switched off", false);
  if (mode === "auto" && need === "not_needed") return off("this MassGen does not need it", false);
  if (directory.includes(delimiter)) return off(`PYTHONPATH cannot hold a path with a "${delimiter}": ${directory}`, true);
  const { PYTHONPATH = "" } = env;
  return {
    env: { PYTHONPATH: PYTHONPATH === "" ? directory : `${directory}${delimiter}${PYTHONPATH}` },
    state: "on",
    note: "",
    warn: false,
  };
}

// --- internal ---

function off(note: string, warn: boolean): BallotFix {
  return { env: {}, state: "off", note, warn };
}
