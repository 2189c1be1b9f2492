import type { Clock } from "../../clock.ts";
import type { StepPhase } from "../../session/events.ts";
import type { StepEvents } from "../engine.ts";
import { parseStatusLine } from "./status-lines.ts";
import { lastWords, plainLine } from "./words.ts";

/** One line of `--stream-events`, as far as it was understood. */
export interface MassgenEvent {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Reads an event line (massgen 0.1.97, `events.py`, `MassGenEvent.to_json`); null when it is none. */
export function parseEvent(line: string): MassgenEvent | null {
  if (!line.startsWith("{") || !line.includes('"event_type"')) return null;
  try {
    const { event_type: type, data } = JSON.parse(line) as { readonly event_type?: unknown; readonly data?: unknown };
    if (typeof type !== "string") return null;
    return { type, data: typeof data === "object" && data !== null ? (data as Record<string, unknown>) : {} };
  } catch {
    return null;
  }
}

export interface Progress {
  /** Takes every line of both streams. */
  line(line: string): void;
  /** Says a phase that no line tells. */
  phase(phase: StepPhase): void;
}

/**
 * Turns what a step prints into phases: starting, thinking, tool, answered, voted. The same phase is said again only with new last
 * words, and those at most once a second. Unknown events are normal and say nothing.
 */
export function createProgress(options: {
  readonly clock: Clock;
  readonly redact: (text: string) => string;
  readonly onProgress: StepEvents["onProgress"];
}): Progress {
  const { clock, redact, onProgress } = options;
  let said: { phase: StepPhase; tool: string; at: number; text: string } = { phase: "waiting", tool: "", at: 0, text: "" };
  let words = "";

  const say = (phase: StepPhase, tool = "") => {
    const now = clock.now();
    const text = redact(lastWords(words));
    const changed = phase !== said.phase || tool !== said.tool;
    if (!changed && (text === said.text || now - said.at < 1)) return;
    said = { phase, tool, at: now, text };
    onProgress?.({ phase, ...(tool === "" ? {} : { tool }), ...(text === "" ? {} : { text }) });
  };

  const onEvent = ({ type, data }: MassgenEvent) => {
    const phase = phases[type];
    const acted = said.phase === "answered" || said.phase === "voted";
    if (phase === undefined || (acted && phase !== "answered" && phase !== "voted")) return;
    if (typeof data.content === "string" && (type === "text" || type === "thinking")) words = (words + data.content).slice(-2000);
    say(phase, phase === "tool" && typeof data.tool_name === "string" ? plainLine(redact(data.tool_name), 80) : "");
  };

  return {
    phase: say,
    line(line) {
      const event = parseEvent(line);
      if (event) onEvent(event);
      else {
        const status = parseStatusLine(line);
        if (status?.kind === "action") say(status.action === "vote" ? "voted" : "answered");
      }
    },
  };
}

// --- internal ---

// Add an event type with the phase that it begins.
const phases: Readonly<Record<string, StepPhase>> = {
  round_start: "thinking",
  text: "thinking",
  thinking: "thinking",
  tool_start: "tool",
  tool_complete: "thinking",
  answer_submitted: "answered",
  vote: "voted",
};
