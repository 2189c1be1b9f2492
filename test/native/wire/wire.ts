import { chatEvents, type Reply, responsesEvents } from "../../massgen/models/reply.ts";
import { anthropicError, anthropicEvents, anthropicRefusal } from "./anthropic.ts";
import { googleError, googleEvents, googleRefusal } from "./google.ts";

/** How one provider speaks, in the shapes that its API has on the wire. */
export interface Wire {
  readonly name: string;
  /** Backend type of the config. */
  readonly type: string;
  /** What the path of a request ends with. */
  readonly path: RegExp;
  /** The key, as a request carries it. */
  key(headers: Headers, url: URL): string | null;
  events(reply: Reply): readonly string[];
  /** A reply in which the provider refuses. */
  refusal(): readonly string[];
  error(kind: ErrorKind): { readonly status: number; readonly body: unknown };
}

export type ErrorKind = "key" | "quota" | "empty account" | "server" | "context" | "model";

const bearer = (headers: Headers) => headers.get("authorization")?.replace(/^Bearer /, "") ?? null;

const openaiErrors: Readonly<Record<ErrorKind, readonly [number, string, string, string | null]>> = {
  key: [401, "Incorrect API key provided: sk-wrong.", "invalid_request_error", "invalid_api_key"],
  quota: [429, "Rate limit reached for gpt-5.4 on tokens per min. Please try again in 1.2s.", "tokens", "rate_limit_exceeded"],
  "empty account": [
    429,
    "You exceeded your current quota, please check your plan and billing details.",
    "insufficient_quota",
    "insufficient_quota",
  ],
  server: [500, "The server had an error while processing your request. Sorry about that!", "server_error", null],
  context: [400, "Your input exceeds the context window of this model.", "invalid_request_error", "context_length_exceeded"],
  model: [404, "The model `gpt-9` does not exist or you do not have access to it.", "invalid_request_error", "model_not_found"],
};

function openaiError(kind: ErrorKind): { status: number; body: unknown } {
  const [status, message, type, code] = openaiErrors[kind];
  return { status, body: { error: { message, type, param: null, code } } };
}

function sse(event: Readonly<Record<string, unknown>>): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

function openaiRefusal(): string[] {
  const whole = responsesEvents({ text: "", calls: [], usage: { input: 10, output: 5 }, cut: false }, "m");
  const item = { id: "msg_1", type: "message", role: "assistant" };
  const part = { type: "refusal", refusal: "I can't help with that." };
  const place = { output_index: 0, item_id: "msg_1", content_index: 0 };
  return [
    whole[0] ?? "",
    sse({ type: "response.output_item.added", output_index: 0, item: { ...item, status: "in_progress", content: [] } }),
    sse({ type: "response.refusal.delta", ...place, delta: part.refusal }),
    sse({ type: "response.refusal.done", ...place, refusal: part.refusal }),
    sse({ type: "response.output_item.done", output_index: 0, item: { ...item, status: "completed", content: [part] } }),
    whole.at(-1) ?? "",
  ];
}

function chatRefusal(): string[] {
  return chatEvents({ text: "", calls: [], usage: { input: 10, output: 5 }, cut: false }, "m").map((event) =>
    event.replace('"finish_reason":"stop"', '"finish_reason":"content_filter"'),
  );
}

export const wires: readonly Wire[] = [
  {
    name: "OpenAI",
    type: "openai",
    path: /\/responses$/,
    key: bearer,
    events: (reply) => responsesEvents(reply, "m"),
    refusal: openaiRefusal,
    error: openaiError,
  },
  {
    name: "Anthropic",
    type: "claude",
    path: /\/v1\/messages$/,
    key: (headers) => headers.get("x-api-key"),
    events: anthropicEvents,
    refusal: anthropicRefusal,
    error: anthropicError,
  },
  {
    name: "Google",
    type: "gemini",
    path: /\/v1beta\/models\/m:streamGenerateContent$/,
    key: (headers, url) => headers.get("x-goog-api-key") ?? url.searchParams.get("key"),
    events: googleEvents,
    refusal: googleRefusal,
    error: googleError,
  },
  {
    name: "xAI",
    type: "grok",
    path: /\/responses$/,
    key: bearer,
    events: (reply) => responsesEvents(reply, "m"),
    // It ends such a response before it is complete.
    refusal: () =>
      responsesEvents({ text: "", calls: [], usage: { input: 10, output: 5 }, cut: false }, "m").map((event) =>
        event
          .replaceAll("response.completed", "response.incomplete")
          .replace('"status":"completed"', '"status":"incomplete","incomplete_details":{"reason":"content_filter"}'),
      ),
    error(kind) {
      const { status, body } = openaiError(kind);
      const { message } = (body as { error: { message: string } }).error;
      return { status, body: { code: kind === "context" ? "context_length_exceeded" : "xai error", error: message } };
    },
  },
  {
    name: "a local server",
    type: "vllm",
    path: /\/chat\/completions$/,
    key: bearer,
    events: (reply) => chatEvents(reply, "m"),
    refusal: chatRefusal,
    error: openaiError,
  },
];
