import type { LanguageModelUsage, ModelMessage, SystemModelMessage, ToolSet } from "ai";
import type { z } from "zod";
import type { Clock } from "../clock.ts";
import { StepError } from "./failure.ts";
import type { StepLimits } from "./limits.ts";
import type { ConnectedModel } from "./models.ts";
import type { TokenUsage } from "./prices.ts";
import { explainProviderError, type ProviderFailure } from "./provider-error.ts";
import { watchSilence } from "./silence.ts";

/** What a model is asked in one turn. */
export interface TurnRequest {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly { readonly name: string; readonly description: string; readonly schema: z.ZodType }[];
  /** Only a tool call will do. */
  readonly demandTool: boolean;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

/** What it replied. */
export interface ModelReply {
  readonly text: string;
  /** Those whose arguments are JSON, in order; the others are answered in `messages` already. */
  readonly calls: readonly ToolCall[];
  /** Calls whose arguments are no JSON, or of tools that do not exist. */
  readonly brokenCalls: number;
  /** The reply as part of the conversation. */
  readonly messages: readonly ModelMessage[];
  /** It was cut off at the provider's limit on length. */
  readonly cut: boolean;
}

/** Who watches a model at work. */
export interface TurnObserver {
  text(delta: string): void;
  thinking(delta: string): void;
  /** A call begins to be written. */
  call(tool: string): void;
  /** An attempt failed, and after that many seconds there is another. */
  retry(message: string, seconds: number): void;
}

export interface TurnSetting {
  readonly connected: ConnectedModel;
  readonly clock: Clock;
  readonly limits: StepLimits;
  /** Ends everything at once. */
  readonly stop: AbortSignal;
  readonly observer: TurnObserver;
  /** A request is about to be sent. */
  onRequest(): void;
  /**
   * Told of every reply that began, also of those that break off or are thrown away: they cost money too.
   * @param usage null when the provider counted nothing of it
   * @param whole it was counted to its end
   */
  onUsage(usage: TokenUsage | null, whole: boolean): void;
}

/** Longest wait between two attempts in seconds; a provider that asks for more is left to the host, which can spend the time better. */
export const longestWait = 60;

/**
 * Asks the model once, and again after accidents: refusals for quota, faults of the provider, streams that break off, JSON that is none.
 * @throws StepError with the class of the last failure; or whatever `stop` was aborted with
 */
export async function askModel(setting: TurnSetting, request: TurnRequest): Promise<ModelReply> {
  const { clock, limits, stop, observer, connected } = setting;
  let silences = 0;
  for (let attempt = 1; ; attempt++) {
    try {
      return await attemptTurn(setting, request);
    } catch (thrown) {
      stop.throwIfAborted();
      if (thrown instanceof StepError) throw thrown;
      const { error, retryable, waitSeconds } =
        thrown instanceof Accident ? thrown.failure : explainProviderError(thrown, connected.provider);
      const wait = waitSeconds ?? 2 ** (attempt - 1);
      silences += error.failureClass === "timeout" ? 1 : 0;
      if (!retryable || attempt >= limits.attempts || silences > mostSilences || wait > longestWait) throw error;
      observer.retry(error.message, wait);
      await clock.sleep(wait, stop);
      stop.throwIfAborted();
    }
  }
}

// --- internal ---

/** Each has lasted for minutes already: a third one would take more than the time that a run usually has. */
const mostSilences = 1;

/** An attempt that went wrong in a way that no error tells of. */
class Accident extends Error {
  constructor(readonly failure: Omit<ProviderFailure, "refused">) {
    super(failure.error.message);
  }
}

function accident(failureClass: "model" | "timeout", message: string): Accident {
  return new Accident({ error: new StepError(failureClass, message), retryable: true, waitSeconds: null });
}

async function attemptTurn(setting: TurnSetting, request: TurnRequest): Promise<ModelReply> {
  const { connected, stop, observer } = setting;
  const { streamText, jsonSchema } = await import("ai");
  // Its warnings go to stdout and stderr as they please, and are about settings, not about the task.
  Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
  const { toJSONSchema } = await import("zod");
  const silence = watchSilence(setting.clock, setting.limits.silenceSeconds);
  const tools: ToolSet = Object.fromEntries(
    request.tools.map(({ name, description, schema }) => {
      const shape = toJSONSchema(schema) as Parameters<typeof jsonSchema>[0];
      // Checked by us, in words that help the model.
      return [name, { description, inputSchema: jsonSchema(shape, { validate: (value) => ({ success: true, value }) }) }];
    }),
  );
  let [began, counted] = [false, false];
  try {
    setting.onRequest();
    const result = streamText({
      model: connected.model,
      system: connected.cacheMarks ? marked({ role: "system", content: request.system }) : request.system,
      messages: connected.cacheMarks
        ? request.messages.map((message, index) => (index === request.messages.length - 1 ? marked(message) : message))
        : [...request.messages],
      tools,
      toolChoice: request.demandTool && connected.forcible ? "required" : "auto",
      maxRetries: 0,
      // The only sign of a reply that broke off before it said anything.
      includeRawChunks: true,
      providerOptions: connected.providerOptions,
      abortSignal: AbortSignal.any([stop, silence.signal]),
      onError: () => {},
      ...(connected.maxOutputTokens === null ? {} : { maxOutputTokens: connected.maxOutputTokens }),
      ...(connected.temperature === null ? {} : { temperature: connected.temperature }),
    });
    for await (const part of result.fullStream) {
      began ||= isOfReply(part);
      if (part.type === "raw") continue;
      silence.sign();
      if (part.type === "text-delta") observer.text(part.text);
      else if (part.type === "reasoning-delta") observer.thinking(part.text);
      else if (part.type === "tool-input-start") observer.call(part.toolName);
      else if (part.type === "error") throw part.error;
      else if (part.type === "abort") throw new Error("aborted");
      else if (part.type === "finish-step") {
        counted = true;
        setting.onUsage(usageOf(part.usage), isWhole(part));
        refuseBadEnd(part.finishReason, part.rawFinishReason);
      }
    }
    if (!counted) throw accident("model", "the reply broke off before its end");
    const [text, calls, response, finishReason] = await Promise.all([result.text, result.toolCalls, result.response, result.finishReason]);
    const whole = calls.filter((call) => call.invalid !== true);
    return {
      text,
      calls: whole.map(({ toolCallId, toolName, input }) => ({ id: toolCallId, name: toolName, input })),
      brokenCalls: calls.length - whole.length,
      messages: response.messages,
      cut: finishReason === "length",
    };
  } catch (thrown) {
    // A refusal costs nothing. What we end ourselves, or the network ends, may have been read and thought about, although nothing of it has come.
    const ended = stop.aborted || silence.signal.aborted || !explainProviderError(thrown, connected.provider).refused;
    if (!counted && (began || ended)) setting.onUsage(null, false);
    if (!stop.aborted && silence.signal.aborted) {
      throw accident("timeout", `the model gave no sign of life for ${setting.limits.silenceSeconds} s`);
    }
    throw thrown;
  } finally {
    silence.stop();
  }
}

/** How a reply may not end. A stream that breaks off brings no reason, where every provider gives one. */
function refuseBadEnd(reason: string, raw: string | undefined): void {
  if (reason === "content-filter") {
    throw new StepError("model", `the provider refused to answer this (${raw ?? "content filter"})`);
  }
  if (reason === "error") throw accident("model", `the provider broke the reply off with an error${raw === undefined ? "" : ` (${raw})`}`);
  if (reason === "other" && raw === undefined) throw accident("model", "the reply broke off before its end");
}

/** Whether a part of a stream shows that the model is at work, and costs: anything that the provider sent but an error. */
function isOfReply(part: { readonly type: string; readonly rawValue?: unknown }): boolean {
  if (part.type !== "raw") return !["start", "start-step", "error", "abort"].includes(part.type);
  const value = part.rawValue as { readonly type?: unknown; readonly error?: unknown } | null | undefined;
  return value?.type !== "error" && (value?.error ?? null) === null;
}

/** Whether a provider has counted a reply to its end; otherwise its numbers are those of the beginning, if there are any. */
function isWhole({ usage, finishReason, rawFinishReason: raw }: Ending): boolean {
  const endedBadly = finishReason === "error" || (finishReason === "other" && raw === undefined);
  return usage.inputTokens !== undefined && usage.outputTokens !== undefined && !endedBadly;
}

interface Ending {
  readonly usage: LanguageModelUsage;
  readonly finishReason: string;
  readonly rawFinishReason: string | undefined;
}

/** Anthropic keeps what comes before such a mark, so that a later turn pays a tenth for it. */
function marked<Message extends ModelMessage | SystemModelMessage>(message: Message): Message {
  return { ...message, providerOptions: { ...message.providerOptions, anthropic: { cacheControl: { type: "ephemeral" } } } };
}

function usageOf(usage: LanguageModelUsage): TokenUsage | null {
  const { inputTokens, outputTokens, inputTokenDetails: details } = usage;
  if (inputTokens === undefined && outputTokens === undefined) return null;
  return {
    input: inputTokens ?? 0,
    cachedInput: details?.cacheReadTokens ?? 0,
    cacheWrite: details?.cacheWriteTokens ?? 0,
    output: outputTokens ?? 0,
  };
}
