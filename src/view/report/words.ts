import type { AgentCost, ResultLimits, RunResult } from "../../session/result.ts";
import { formatDuration, formatMoney, plural } from "../../text.ts";
import type { DecisionKind } from "../../types.ts";
import { headline } from "./clean.ts";

/** How the report says things. Pure. */

/** The decision in a word or two. */
export const kindWords: Readonly<Record<DecisionKind, string>> = {
  consensus: "Consensus",
  forced: "No consensus",
  single: "Only one left",
  none: "No answer",
};

/** The decision in a sentence: `codex/gpt-5.4 was chosen: 2 of 3 votes, in round 2.` */
export function verdictOf(result: RunResult, finished: boolean): string {
  const { decision, rounds } = result;
  const { kind, winner, winner_model: model } = decision;
  if (kind === "none" || winner === null) {
    return finished ? `Nobody was chosen: ${because(result)}.` : "This run has no result yet.";
  }
  const chosen = `${headline(model ?? "a model", 80)} (${winner}) was chosen`;
  switch (kind) {
    case "consensus":
      return `${chosen} ${votesFor(result)} in ${rounds === 1 ? "the first round" : `round ${rounds}`}.`;
    case "single":
      return `${chosen}: it was the only agent left.`;
    case "forced":
      return `${chosen} ${votesFor(result)}, because ${because(result)}.`;
  }
}

/** Why the run ended as it did, as half a sentence. */
export function because({ decision, limits }: RunResult): string {
  switch (decision.reason) {
    case "majority":
      return "more than half agreed";
    case "split_vote":
      return "the vote was split and nothing more would have changed it";
    case "max_rounds":
      return `an agent had used up its ${plural(limits.max_rounds, "round")}`;
    case "timeout":
      return `the time limit of ${formatDuration(limits.timeout_seconds)} was reached`;
    case "cost_budget":
      return limits.cost_budget === null ? "the money was used up" : `the budget of ${formatMoney(limits.cost_budget)} was used up`;
    case "interrupted":
      return "the run was interrupted";
    case "only_agent":
      return "only one agent was left";
    case "agents_failed":
      return "every agent failed";
    case "no_answers":
      return "no agent answered";
    case "plugin":
      return "a plugin ended the run";
  }
}

/** Money as it is known: `$0.42`, `≥ $0.42`, `unknown`. Unknown is never shown as nothing. */
export function costWords(cost: Pick<AgentCost, "usd" | "known"> | undefined): string {
  if (!cost || cost.known === "none" || cost.usd === null) return "unknown";
  return `${cost.known === "all" ? "" : "≥ "}${formatMoney(cost.usd)}`;
}

/** The limit that ended the run, in a sentence; null when none did. */
export function reachedWords({ reached, ...limits }: ResultLimits): string | null {
  if (reached === "max_rounds") return `The limit of ${plural(limits.max_rounds, "round")} for each agent ended this run.`;
  if (reached === "timeout") return `The time limit of ${formatDuration(limits.timeout_seconds)} ended this run.`;
  if (reached === "cost_budget") return `The budget of ${formatMoney(limits.cost_budget ?? 0)} ended this run.`;
  return null;
}

/** `12 KB`: for people, so in thousands. */
export function sizeWords(bytes: number): string {
  if (bytes < 1000) return plural(bytes, "byte");
  const [unit, value] = bytes < 1e6 ? ["KB", bytes / 1e3] : bytes < 1e9 ? ["MB", bytes / 1e6] : ["GB", bytes / 1e9];
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`;
}

/** `12,345` */
export function countWords(count: number): string {
  return count.toLocaleString("en-US");
}

/** `29 Nov 2026, 18:15 UTC`, in the time zone of whoever writes the report. */
export function dateWords(date: Date): string {
  if (Number.isNaN(date.getTime())) return "unknown";
  return date.toLocaleString("en-GB", {
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    timeZoneName: "short",
  });
}

// --- internal ---

function votesFor({ decision }: RunResult): string {
  const valid = decision.ballots.filter(({ standing }) => standing === "valid").length;
  const votes = decision.tally[decision.winner ?? ""] ?? 0;
  return valid === 0 ? "without a valid vote" : `with ${votes} of ${plural(valid, "vote")}`;
}
