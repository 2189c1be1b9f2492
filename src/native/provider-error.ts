import type { APICallError } from "ai";
import { rowOf, waitAskedFor } from "../engine/massgen/failure-table.ts";
import { plainLine } from "../engine/massgen/words.ts";
import { listOf } from "../text.ts";
import type { FailureClass } from "../types.ts";
import { StepError } from "./failure.ts";

/** What to do about an error of a provider. */
export interface ProviderFailure {
  readonly error: StepError;
  /** Whether asking again may help, and after how many seconds; null when the provider did not say. */
  readonly retryable: boolean;
  readonly waitSeconds: number | null;
  /** The request was refused, or never came to the provider: unless it had begun to reply, it has cost nothing. */
  readonly refused: boolean;
}

/**
 * Understands whatever a provider, or the network on the way to it, threw: class, words, and whether another attempt makes sense. The texts of
 * providers are the same that MassGen prints, so its table reads them.
 * @param from whom was asked, for the hints
 */
export function explainProviderError(thrown: unknown, { keys, url, local }: Provider): ProviderFailure {
  const { status, text, headers } = factsOf(thrown);
  if (status === null && unreachable.test(`${text} ${codesOf(thrown)}`)) {
    const hint = local ? "is the server running?" : "is the network up?";
    // A server of one's own that is not there will not be there in a second.
    return {
      error: new StepError("model", `nobody answers at ${url}; ${hint}`, { cause: thrown }),
      retryable: !local,
      waitSeconds: null,
      refused: true,
    };
  }
  const row = rowOf(status === null ? text : `Error code: ${status} - ${text}`);
  const failureClass = classOf(status, row?.class ?? null);
  const hint = row?.hint?.replace("{keys}", listOf(keys, "or") || "the key") ?? "";
  const shown = plainLine(`${status === null ? "" : `${status}: `}${messageIn(text)}`, 400);
  const waitSeconds = askedWait(headers) ?? (failureClass === "quota" ? (waitAskedFor(text) ?? null) : null);
  const error = new StepError(failureClass, hint === "" ? shown : `${shown}; ${hint}`, {
    cause: thrown,
    ...(failureClass === "quota" && waitSeconds !== null ? { retryAfterSeconds: waitSeconds } : {}),
  });
  return { error, retryable: mayHelp(status, failureClass, text, thrown), waitSeconds, refused: status !== null };
}

/** Whom a step asks. */
export interface Provider {
  /** The variables of its key. */
  readonly keys: readonly string[];
  readonly url: string;
  /** It is a server on this machine. */
  readonly local: boolean;
}

// --- internal ---

const unreachable = /ConnectionRefused|ECONNREFUSED|FailedToOpenSocket|Unable to connect|ENOTFOUND|EAI_AGAIN|getaddrinfo/;

/** The system's codes of an error and of what caused it. */
function codesOf(thrown: unknown): string {
  const codes: string[] = [];
  for (let error = thrown; error instanceof Error && codes.length < 5; error = error.cause) {
    codes.push(String((error as { readonly code?: unknown }).code ?? ""));
  }
  return codes.join(" ");
}

interface Facts {
  /** HTTP status; null for an error in the middle of a stream, or of the network. */
  readonly status: number | null;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

function factsOf(thrown: unknown): Facts {
  if (isCallError(thrown)) {
    const body = thrown.responseBody ?? "";
    const status = thrown.statusCode ?? null;
    // A stream that breaks off is reported with the status of its beginning.
    const failed = status === null || status < 400 ? null : status;
    return { status: failed, text: body.trim() === "" || failed === null ? thrown.message : body, headers: thrown.responseHeaders ?? {} };
  }
  if (thrown instanceof Error) return { status: null, text: thrown.message || thrown.name, headers: {} };
  const text = typeof thrown === "string" ? thrown : (JSON.stringify(thrown) ?? String(thrown));
  const code = (thrown as { readonly code?: unknown } | null)?.code;
  return { status: typeof code === "number" && code >= 400 && code < 600 ? code : null, text, headers: {} };
}

/** By its name: the SDK is only loaded when a provider is asked. */
function isCallError(thrown: unknown): thrown is APICallError {
  return thrown instanceof Error && thrown.name === "AI_APICallError";
}

/** The status says most; what it leaves open, the text does. */
function classOf(status: number | null, fromText: FailureClass | null): FailureClass {
  if (status === 401) return "auth";
  if (status === 403) return fromText === "quota" ? "quota" : "auth";
  if (status === 402 || status === 429 || status === 529) return "quota";
  return fromText === "auth" || fromText === "quota" ? fromText : "model";
}

/** Accidents pass; a wrong key, an empty account, a model that does not exist and a prompt that is too long do not. */
function mayHelp(status: number | null, failureClass: FailureClass, text: string, thrown: unknown): boolean {
  if (failureClass === "auth" || status === 402 || /insufficient_quota|exceeded your current quota|credit balance/i.test(text))
    return false;
  if (failureClass === "quota") return true;
  if (status !== null) return status >= 500 || status === 408 || status === 409;
  if (/context_length_exceeded|maximum context length|prompt is too long|invalid_request_error|not_found/i.test(text)) return false;
  return !(isCallError(thrown) && thrown.isRetryable === false && thrown.statusCode !== undefined && thrown.statusCode >= 400);
}

/** `retry-after-ms: 1500`, `retry-after: 7`, `retry-after: Wed, 21 Oct 2026 07:28:00 GMT`; in seconds, null without. */
function askedWait(headers: Readonly<Record<string, string>>): number | null {
  const milliseconds = Number.parseFloat(headers["retry-after-ms"] ?? "");
  if (Number.isFinite(milliseconds) && milliseconds >= 0) return milliseconds / 1000;
  const after = headers["retry-after"]?.trim() ?? "";
  if (/^\d+(\.\d+)?$/.test(after)) return Number(after);
  const date = after === "" ? Number.NaN : Date.parse(after);
  return Number.isNaN(date) ? null : Math.max(0, (date - Date.now()) / 1000);
}

/** What the provider says to people, out of its JSON: `{"error":{"message":"…"}}`, also in a list as Google sends it. */
function messageIn(text: string): string {
  try {
    const parsed: unknown = JSON.parse(text);
    const body = (Array.isArray(parsed) ? parsed[0] : parsed) as { readonly error?: unknown; readonly message?: unknown } | null;
    const inner = body?.error as { readonly message?: unknown } | string | undefined;
    const message = typeof inner === "string" ? inner : (inner?.message ?? body?.message);
    return typeof message === "string" && message !== "" ? message : text;
  } catch {
    return text;
  }
}
