import type { AgentCost, ResultCost } from "../session/result.ts";
import { formatMoney } from "../text.ts";
import type { AgentPhase, AgentRow } from "./agent-row.ts";
import { oneLine } from "./fit.ts";
import type { Style } from "./paint.ts";

/** How the views say things: each phase with its sign and colour, and in words, so that no view depends on colour. Pure. */

/** To add a phase: its word in agent-row.ts, its sign here. */
export const signs: Readonly<Record<AgentPhase, { readonly sign: string; readonly style: Style }>> = {
  waiting: { sign: "·", style: "dim" },
  starting: { sign: "○", style: "cyan" },
  thinking: { sign: "●", style: "cyan" },
  tool: { sign: "●", style: "cyan" },
  answered: { sign: "✓", style: "green" },
  voted: { sign: "→", style: "magenta" },
  stale: { sign: "~", style: "yellow" },
  invalid: { sign: "?", style: "yellow" },
  failed: { sign: "✗", style: "red" },
  retrying: { sign: "↻", style: "yellow" },
  skipped: { sign: "-", style: "yellow" },
  stopped: { sign: "■", style: "yellow" },
  out: { sign: "✗", style: "red" },
};

/** What an agent is at: `using write_file`, `voted for agent_a`, `out, auth: the key was refused`. One line. */
export function phraseOf({ id, phase, detail, why, running }: Pick<AgentRow, "id" | "phase" | "detail" | "why" | "running">): string {
  const what = oneLine(detail);
  const because = why === "" ? "" : `: ${oneLine(why)}`;
  switch (phase) {
    case "tool":
      return `using ${what || "a tool"}`;
    case "voted":
      // A step that is about to end has not said for whom yet.
      if (running) return "has voted";
      return `voted for ${targetOf(what, id)}`;
    case "stale":
    case "invalid":
      return `${phase} vote for ${targetOf(what, id)}${because}`;
    case "retrying":
      return `tries again; ${what}`;
    case "failed":
    case "out":
    case "skipped":
      return what === "" ? phase : `${phase}${phase === "skipped" ? " " : ", "}${what}`;
    default:
      return phase;
  }
}

/** The same where room is short: `for agent_a`. */
export function briefPhraseOf(row: Pick<AgentRow, "id" | "phase" | "detail" | "why" | "running">): string {
  const { id, phase, detail, running } = row;
  if (phase === "voted" && !running) return `for ${targetOf(oneLine(detail), id)}`;
  if (phase === "stale" || phase === "invalid") return `${phase}: ${targetOf(oneLine(detail), id)}`;
  return phase === "tool" ? oneLine(detail) || "using a tool" : phraseOf(row);
}

/** A vote's target as one says it. */
export function targetOf(target: string, voter: string): string {
  return target === voter ? "itself" : target || "nobody";
}

/** `$0.42`, `≥ $0.42` where steps without a price are left out, `$ ?` where nothing is known. */
export function shortCost({ usd, known }: Pick<AgentCost, "usd" | "known">): string {
  if (known === "none" || usd === null) return "$ ?";
  return `${known === "all" ? "" : "≥ "}${formatMoney(usd)}`;
}

export function shortTotal({ total_usd: usd, known }: ResultCost): string {
  return shortCost({ usd, known });
}
