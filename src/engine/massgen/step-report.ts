import { join } from "node:path";
import { messageOf, TeamError } from "../../errors.ts";
import type { ChildExit } from "../../process/child.ts";
import { readExitRecord } from "../../process/exit.ts";
import type { TokenPrice } from "../../session/cost.ts";
import { type BallotRepair, type StepCost, unknownCost } from "../../types.ts";
import type { LostStep, StepFailure, StepReport, StepSpec, StopCause } from "../engine.ts";
import { type BallotVerdict, silentNote } from "./ballot/line.ts";
import type { Cause } from "./causes.ts";
import { type CostReader, createCostReader } from "./cost.ts";
import { explainFailure } from "./failure.ts";
import { type Findings, findAction } from "./report.ts";
import type { StepSetting } from "./step-setting.ts";
import { plainLine } from "./words.ts";

/** A step whose process is gone. */
export interface EndedStep {
  readonly setting: Pick<StepSetting, "redact" | "warn">;
  readonly step: StepSpec;
  readonly exit: ChildExit;
  /** The highest step number of the agent that existed when it was started. */
  readonly after: number;
  readonly reader: CostReader;
  readonly cause: Cause | null;
  /** Null where there is no repair. */
  readonly ballot: BallotWatch | null;
}

/** What the repair of the ballot said in a step; null while it said nothing. */
export interface BallotWatch {
  seen: BallotVerdict | null;
}

/** Reads what a step left: the session directory first, then its cost, then, without an action, why it failed. */
export function reportStep({ setting, step, exit, after, reader, cause, ballot }: EndedStep): StepReport {
  const found = findAction(step.sessionDir, step.agent.id, after);
  const reported = reader.readLast();
  const unreported =
    found.action !== null && reported === null ? [`${step.agent.id}: the step reported no cost; it counts as unknown`] : [];
  const shown = ballotRepair(ballot, found.action !== null);
  const about = ballotWarnings(shown, ballot);
  for (const warning of [...found.warnings, ...(exit.warnings ?? []), ...reader.warnings, ...unreported, ...about]) {
    setting.warn(plainLine(setting.redact(warning), 500));
  }
  return {
    action: found.action,
    failure: found.action === null ? failureOf(step, exit, found, cause, setting.redact) : null,
    stopCause: exit.stopCause as StopCause | null,
    seconds: exit.seconds,
    cost: exit.spawnError ? noCost : believed(reported, found.action === null && exit.stopCause === null && exit.signal === null),
    poison: found.poison,
    ...(shown === null ? {} : { ballot: shown }),
  };
}

/** Reads what a step left whose end nobody saw: an action on disk counts, a failure does not (design.md, "Resume"). */
export function reportLost({ agent, sessionDir, runDir, after }: LostStep, price: TokenPrice | null): StepReport {
  const found = findAction(sessionDir, agent.id, after);
  const record = readExitRecord(runDir);
  const { action, poison } = found;
  const cost = believed(createCostReader(runDir, agent.id, price).readLast(), false);
  const seconds = record ? (record.endedAt - record.startedAt) / 1000 : 0;
  const failure = action ? null : ({ class: "killed", message: "mg-team ended while it ran", log: join(runDir, "stderr.log") } as const);
  return { action, failure, stopCause: action ? null : "interrupted", seconds, cost, poison };
}

/** The report of a step that failed on our side: it could not be prepared (then it has cost nothing), or not be read. */
export function reportAccident(
  { redact }: Pick<StepSetting, "redact">,
  step: StepSpec,
  what: string,
  error: unknown,
  cost: StepCost = unknownCost,
): StepReport {
  const known = error instanceof TeamError;
  const text = known ? [error.message, error.hint].filter((part) => part !== "").join("; ") : `${what}: ${messageOf(error)}`;
  const failure: StepFailure = {
    class: known && error.code === "config" ? "config" : "crash",
    message: plainLine(redact(text)),
    log: join(step.runDir, "stderr.log"),
  };
  return { action: null, failure, stopCause: null, seconds: 0, cost, poison: null };
}

/** Of what was never started. */
export const noCost: StepCost = { usd: 0, inputTokens: 0, outputTokens: 0 };

// --- internal ---

function failureOf(step: StepSpec, exit: ChildExit, found: Findings, cause: Cause | null, redact: (text: string) => string): StepFailure {
  const { spoilt } = found;
  // A file that a stop cut short is no fault of the agent.
  if (spoilt && exit.stopCause === null) return { class: spoilt.class, message: plainLine(redact(spoilt.message)), log: spoilt.file };
  const { runDir, timeoutSeconds } = step;
  return explainFailure({ exit, cause, backend: step.agent.backend, runDir, timeoutSeconds, redact });
}

/**
 * Nothing spent is only believed of a step that failed by itself: one that acted, or was ended while a request was under way, has
 * spent something that it did not come to report.
 */
function believed(reported: StepCost | null, failedByItself: boolean): StepCost {
  if (reported === null) return unknownCost;
  const nothing = reported.usd === 0 && reported.inputTokens + reported.outputTokens === 0;
  return nothing && !failedByItself ? unknownCost : reported;
}

/** What was seen of the repair; null where there is none, or where the step did not get that far. */
function ballotRepair(ballot: BallotWatch | null, acted: boolean): BallotRepair | null {
  if (ballot === null) return null;
  return ballot.seen?.verdict ?? (acted ? "silent" : null);
}

function ballotWarnings(shown: BallotRepair | null, ballot: BallotWatch | null): string[] {
  if (shown === "silent") return [silentNote];
  if (shown !== "unexpected") return [];
  return [`MassGen's code is not what the repair of its ballot knows (${ballot?.seen?.detail}), so votes may miss their targets`];
}
