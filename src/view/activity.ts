import type { StepPhase, TeamEvent } from "../session/events.ts";
import type { StepKind } from "../session/state.ts";
import type { AgentId } from "../types.ts";

/** What goes on at this moment, as the events tell it; the rest is in `RunState`. Times are seconds of the run. */
export interface Activity {
  /** Steps of rounds that are under way. */
  readonly steps: Map<AgentId, AgentActivity>;
  /** A step outside of rounds: the synthesis, or one that a plugin asked for. */
  extra: AgentActivity | null;
  /** Whose last words are shown. */
  focus: { readonly agent: AgentId; readonly since: number } | null;
  synthesis: { readonly kind: "agent" | "markdown"; readonly since: number } | null;
  /** Why the phase was told to stop; null while it was not. */
  stopping: string | null;
  /** Nothing runs any more. */
  ended: boolean;
}

export interface AgentActivity {
  readonly agent: AgentId;
  readonly kind: StepKind;
  readonly round: number;
  readonly try: number;
  readonly startedAt: number;
  readonly phase: StepPhase;
  /** The tool in use; empty without. */
  readonly tool: string;
  /** Its last words; empty before the first. */
  readonly words: string;
}

/** Seconds that the focus stays on one agent, so that its words can be read. */
export const focusSeconds = 5;

export function emptyActivity(): Activity {
  return { steps: new Map(), extra: null, focus: null, synthesis: null, stopping: null, ended: false };
}

/** Applies one event; events of unknown types change nothing. */
export function applyActivity(activity: Activity, event: TeamEvent): void {
  switch (event.type) {
    case "run.started":
    case "run.resumed":
      Object.assign(activity, emptyActivity());
      break;
    case "step.started": {
      const { agent, kind, round, try: attempt, elapsed: startedAt } = event;
      put(activity, { agent, kind, round, try: attempt, startedAt, phase: "starting", tool: "", words: "" });
      break;
    }
    case "step.progress": {
      const step = find(activity, event);
      if (!step) break;
      const { phase, tool = "", text = step.words } = event;
      put(activity, { ...step, phase, tool, words: text });
      if (text !== "" && text !== step.words) turnTo(activity, event.agent, event.elapsed);
      break;
    }
    case "step.finished":
      if (activity.extra?.agent === event.action.agent && isExtra(event.kind)) activity.extra = null;
      else activity.steps.delete(event.action.agent);
      break;
    case "synthesis.started":
      activity.synthesis = { kind: event.kind, since: event.elapsed };
      activity.stopping = null;
      break;
    case "synthesis.finished":
      activity.synthesis = null;
      break;
    case "stop":
      activity.stopping = event.message;
      break;
    case "decision":
      activity.steps.clear();
      activity.focus = null;
      break;
    case "run.finished":
      Object.assign(activity, { ...emptyActivity(), ended: true });
      break;
  }
}

/** The last words to show, and whose; null when nobody has said anything. */
export function wordsInFocus({ extra, steps, focus }: Activity): { readonly agent: AgentId; readonly words: string } | null {
  if (extra !== null) return extra.words === "" ? null : extra;
  const spoken = [...steps.values()].filter(({ words }) => words !== "");
  return spoken.find(({ agent }) => agent === focus?.agent) ?? spoken[0] ?? null;
}

// --- internal ---

function isExtra(kind: StepKind): boolean {
  return kind === "synthesis" || kind === "plugin";
}

function put(activity: Activity, step: AgentActivity): void {
  if (isExtra(step.kind)) activity.extra = step;
  else activity.steps.set(step.agent, step);
}

function find({ extra, steps }: Activity, where: Pick<AgentActivity, "agent" | "round" | "try">): AgentActivity | null {
  const isIt = (step: AgentActivity | null | undefined) =>
    step?.agent === where.agent && step.round === where.round && step.try === where.try ? step : null;
  return isIt(extra) ?? isIt(steps.get(where.agent));
}

function turnTo(activity: Activity, agent: AgentId, now: number): void {
  const { focus, steps } = activity;
  const busy = focus !== null && steps.has(focus.agent);
  if (busy && focus.agent !== agent && now - focus.since < focusSeconds) return;
  if (!busy || focus.agent !== agent) activity.focus = { agent, since: now };
}
