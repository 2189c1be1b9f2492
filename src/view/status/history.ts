import type { TeamEvent } from "../../session/events.ts";
import type { StepKind } from "../../session/state.ts";
import type { Action, AgentId, Standing } from "../../types.ts";
import type { TimelineMark } from "./shape.ts";

/** Every attempt of every agent in the order of rounds, as the events tell it. */
export interface History {
  /** By agent, round and attempt. */
  readonly marks: Map<string, Mutable<TimelineMark>>;
  /** Those that are votes, by voter and step. */
  readonly votes: Map<string, Mutable<TimelineMark>>;
}

export function emptyHistory(): History {
  return { marks: new Map(), votes: new Map() };
}

/** Applies one event. */
export function applyHistory({ marks, votes }: History, event: TeamEvent): void {
  switch (event.type) {
    case "step.started":
      if (inRounds(event.kind)) marks.set(keyOf(event), markOf(event, { action: "running" }));
      break;
    case "step.finished": {
      if (!inRounds(event.kind)) break;
      const mark = markOf(event.action, deedOf(event.action, event.interrupted));
      marks.set(keyOf(event.action), mark);
      if (mark.action === "vote") votes.set(`${mark.agent}/${mark.step}`, mark);
      break;
    }
    case "ballots":
      for (const { voter, step, standing } of event.ballots) {
        const mark = votes.get(`${voter}/${step}`);
        if (mark) mark.standing = standing;
      }
      break;
  }
}

/**
 * The timeline as it is now.
 * @param standings of the latest votes, which may have changed since the last barrier
 * @param running whether a process works on the run: without one, what was started is lost
 */
export function timelineOf(
  { marks }: History,
  standings: ReadonlyMap<AgentId, { readonly step: number; readonly standing: Standing }>,
  running: boolean,
): TimelineMark[] {
  return [...marks.values()].map((mark) => {
    const ballot = standings.get(mark.agent);
    if (mark.action === "vote" && ballot?.step === mark.step) return { ...mark, standing: ballot.standing };
    return mark.action === "running" && !running ? { ...mark, action: "stopped" } : mark;
  });
}

// --- internal ---

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };
type Place = { readonly agent: AgentId; readonly round: number; readonly try: number };

function inRounds(kind: StepKind): boolean {
  return kind === "round" || kind === "retry";
}

function keyOf({ agent, round, try: attempt }: Place): string {
  return `${agent}/${round}/${attempt}`;
}

function markOf({ agent, round, try: attempt }: Place, deed: Partial<TimelineMark> & Pick<TimelineMark, "action">): Mutable<TimelineMark> {
  return { agent, column: round, try: attempt, step: null, target: null, standing: null, class: null, ...deed };
}

function deedOf(action: Action, interrupted: boolean): Partial<TimelineMark> & Pick<TimelineMark, "action"> {
  if (interrupted) return { action: "stopped" };
  switch (action.kind) {
    case "new_answer":
      return { action: "new_answer", step: action.step };
    case "vote":
      return { action: "vote", step: action.step, target: action.target, standing: "valid" };
    case "failed":
      return { action: "failed", class: action.class };
    case "skipped":
      return { action: "skipped" };
  }
}
