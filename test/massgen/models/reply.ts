/** What a model says in one turn, before it is put into the words of an API. */
export interface Reply {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }[];
  readonly usage: { readonly input: number; readonly output: number };
  /** The stream ends before the reply is complete. */
  readonly cut: boolean;
}

/** A reply as server-sent events of `/v1/responses`. */
export function responsesEvents(reply: Reply, model: string): string[] {
  const id = `resp_${crypto.randomUUID()}`;
  const events: Record<string, unknown>[] = [];
  const add = (type: string, data: Record<string, unknown>) => events.push({ type, sequence_number: events.length, ...data });
  const base = { id, object: "response", created_at: 1, model, tools: [], tool_choice: "auto", parallel_tool_calls: true, metadata: {} };
  add("response.created", { response: { ...base, status: "in_progress", output: [] } });
  const output: Record<string, unknown>[] = [];
  if (reply.text !== "") {
    const message = { id: "msg_1", type: "message", role: "assistant", status: "completed" };
    const part = { type: "output_text", text: reply.text, annotations: [] };
    add("response.output_item.added", { output_index: output.length, item: { ...message, status: "in_progress", content: [] } });
    add("response.output_text.delta", { output_index: output.length, item_id: "msg_1", content_index: 0, delta: reply.text, logprobs: [] });
    add("response.output_item.done", { output_index: output.length, item: { ...message, content: [part] } });
    output.push({ ...message, content: [part] });
  }
  for (const [index, call] of reply.calls.entries()) {
    const item = { id: `fc_${index}`, type: "function_call", call_id: `call_${crypto.randomUUID()}`, name: call.name, status: "completed" };
    const text = JSON.stringify(call.arguments);
    const place = { output_index: output.length, item_id: item.id };
    add("response.output_item.added", { output_index: output.length, item: { ...item, status: "in_progress", arguments: "" } });
    add("response.function_call_arguments.delta", { ...place, delta: text });
    add("response.function_call_arguments.done", { ...place, arguments: text });
    add("response.output_item.done", { output_index: output.length, item: { ...item, arguments: text } });
    output.push({ ...item, arguments: text });
  }
  const usage = {
    input_tokens: reply.usage.input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: reply.usage.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: reply.usage.input + reply.usage.output,
  };
  add("response.completed", { response: { ...base, status: "completed", output, usage } });
  const kept = reply.cut ? events.slice(0, -1) : events;
  return kept.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

/** A reply as server-sent events of `/v1/chat/completions`. */
export function chatEvents(reply: Reply, model: string): string[] {
  const chunk = (delta: Record<string, unknown>, finish: string | null, more: Record<string, unknown> = {}) =>
    `data: ${JSON.stringify({ id: "chatcmpl_1", object: "chat.completion.chunk", created: 1, model, choices: [{ index: 0, delta, finish_reason: finish }], ...more })}\n\n`;
  const calls = reply.calls.map((call, index) => ({
    index,
    id: `call_${crypto.randomUUID()}`,
    type: "function",
    function: { name: call.name, arguments: JSON.stringify(call.arguments) },
  }));
  const events = [chunk({ role: "assistant", content: reply.text }, null)];
  if (calls.length > 0) events.push(chunk({ tool_calls: calls }, null));
  if (reply.cut) return events;
  events.push(chunk({}, calls.length > 0 ? "tool_calls" : "stop"));
  const usage = {
    prompt_tokens: reply.usage.input,
    completion_tokens: reply.usage.output,
    total_tokens: reply.usage.input + reply.usage.output,
  };
  events.push(`data: ${JSON.stringify({ id: "chatcmpl_1", object: "chat.completion.chunk", created: 1, model, choices: [], usage })}\n\n`);
  return [...events, "data: [DONE]\n\n"];
}

/** The whole reply at once, for requests that do not stream. */
export function wholeReply(path: string, reply: Reply, model: string): unknown {
  if (path.endsWith("/responses")) {
    const last = responsesEvents({ ...reply, cut: false }, model).at(-1) ?? "";
    return JSON.parse(last.slice(last.indexOf("data: ") + 6)).response;
  }
  const message = { role: "assistant", content: reply.text };
  return { id: "chatcmpl_1", object: "chat.completion", created: 1, model, choices: [{ index: 0, message, finish_reason: "stop" }] };
}

/** Bodies of errors as providers send them. */
export function errorBody(status: number): unknown {
  const [message, type, code] = errors[status] ?? ["The server had an error while processing your request.", "server_error", null];
  return { error: { message, type, param: null, code } };
}

// --- internal ---

const errors: Readonly<Record<number, readonly [string, string, string | null]>> = {
  400: ["Invalid request.", "invalid_request_error", null],
  401: ["Incorrect API key provided: xai-****.", "invalid_request_error", "invalid_api_key"],
  404: ["The model `no-such-model` does not exist or you do not have access to it.", "invalid_request_error", "model_not_found"],
  429: ["Rate limit reached. Please try again in 1s.", "rate_limit_error", "rate_limit_exceeded"],
};
