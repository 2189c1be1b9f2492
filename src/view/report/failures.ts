import { join } from "node:path";
import { neutralise } from "../../session/text.ts";
import { isInside, readUntrustedTail, realPathOf } from "../../session/untrusted.ts";
import type { Action, FailureClass } from "../../types.ts";
import type { ReportSource } from "./source.ts";

/** A step that brought no action, with what its log says at the end. */
export interface Failure {
  readonly agent: string;
  /** 0 outside of rounds. */
  readonly round: number;
  readonly try: number;
  readonly class: FailureClass;
  readonly message: string;
  readonly seconds: number;
  /** Another attempt followed, or a later round. */
  readonly recovered: boolean;
  /** Relative to the team directory; empty without. */
  readonly log: string;
  /** Last lines of the log, without secrets and control characters; null when there is none. */
  readonly tail: string | null;
}

/** How many failures are listed, how many of them with their logs, and how much of a log. */
export const failureLimits = { listed: 60, withLogs: 20, lines: 40, bytes: 12_000 } as const;

/** Failures in the order in which they happened. */
export function readFailures(
  source: ReportSource,
  redact: (text: string) => string,
): { readonly failures: readonly Failure[]; readonly unlisted: number } {
  const all = source.state.agents.flatMap(({ steps, live }) =>
    steps.flatMap(({ action, interrupted }, index) =>
      action.kind === "failed" && !interrupted ? [{ action, recovered: live || index < steps.length - 1 }] : [],
    ),
  );
  const listed = all.sort((a, b) => a.action.at - b.action.at).slice(0, failureLimits.listed);
  const failures = listed.map(({ action, recovered }, index) => ({
    ...factsOf(action),
    recovered,
    tail: index < failureLimits.withLogs ? tailOf(source.directory.root, action.log, redact) : null,
  }));
  return { failures, unlisted: all.length - listed.length };
}

// --- internal ---

type FailedAction = Action & { readonly kind: "failed" };

function factsOf({ agent, round, try: attempt, class: kind, message, seconds, log }: FailedAction): Omit<Failure, "recovered" | "tail"> {
  return { agent, round, try: attempt, class: kind, message, seconds, log };
}

function tailOf(root: string, log: string, redact: (text: string) => string): string | null {
  const home = realPathOf(root);
  const path = log === "" || home === null ? null : realPathOf(join(home, log));
  if (path === null || home === null || !isInside(path, home)) return null;
  const tail = readUntrustedTail(path, home, failureLimits.bytes);
  if (tail === null) return null;
  const text = neutralise(redact(new TextDecoder().decode(tail.bytes).replace(/\r(?!\n)/g, "\n")));
  const lines = (tail.whole ? text : text.slice(text.indexOf("\n") + 1)).trimEnd().split("\n");
  return lines.slice(-failureLimits.lines).join("\n") || null;
}
