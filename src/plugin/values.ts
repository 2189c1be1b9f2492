import { z } from "zod";
import type { RunResult } from "../session/result.ts";
import { type Deliberation, decisionReasons } from "../types.ts";
import type { HookName, SynthesisDocument } from "./hooks.ts";

/** What is wrong with the value of a hook as a tap leaves it, completing "it left …"; null when the run can go on with it. */
export function problemWith(hook: HookName, value: unknown): string | null {
  switch (hook) {
    case "beforeLaunch":
      return mismatch("a launch request that cannot be used", launchSchema, value);
    case "onConsensus":
      return problemOfVerdict(value as Deliberation);
    case "onSynthesis":
      return mismatch("a document that cannot be written", documentSchema, value) ?? problemOfData((value as SynthesisDocument).result);
    case "onFinish":
      return problemOfData(value as RunResult);
    case "onAction":
    case "onEvent":
      return null;
  }
}

// --- internal ---

const launchSchema = z.object({
  query: z.string().min(1),
  args: z.array(z.string()),
  env: z.record(z.string(), z.string()),
  skip: z.object({ reason: z.string(), by: z.string() }).nullable(),
});

const documentSchema = z.object({
  answer: z.string(),
  markdown: z.string(),
  madeBy: z.string().nullable(),
  whyNotAgent: z.string().nullable(),
});

const verdictSchema = z.object({
  kind: z.enum(["consensus", "forced", "single", "none"]),
  reason: z.enum(decisionReasons),
  winner: z.string().nullable(),
  rule: z.string(),
});

const standingSchema = z.object({ standing: z.enum(["valid", "stale", "invalid"]), why: z.string() });

function problemOfVerdict({ agents, current, verdict }: Deliberation): string | null {
  for (const { ballot } of agents) {
    const wrong = ballot && mismatch(`a ballot of ${ballot.voter} that cannot be counted`, standingSchema, ballot);
    if (wrong) return wrong;
  }
  if (verdict === null) return null;
  const wrong = mismatch("a verdict that is none", verdictSchema, verdict);
  if (wrong !== null) return wrong;
  const { kind, winner } = verdict;
  if (kind === "none" || (kind === "forced" && winner === null) || (winner !== null && current[winner] !== undefined)) return null;
  return `a verdict for ${winner ?? "nobody"}, which has no answer`;
}

const findingSchema = z.object({ file: z.string(), line: z.number(), check: z.string(), message: z.string() });

/** What JSON cannot hold is taken out again: the result must be written. */
function problemOfData(result: RunResult): string | null {
  const { plugins, warnings } = result;
  let problem = mismatch("checks that are none", z.array(findingSchema), result.checks);
  if (problem !== null) result.checks = [];
  if (warnings.some((warning) => typeof warning !== "string")) {
    problem = "a warning that is no text";
    warnings.splice(0, warnings.length, ...warnings.map(String));
  }
  for (const [name, data] of Object.entries(plugins)) {
    try {
      JSON.stringify(data);
    } catch (error) {
      delete plugins[name];
      problem = `data in plugins.${name} that JSON cannot hold (${error instanceof Error ? error.message : error})`;
    }
  }
  return problem;
}

function mismatch(what: string, schema: z.ZodType, value: unknown): string | null {
  const { error } = schema.safeParse(value);
  return error ? `${what} (${z.prettifyError(error).replace(/\s*\n\s*/g, " ")})` : null;
}
