import type { EventBody } from "../session/events.ts";
import type { AgentId, AnswerSteps, Snapshot } from "../types.ts";

/**
 * An event without what the run can do without, for one that does not fit into a line of the journal: notes of plugins, and steps of names
 * that are not in the team, which anything that writes to the session can make up by the thousand.
 * @returns null when there is nothing to leave out
 */
export function reduced(body: EventBody, team: readonly AgentId[]): EventBody | null {
  if (body.type === "step.started") return { ...body, launched_with: snapshotOf(body.launched_with, team) };
  if (body.type !== "step.finished") return null;
  const { notes: _, ...action } = body.action;
  return { ...body, action: { ...action, launchedWith: snapshotOf(action.launchedWith, team) } };
}

/** Of answer steps those of the team. */
export function stepsOfTeam(steps: AnswerSteps, team: readonly AgentId[]): AnswerSteps {
  return Object.fromEntries(team.flatMap((id) => (Object.hasOwn(steps, id) ? [[id, steps[id] ?? 0]] : [])));
}

// --- internal ---

function snapshotOf({ answers, blank }: Snapshot, team: readonly AgentId[]): Snapshot {
  return { answers: stepsOfTeam(answers, team), blank: blank.filter((id) => team.includes(id)) };
}
