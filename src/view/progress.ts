import type { Clock } from "../clock.ts";
import type { EventBody, TeamEvent } from "../session/events.ts";
import { findAgent, type RunState } from "../session/state.ts";
import { formatCost, totalCost } from "../session/totals.ts";
import { formatDuration, formatMoney, listOf, plural } from "../text.ts";
import type { Action, AgentId } from "../types.ts";
import { oneLine } from "./fit.ts";

/** How a run says on stderr what goes on. */
export interface Progress {
  observe(event: TeamEvent): void;
  /** A line from elsewhere, such as a warning of a plugin. */
  print(line: string): void;
  /** Nothing is said any more after this; the terminal is as it was before. */
  close(): void;
}

/** Seconds of silence after which a heartbeat says who is still at work. */
const heartbeatSeconds = 30;

/** Characters of an edited query that are shown. */
const longestEdit = 300;

/**
 * Plain progress lines: for pipes, CI, and wherever there is no terminal to draw on.
 * @param state the run's state, already holding each event when it is observed
 */
export function createProgress(
  state: RunState,
  clock: Clock,
  write: (line: string) => void,
  options: { readonly verbose: boolean },
): Progress {
  const busy = new Map<AgentId, { readonly what: string; readonly since: number }>();
  let lastLine = clock.now();
  let elapsed = { seconds: 0, at: clock.now() };
  const say = (text: string) => {
    lastLine = clock.now();
    const seconds = elapsed.seconds + clock.now() - elapsed.at;
    write(`[${formatDuration(Math.floor(seconds)).padStart(6)}] ${text}`);
  };
  const timer = setInterval(() => {
    if (busy.size === 0 || clock.now() - lastLine < heartbeatSeconds) return;
    const waiting = [...busy].map(([id, { what, since }]) => `${id} (${what}, ${formatDuration(Math.floor(clock.now() - since))})`);
    say(`waiting for ${listOf(waiting)}; ${formatCost(totalCost(state))} so far`);
  }, 1000);
  timer.unref();

  return {
    observe(event) {
      elapsed = { seconds: event.elapsed, at: clock.now() };
      track(busy, event, clock);
      for (const line of describe(event, state, options.verbose)) say(line);
    },
    print: write,
    close: () => clearInterval(timer),
  };
}

/** The lines that an event is worth, without the time. */
export function describe(event: EventBody, state: RunState, verbose: boolean): string[] {
  switch (event.type) {
    case "run.started":
      return [
        `${plural(event.agents.length, "agent")}: ${listOf(event.agents.map(({ id, model }) => `${id} is ${model}`))}`,
        `files: ${event.directory}`,
      ];
    case "run.resumed":
      return [`resumed after ${formatDuration(event.elapsed_seconds)} of work`];
    case "preflight.warning":
      return [`warning: ${event.message}`];
    case "round.started":
      return [`round ${event.round}: ${listOf(event.agents)} ${event.agents.length === 1 ? "works" : "work"}`];
    case "step.started":
      if (event.query !== undefined) return [describeEdit(event.agent, event.query, event.query_file)];
      if (event.kind === "synthesis") return [`synthesis: ${event.agent} merges the answers`];
      if (event.kind === "retry") return [`${event.agent}: tries again (attempt ${event.try})`];
      return verbose ? [`${event.agent}: started, process ${event.pid}`] : [];
    case "step.progress":
      return event.phase === "tool" && verbose ? [`${event.agent}: uses ${event.tool ?? "a tool"}`] : [];
    case "step.finished":
      return [`${event.action.agent}: ${outcomeOf(event.action, event.interrupted)}${spentBy(event.action)}`];
    case "agent.out":
      return [`${event.agent} is out (${event.class}): ${event.message}${event.log ? `; log: ${event.log}` : ""}`];
    case "ballots":
      return describeBallots(event, state);
    case "stop":
      return [`stopping: ${event.message}`];
    case "decision":
      return [
        `decision: ${event.decision.kind}${event.decision.winner ? ` for ${nameOf(event.decision.winner, state)}` : ""}. ${event.decision.rule}`,
      ];
    case "synthesis.finished":
      return event.why_not_agent ? [`synthesis: the winner's answer stands as it is: ${event.why_not_agent}`] : [];
    default:
      return [];
  }
}

// --- internal ---

function track(busy: Map<AgentId, { readonly what: string; readonly since: number }>, event: TeamEvent, clock: Clock): void {
  if (event.type === "step.started") busy.set(event.agent, { what: "starting", since: clock.now() });
  if (event.type === "step.progress") {
    const what = event.phase === "tool" ? `using ${event.tool ?? "a tool"}` : event.phase;
    const known = busy.get(event.agent);
    if (known && known.what !== what) busy.set(event.agent, { what, since: clock.now() });
  }
  if (event.type === "step.finished") busy.delete(event.action.agent);
  if (event.type === "stop" || event.type === "decision") busy.clear();
}

/** On one line; a long text is only begun. */
function describeEdit(agent: AgentId, query: string, file = "the journal"): string {
  const line = oneLine(query);
  const shown = line.length > longestEdit ? `${line.slice(0, longestEdit - 1)}… (the whole is in ${file})` : line;
  return `${agent}: started with a query that a plugin edited: ${shown}`;
}

function outcomeOf(action: Action, interrupted: boolean): string {
  if (interrupted) return `stopped after ${formatDuration(action.seconds)}`;
  const after = ` after ${formatDuration(action.seconds)}`;
  switch (action.kind) {
    case "new_answer":
      return `answered${after}`;
    case "vote":
      return `voted for ${action.target === action.agent ? "itself" : action.target || "nobody"}${after}`;
    case "failed":
      return `failed${after} (${action.class}): ${action.message}`;
    case "skipped":
      return `skipped by ${action.by}: ${action.reason}`;
  }
}

function spentBy({ cost, kind }: Action): string {
  if (kind === "skipped") return "";
  if (cost.usd !== null) return `, ${formatMoney(cost.usd)}`;
  return cost.inputTokens + cost.outputTokens > 0 ? ", price unknown" : "";
}

function describeBallots({ ballots, tally, more }: EventBody & { readonly type: "ballots" }, state: RunState): string[] {
  const votes = Object.entries(tally).map(([id, count]) => `${nameOf(id, state)} ${count}`);
  const lines = votes.length > 0 && !more ? [`votes: ${votes.join(", ")}`] : [];
  for (const { voter, target, standing, why } of ballots) {
    if (standing !== "valid") lines.push(`${voter}'s vote for ${target || "nobody"} is ${standing}: ${why}`);
  }
  return lines;
}

function nameOf(id: AgentId, state: RunState): string {
  const model = findAgent(state, id)?.agent.model;
  return model ? `${id} (${model})` : id;
}
