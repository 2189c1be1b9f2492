import type { Reply } from "../../massgen/models/reply.ts";
import type { ErrorKind } from "./wire.ts";

/** A reply as server-sent events of `/v1/messages`. */
export function anthropicEvents(reply: Reply): string[] {
  const blocks: Block[] = reply.text === "" ? [] : [{ start: { type: "text", text: "" }, delta: { type: "text_delta", text: reply.text } }];
  for (const [index, { name, arguments: input }] of reply.calls.entries()) {
    blocks.push({
      start: { type: "tool_use", id: `toolu_${index}`, name, input: {} },
      delta: { type: "input_json_delta", partial_json: JSON.stringify(input) },
    });
  }
  return message(blocks, reply.calls.length > 0 ? "tool_use" : "end_turn", reply);
}

export function anthropicRefusal(): string[] {
  return message([], "refusal", { usage: { input: 10, output: 5 }, cut: false });
}

/** https://docs.claude.com/en/api/errors */
export function anthropicError(kind: ErrorKind): { status: number; body: unknown } {
  const errors: Readonly<Record<ErrorKind, readonly [number, string, string]>> = {
    key: [401, "authentication_error", "invalid x-api-key"],
    quota: [429, "rate_limit_error", "This request would exceed your organization's rate limit of 30,000 input tokens per minute."],
    "empty account": [400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API."],
    server: [500, "api_error", "Internal server error"],
    context: [400, "invalid_request_error", "prompt is too long: 214315 tokens > 200000 maximum"],
    model: [404, "not_found_error", "model: claude-9"],
  };
  const [status, type, text] = errors[kind];
  return { status, body: { type: "error", error: { type, message: text }, request_id: "req_1" } };
}

interface Block {
  readonly start: Readonly<Record<string, unknown>>;
  readonly delta: Readonly<Record<string, unknown>>;
}

function message(blocks: readonly Block[], reason: string, { usage, cut }: Pick<Reply, "usage" | "cut">): string[] {
  const head = { id: "msg_1", type: "message", role: "assistant", model: "m", content: [], stop_reason: null, stop_sequence: null };
  const events: Readonly<Record<string, unknown>>[] = [
    {
      type: "message_start",
      message: {
        ...head,
        usage: { input_tokens: usage.input, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 1 },
      },
    },
    { type: "ping" },
    ...blocks.flatMap(({ start, delta }, index) => [
      { type: "content_block_start", index, content_block: start },
      { type: "content_block_delta", index, delta },
      { type: "content_block_stop", index },
    ]),
    { type: "message_delta", delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: usage.output } },
    { type: "message_stop" },
  ];
  return (cut ? events.slice(0, -2) : events).map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}
