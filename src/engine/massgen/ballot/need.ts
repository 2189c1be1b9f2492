import type { Clock } from "../../../clock.ts";
import { keyVariables } from "../../../config/keys.ts";
import { capture } from "../../capture.ts";
import { pythonOf } from "../python.ts";
import probe from "./probe.py" with { type: "text" };

/** `unknown`: the Python of this command is not known (a wrapper, uvx), or the check itself failed. */
export type BallotNeed = "needed" | "not_needed" | "unknown";

export interface BallotCheck {
  readonly need: BallotNeed;
  /** Why it is unknown, in one line; else empty. */
  readonly why: string;
}

export interface BallotCheckOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** The interpreter, when the caller knows better than the launcher tells. */
  readonly interpreter?: string;
  readonly clock?: Clock;
  /** Seconds; by default {@link checkLimitSeconds}. */
  readonly limitSeconds?: number;
  /** Called when something is started at all. */
  onStart?(): void;
}

/** It takes as long as one start of MassGen: 8 s, four at once on two cores 29 s (massgen.md). */
export const checkLimitSeconds = 120;

/**
 * Whether this MassGen's ballot is broken (massgen.md, "Two faults in its voting", 1): lets MassGen's own classes run one step in its own
 * Python, with a model that obeys the vote tool, and looks whom the vote reaches. So it notices a repair upstream, however made. Needs no
 * key and no network. About ten seconds; the caller keeps the answer for each installed version.
 */
export async function needsBallotFix(argv: readonly string[], options: BallotCheckOptions): Promise<BallotCheck> {
  const interpreter = options.interpreter ?? pythonOf(argv, options.env, options.home)?.interpreter;
  if (interpreter === undefined) return { need: "unknown", why: `which Python runs ${argv.join(" ")} is not known` };
  options.onStart?.();
  const env = { ...options.env, ...Object.fromEntries(keyVariables.map((name) => [name, undefined])) };
  const { limitSeconds = checkLimitSeconds, clock } = options;
  const { exit, stdout, stderr, timedOut } = await capture([interpreter, "-c", probe], { env, limitSeconds, clock });
  const match = /^mg-team ballot: (needed|not needed|unknown: .*)$/m.exec(stdout);
  if (match?.[1] === "needed") return { need: "needed", why: "" };
  if (match?.[1] === "not needed") return { need: "not_needed", why: "" };
  if (match?.[1] !== undefined) return { need: "unknown", why: match[1].slice("unknown: ".length) };
  if (timedOut) return { need: "unknown", why: `${interpreter} did not end within ${limitSeconds} s` };
  return { need: "unknown", why: exit.spawnError?.message ?? lastLine(stderr) ?? `${interpreter} exited with ${exit.code ?? exit.signal}` };
}

// --- internal ---

function lastLine(text: string): string | undefined {
  return text.trim().split("\n").at(-1)?.trim() || undefined;
}
