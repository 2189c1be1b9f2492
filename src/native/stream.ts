import type { Clock } from "../clock.ts";
import { plainLine } from "../engine/massgen/words.ts";
import type { AgentId } from "../types.ts";
import type { StepObserver } from "./deliberation.ts";
import type { ToolOutcome } from "./tools.ts";

/** The event lines of a step (massgen.md, "What it prints"): one JSON object a line, of the types that MassGen has. */
export interface EventStream extends Omit<StepObserver, "usage" | "asking"> {
  event(type: string, data: Readonly<Record<string, unknown>>): void;
  /** Says what was held back. */
  flush(): void;
}

/**
 * @param write takes a line with its end; without, nothing is said
 * @param note takes a sentence for stderr
 */
export function createEventStream(options: {
  readonly agent: AgentId;
  readonly clock: Clock;
  readonly write: ((line: string) => void) | null;
  readonly note: (sentence: string) => void;
}): EventStream {
  const { agent, clock, write, note } = options;
  let held: { type: "text" | "thinking"; text: string; since: number } | null = null;

  const event = (type: string, data: Readonly<Record<string, unknown>>) => {
    if (write === null) return;
    const timestamp = new Date(clock.date()).toISOString();
    write(`${JSON.stringify({ timestamp, event_type: type, agent_id: agent, round_number: 0, data })}\n`);
  };
  const flush = () => {
    if (held !== null && held.text !== "") event(held.type, { content: held.text.toWellFormed() });
    held = null;
  };
  // A line for every token would be most of the log.
  const hold = (type: "text" | "thinking", delta: string) => {
    if (held !== null && held.type !== type) flush();
    held ??= { type, text: "", since: clock.now() };
    held.text += delta;
    if (held.text.length >= mostHeld || clock.now() - held.since >= longestHeld) flush();
  };
  const say = (type: string, data: Readonly<Record<string, unknown>>) => {
    flush();
    event(type, data);
  };
  return {
    event: say,
    flush,
    text: (delta) => hold("text", delta),
    thinking: (delta) => hold("thinking", delta),
    call: (name) => say("tool_start", { tool_name: plainLine(name, 80) }),
    tool: (name, input) => say("tool_args", { tool_name: plainLine(name, 80), args: shortened(input) }),
    toolDone: (name, { text, failed }: ToolOutcome) =>
      say("tool_complete", { tool_name: plainLine(name, 80), is_error: failed, result: plainLine(text, 300) }),
    retry(message, seconds) {
      say("status", { message: `trying again in ${Math.ceil(seconds)} s: ${message}` });
      note(`trying again in ${Math.ceil(seconds)} s: ${message}`);
    },
  };
}

// --- internal ---

/** Characters and seconds. */
const mostHeld = 1500;
const longestHeld = 0.5;

/** Whole files do not belong into a log line. */
function shortened(input: unknown): unknown {
  if (typeof input !== "object" || input === null) return plainLine(String(input), 100);
  return Object.fromEntries(
    Object.entries(input)
      .slice(0, 10)
      .map(([key, value]) => [plainLine(key, 40), typeof value === "string" ? plainLine(value, 100) : value]),
  );
}
