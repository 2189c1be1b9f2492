import { formatDuration } from "../../text.ts";
import { oneLine } from "../fit.ts";
import type { Style } from "../paint.ts";
import { shortCost } from "../phrases.ts";
import { type Cell, type Column, table } from "../table.ts";
import type { SessionEntry } from "./read.ts";

/** Runs as a table, in the order given; no line wider than `width`. Pure. */
export function renderSessions(sessions: readonly SessionEntry[], width: number, color: boolean): string[] {
  if (sessions.length === 0) return [];
  const column = (title: string, cell: (session: SessionEntry) => Cell, room: Pick<Column, "least" | "rank" | "align">): Column => ({
    cells: [{ text: title, style: "bold" }, ...sessions.map(cell)],
    ...room,
  });
  const columns = [
    column("RUN", ({ session_id }) => ({ text: session_id }), { least: 20, rank: 9 }),
    column("STARTED", ({ started_at }) => ({ text: localTime(started_at) }), { least: 16, rank: 3 }),
    column("OUTCOME", outcomeOf, { least: 14, rank: 8 }),
    column("COST", (session) => ({ text: costOf(session) }), { least: 8, rank: 6, align: "right" }),
    column("TIME", ({ duration_seconds: seconds }) => ({ text: seconds === null ? "" : formatDuration(Math.floor(seconds)) }), {
      least: 6,
      rank: 5,
      align: "right",
    }),
    column("MODELS", ({ models }) => ({ text: oneLine(models.map(shortModel).join(", ")) }), { least: 14, rank: 4 }),
    column("QUERY", ({ query }) => ({ text: oneLine((query ?? "").slice(0, 500)) }), { least: 24, rank: 7 }),
  ];
  return table(columns, width, color);
}

/** `2026-11-29 18:15`, in the time zone of whoever reads it. */
export function localTime(iso: string | null): string {
  const date = new Date(iso ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? "" : date.toLocaleString("sv-SE").slice(0, 16);
}

// --- internal ---

const conditions: Readonly<Partial<Record<SessionEntry["state"], Cell & { readonly style: Style }>>> = {
  running: { text: "● running", style: "cyan" },
  interrupted: { text: "■ interrupted", style: "yellow" },
  crashed: { text: "✗ crashed", style: "red" },
  not_started: { text: "- not started", style: "dim" },
};

function outcomeOf({ state, decision }: SessionEntry): Cell {
  const condition = conditions[state];
  if (condition) return condition;
  if (!decision) return { text: "? unknown", style: "dim" };
  const { kind, winner, winner_model: model } = decision;
  if (winner === null) return { text: "✗ no answer", style: "red" };
  return { text: oneLine(`✓ ${kind}: ${shortModel(model ?? winner)}`), style: kind === "consensus" ? "green" : "yellow" };
}

function costOf({ total_usd: usd, cost_known: known, started_at: started }: SessionEntry): string {
  return started === null ? "" : shortCost({ usd, known });
}

/** `gpt-5.4` of `codex/gpt-5.4`. */
function shortModel(model: string): string {
  return model.slice(model.indexOf("/") + 1);
}
