import { describe, expect, test } from "bun:test";
import { createProgress, parseEvent } from "../../../src/engine/massgen/events.ts";
import { parseStatusLine } from "../../../src/engine/massgen/status-lines.ts";
import type { StepPhase } from "../../../src/session/events.ts";

describe("a status line", () => {
  test.each([
    ["LOG_DIR: /a b/logs", { kind: "log_dir", path: "/a b/logs" }],
    ["\u001b[36mLOG_DIR:\u001b[0m /logs\r", { kind: "log_dir", path: "/logs" }],
    ["ACTION: vote", { kind: "action", action: "vote" }],
    ["  ACTION: new_answer ", { kind: "action", action: "new_answer" }],
  ] as const)("%j is understood", (line, status) => {
    expect(parseStatusLine(line)).toEqual(status);
  });

  test.each(["STATUS: /x/status.json", "LOG_DIR:", "ACTION: something", "see LOG_DIR: /x", "log_dir: /x", "", '{"event_type":"vote"}'])(
    "%j says nothing",
    (line) => {
      expect(parseStatusLine(line)).toBeNull();
    },
  );
});

describe("an event line", () => {
  test("is read with its data", () => {
    const line =
      '{"timestamp": "x", "event_type": "tool_start", "agent_id": "agent_a", "round_number": 0, "data": {"tool_name": "write_file"}}';
    expect(parseEvent(line)).toEqual({ type: "tool_start", data: { tool_name: "write_file" } });
  });

  test.each(["", "{", '{"event_type": 3}', '["event_type"]', 'x {"event_type": "vote"}', '{"event_type": "vote"'])("%j is none", (line) => {
    expect(parseEvent(line)).toBeNull();
  });

  test("without usable data has none", () => {
    expect(parseEvent('{"event_type": "vote", "data": "x"}')).toEqual({ type: "vote", data: {} });
  });
});

type Said = { readonly phase: StepPhase; readonly tool?: string; readonly text?: string };

function listen() {
  const said: Said[] = [];
  const clock = { time: 0, now: () => clock.time, date: () => 0, sleep: async () => {} };
  const progress = createProgress({
    clock,
    redact: (text) => text.replaceAll("SECRET", "[redacted]"),
    onProgress: (event) => said.push(event),
  });
  const event = (type: string, data: object = {}) => progress.line(JSON.stringify({ event_type: type, data }));
  return { said, clock, progress, event };
}

describe("progress", () => {
  test("follows a step from its start to its vote; unknown events say nothing", () => {
    const { said, progress, event } = listen();
    progress.phase("starting");
    event("evaluation_criteria_set", { criteria: [] });
    event("round_start");
    event("tool_start", { tool_name: "read_file" });
    event("tool_start", { tool_name: "write_file" });
    event("tool_complete");
    event("vote", { target_id: "agent_b" });
    progress.line("ACTION: vote");
    expect(said).toEqual([
      { phase: "starting" },
      { phase: "thinking" },
      { phase: "tool", tool: "read_file" },
      { phase: "tool", tool: "write_file" },
      { phase: "thinking" },
      { phase: "voted" },
    ]);
  });

  test("is told by the ACTION line alone when there are no events", () => {
    const { said, progress } = listen();
    progress.line("noise");
    progress.line("ACTION: new_answer");
    expect(said).toEqual([{ phase: "answered" }]);
  });

  test("tells last words at most once a second, redacted", () => {
    const { said, clock, event } = listen();
    event("text", { content: "the key is SECRET" });
    event("text", { content: " and" });
    event("text", { content: " more" });
    expect(said).toEqual([{ phase: "thinking", text: "the key is [redacted]" }]);
    clock.time = 1.5;
    event("thinking", { content: "." });
    expect(said.at(-1)).toEqual({ phase: "thinking", text: "the key is [redacted] and more." });
    event("text", { content: 3 });
    expect(said).toHaveLength(2);
  });

  test("does not go back to thinking after an answer", () => {
    const { said, event } = listen();
    event("answer_submitted", { content: "x" });
    event("tool_complete");
    event("text", { content: "bye" });
    expect(said).toEqual([{ phase: "answered" }]);
  });
});
