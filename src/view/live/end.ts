import type { RunState } from "../../session/state.ts";
import type { Activity } from "../activity.ts";
import { agentRows } from "../agent-row.ts";
import { oneLine, wrapLine } from "../fit.ts";
import { describe } from "../progress.ts";
import { renderRows } from "./render.ts";

/** What the live view leaves behind: how each agent ended, with all its seconds and money, and the decision. Lines of any width fit. Pure. */
export function renderEnd(state: RunState, activity: Activity, width: number, color: boolean): string[] {
  const { decision, round } = state;
  const rows = agentRows(state, { ...activity, ended: true }, state.elapsed).map((row) => ({ ...row, seconds: secondsOf(state, row.id) }));
  const lines = decision ? describe({ type: "decision", round, decision }, state, false) : [];
  return [...renderRows(rows, width, color), ...lines.flatMap((line) => wrapLine(oneLine(line), width))];
}

// --- internal ---

function secondsOf({ agents }: RunState, id: string): number | null {
  const steps = agents.find(({ agent }) => agent.id === id)?.steps ?? [];
  return steps.length === 0 ? null : steps.reduce((sum, { action }) => sum + action.seconds, 0);
}
