import type { Clock } from "../../clock.ts";
import type { TeamEvent } from "../../session/events.ts";
import type { RunState } from "../../session/state.ts";
import { applyActivity, emptyActivity } from "../activity.ts";
import { wrapWords } from "../fit.ts";
import { describe, type Progress } from "../progress.ts";
import { createScreen } from "../screen.ts";
import type { Terminal } from "../terminal.ts";
import { renderEnd } from "./end.ts";
import { liveModel } from "./model.ts";
import { renderLive } from "./render.ts";

/** How a run looks on a terminal: a frame that is drawn again when something has changed, and once a second. */
export function createLiveView(
  state: RunState,
  clock: Clock,
  terminal: Terminal,
  options: {
    readonly color: boolean;
    /** Makes a line fit to be shown: without secrets and control characters. What is drawn has neither. */
    readonly clean: (line: string) => string;
  },
): Progress {
  const { color, clean } = options;
  const activity = emptyActivity();
  let elapsed = { seconds: state.elapsed, at: clock.now() };
  const now = () => elapsed.seconds + clock.now() - elapsed.at;
  let waiting: NodeJS.Timeout | null = null;
  let drawnAt = Number.NEGATIVE_INFINITY;
  let started = false;

  const draw = () => {
    if (waiting !== null) clearTimeout(waiting);
    waiting = null;
    if (!started) return;
    drawnAt = performance.now();
    screen.draw(frame());
  };
  const frame = () => (started ? renderLive(liveModel(state, activity, now()), screen.width, screen.height, color) : []);
  const drawSoon = () => {
    if (waiting !== null) return;
    waiting = setTimeout(draw, Math.max(0, drawnAt + leastMilliseconds - performance.now()));
    waiting.unref();
  };
  const screen = createScreen(terminal, draw);
  const tick = setInterval(drawSoon, 1000);
  tick.unref();

  const print = (line: string) => {
    screen.print(`${wrapWords(line, terminal.columns)}\n`, frame());
  };
  return {
    observe(event) {
      elapsed = { seconds: event.elapsed, at: clock.now() };
      applyActivity(activity, event);
      started = true;
      for (const line of lasting(event, state)) print(clean(line));
      drawSoon();
    },
    print,
    close() {
      clearInterval(tick);
      if (waiting !== null) clearTimeout(waiting);
      waiting = null;
      const lines = started ? renderEnd(state, activity, terminal.columns, color) : [];
      started = false;
      // Between what was said before and the answer that follows.
      if (lines.length > 0) screen.print(`\n${lines.join("\n")}\n\n`);
      screen.close();
    },
  };
}

// --- internal ---

/** Between two frames, so that a team that talks all the time costs no more than one that is quiet. */
const leastMilliseconds = 150;

/** What must not be overwritten: it is read after the run, too. */
function lasting(event: TeamEvent, state: RunState): string[] {
  switch (event.type) {
    case "preflight.warning":
    case "agent.out":
    case "stop":
    case "run.resumed":
    case "synthesis.finished":
      return describe(event, state, false);
    case "step.started":
      return event.query === undefined ? [] : describe(event, state, false);
    default:
      return [];
  }
}
