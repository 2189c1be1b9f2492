import { isAbsolute } from "node:path";
import { decisionReasons, failureClasses } from "../types.ts";
import type { EventBody } from "./events.ts";

/**
 * Whether a line of a journal is what its type says: somebody may have edited the file, or a later version written it. Whatever folds or shows
 * events relies on it. By hand, as a journal may have a hundred thousand lines. Fields that nobody reads, and unknown types, are not looked at.
 */
export function hasEventShape(event: Fields): boolean {
  const check = Object.hasOwn(shapes, String(event.type)) ? shapes[event.type as EventBody["type"]] : null;
  return check === null || check(event);
}

// --- internal ---

type Fields = Readonly<Record<string, unknown>>;
type Check = (value: unknown) => boolean;

const text: Check = (value) => typeof value === "string";
const flag: Check = (value) => typeof value === "boolean";
const number: Check = (value) => typeof value === "number" && Number.isFinite(value);
/** No run has more rounds or tries; tables are made as long as these numbers say. Numbers of steps are whatever stands on the disk. */
const count: Check = (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 1_000_000;
/** It becomes a part of paths. */
const id: Check = (value) => typeof value === "string" && value !== "" && value !== "." && value !== ".." && !/[/\\\0]/.test(value);
/** Below the run's directory. */
const inside: Check = (value) => typeof value === "string" && !isAbsolute(value) && !value.split(/[/\\]/).includes("..");
const maybe =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const mapOf =
  (check: Check): Check =>
  (value) =>
    isRecord(value) && Object.values(value).every(check);
const oneOf = (...words: readonly string[]): Check => {
  const known: ReadonlySet<unknown> = new Set(words);
  return (value) => known.has(value);
};
const object = (fields: Readonly<Record<string, Check>>): Check => {
  const checks = Object.entries(fields);
  return (value) => isRecord(value) && checks.every(([name, check]) => check(value[name]));
};

function isRecord(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const limits = object({
  maxRounds: number,
  timeoutSeconds: number,
  costBudget: maybe(number),
  stepTimeoutSeconds: maybe(number),
  retries: number,
  maxParallel: maybe(number),
  allowUnpriced: flag,
});
const cost = object({ usd: maybe(number), inputTokens: number, outputTokens: number });
const steps = mapOf(number);
const snapshot = object({ answers: steps, blank: listOf(text) });
const kind = oneOf("round", "retry", "synthesis", "plugin");
const reason = oneOf(...decisionReasons);
const verdict = object({ kind: oneOf("consensus", "forced", "single", "none"), reason, winner: maybe(text), rule: text });
const place = { agent: id, round: count, try: count };
const failure = { class: oneOf(...failureClasses), message: text, log: text };

const action = object({ ...place, launchedWith: snapshot, seconds: number, cost, at: number, notes: optional(listOf(text)) });
const deeds: Readonly<Record<string, Check>> = {
  new_answer: object({ step: number }),
  vote: object({ step: number, target: text, reason: text, seenSteps: maybe(steps) }),
  failed: object(failure),
  skipped: object({ reason: text, by: text }),
};
const isAction: Check = (value) => action(value) && isRecord(value) && (deeds[String(value.kind)]?.(value) ?? false);
const standing = object({
  voter: id,
  target: text,
  step: number,
  round: count,
  self: flag,
  standing: oneOf("valid", "stale", "invalid"),
  why: text,
});

/** To add a type of event, add a line: it does not compile without. */
const shapes: Readonly<Record<EventBody["type"], Check>> = {
  "run.started": object({
    session_id: text,
    directory: text,
    agents: listOf(object({ id, model: text })),
    limits,
    engine: object({ name: text, version: text, ballot_fix: text }),
    mg_team: text,
  }),
  "preflight.warning": object({ message: text }),
  "round.started": object({ round: count, agents: listOf(id) }),
  "step.started": object({
    ...place,
    kind,
    launched_with: snapshot,
    after: number,
    run_dir: inside,
    query: optional(text),
    query_file: optional(text),
  }),
  "step.progress": object({ ...place, phase: text, tool: optional(text), text: optional(text) }),
  "step.cost": object({ ...place, cost }),
  "step.finished": object({ kind, action: isAction, retry: flag, interrupted: flag, ballot: optional(text) }),
  ballots: object({ round: count, ballots: listOf(standing), tally: mapOf(number), more: optional(flag) }),
  "agent.out": object({ agent: id, ...failure }),
  "limit.reached": object({ reason, message: text }),
  stop: object({ reason, message: text, stopped: listOf(text) }),
  decision: object({ round: count, decision: verdict }),
  "synthesis.started": object({ kind: oneOf("agent", "markdown"), model: optional(text) }),
  "synthesis.finished": object({ kind: oneOf("agent", "markdown", "none"), path: text, why_not_agent: optional(text) }),
  "plugin.error": object({ plugin: text, hook: text, message: text, file: optional(text) }),
  "run.resumed": object({ elapsed_seconds: number, limits, decided: optional(flag) }),
  "run.finished": object({ exit_code: number, decision: verdict, total_usd: maybe(number), elapsed_seconds: number }),
};
