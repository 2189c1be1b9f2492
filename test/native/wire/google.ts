import type { Reply } from "../../massgen/models/reply.ts";
import type { ErrorKind } from "./wire.ts";

/** A reply as server-sent events of `:streamGenerateContent?alt=sse`. */
export function googleEvents(reply: Reply): string[] {
  const calls = reply.calls.map(({ name, arguments: args }) => ({ functionCall: { name, args } }));
  const parts = [...(reply.text === "" ? [] : [{ text: reply.text }]), ...calls];
  const chunk = (content: readonly unknown[], finishReason: string | null) => ({
    candidates: [{ content: { parts: content, role: "model" }, index: 0, ...(finishReason === null ? {} : { finishReason }) }],
    modelVersion: "m",
    responseId: "r1",
    usageMetadata: {
      promptTokenCount: reply.usage.input,
      candidatesTokenCount: reply.usage.output,
      totalTokenCount: reply.usage.input + reply.usage.output,
    },
  });
  const chunks = [...parts.map((part) => chunk([part], null)), chunk([{ text: "" }], "STOP")];
  return (reply.cut ? chunks.slice(0, -1) : chunks).map((data) => `data: ${JSON.stringify(data)}\r\n\r\n`);
}

export function googleRefusal(): string[] {
  return [`data: ${JSON.stringify({ promptFeedback: { blockReason: "PROHIBITED_CONTENT" }, modelVersion: "m" })}\r\n\r\n`];
}

/** https://ai.google.dev/gemini-api/docs/troubleshooting */
export function googleError(kind: ErrorKind): { status: number; body: unknown } {
  const errors: Readonly<Record<ErrorKind, readonly [number, string, string, readonly unknown[]]>> = {
    key: [
      400,
      "INVALID_ARGUMENT",
      "API key not valid. Please pass a valid API key.",
      [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID", domain: "googleapis.com" }],
    ],
    quota: [
      429,
      "RESOURCE_EXHAUSTED",
      "You exceeded your rate limit. Please retry in 1.5s.",
      [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "1.5s" }],
    ],
    "empty account": [429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and billing details.", []],
    server: [500, "INTERNAL", "An internal error has occurred.", []],
    context: [400, "INVALID_ARGUMENT", "The input token count (1248577) exceeds the maximum number of tokens allowed (1048576).", []],
    model: [404, "NOT_FOUND", "models/gemini-9 is not found for API version v1beta, or is not supported for generateContent.", []],
  };
  const [status, name, message, details] = errors[kind];
  return { status, body: { error: { code: status, message, status: name, details } } };
}
