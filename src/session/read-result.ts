import { z } from "zod";
import { messageOf, systemCodeOf } from "../errors.ts";
import { failureClasses } from "../types.ts";
import { readRegularText } from "./regular-file.ts";
import type { RunResult } from "./result.ts";

/** What came of reading `result.json`. */
export interface ReadResult {
  /** Null when there is none, or it is not one of ours. */
  readonly result: RunResult | null;
  /** Why it cannot be used, in a sentence; null when it can, or when there is none. */
  readonly problem: string | null;
}

/** Reads `result.json` of a run. Somebody may have edited it, or a later version written it: only a whole one counts. */
export function readResult(path: string): ReadResult {
  try {
    return { result: schema.parse(JSON.parse(readRegularText(path))), problem: null };
  } catch (error) {
    if (systemCodeOf(error) === "ENOENT") return { result: null, problem: null };
    const [issue] = error instanceof z.ZodError ? error.issues : [];
    const detail = issue ? `${issue.path.join(".")}: ${issue.message}` : messageOf(error);
    return { result: null, problem: `result.json cannot be used (${detail})` };
  }
}

// --- internal ---

const text = z.string();
const maybeText = text.nullable();
const count = z.number();
const maybeCount = count.nullable();
const failureClass = z.enum(failureClasses);
const known = z.enum(["all", "partial", "none"]);

const ballot = z.object({
  voter: text,
  target: text,
  step: count,
  round: count,
  standing: z.enum(["valid", "stale", "invalid"]),
  why: text,
  self: z.boolean(),
  reason: text,
});

const decision = z.object({
  kind: z.enum(["consensus", "forced", "single", "none"]),
  reason: z.enum([
    "majority",
    "split_vote",
    "max_rounds",
    "timeout",
    "cost_budget",
    "interrupted",
    "only_agent",
    "agents_failed",
    "no_answers",
    "plugin",
  ]),
  rule: text,
  winner: maybeText,
  winner_model: maybeText,
  tally: z.record(text, count),
  ballots: z.array(ballot),
});

const limits = z.object({
  max_rounds: count,
  timeout_seconds: count,
  cost_budget: maybeCount,
  step_timeout_seconds: maybeCount,
  retries: count,
  max_parallel: maybeCount,
  allow_unpriced: z.boolean(),
  reached: z.enum(["max_rounds", "timeout", "cost_budget"]).nullable(),
});

const agentCost = z.object({ usd: maybeCount, known, input_tokens: count, output_tokens: count, unpriced_tokens: count });

const step = z.object({
  step: maybeCount,
  round: count,
  try: count,
  action: z.enum(["new_answer", "vote", "failed", "skipped", "interrupted"]),
  class: failureClass.nullable(),
  vote_target: maybeText,
  seconds: count,
  usd: maybeCount,
  launched_with: z.record(text, count).optional(),
});

const agent = z.object({
  id: text,
  model: text,
  status: z.enum(["live", "out"]),
  steps: z.array(step),
  failure: z.object({ class: failureClass, message: text, log: text }).nullable(),
});

const schema = z.looseObject({
  version: z.literal(1),
  session_id: text,
  session_dir: text,
  query: text,
  started_at: text,
  duration_seconds: count,
  exit_code: count,
  answer: maybeText,
  decision,
  rounds: count,
  limits,
  cost: z.object({ total_usd: maybeCount, known, by_agent: z.record(text, agentCost) }),
  agents: z.array(agent),
  synthesis: z.object({
    kind: z.enum(["agent", "markdown", "none"]),
    path: maybeText,
    deliverable: maybeText,
    winner: maybeText,
    why_not_agent: maybeText,
  }),
  checks: z.array(z.object({ file: text, line: count, check: text, message: text })),
  engine: z.object({ name: z.enum(["massgen", "native"]), version: text, ballot_fix: z.enum(["on", "off"]) }),
  warnings: z.array(text),
  plugins: z.record(text, z.unknown()),
});

/** Does nothing: it compiles only while the schema takes every result that can be written. */
((result: Writable<RunResult>): z.input<typeof schema> => result) satisfies unknown;

type Writable<T> = T extends object ? { -readonly [K in keyof T]: Writable<T[K]> } : T;
