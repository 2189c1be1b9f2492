import type { LanguageModel } from "ai";
import { demoScripts } from "./demo/script.ts";
import type { Scene, Script, ScriptedReply } from "./script-types.ts";

/** A model that follows a script. It asks nobody, costs nothing, and is otherwise treated like any other. */
export function scriptedModel(name: string, scripts: Readonly<Record<string, Script>> = demoScripts): LanguageModel {
  const script = Object.hasOwn(scripts, name) ? scripts[name] : undefined;
  const model: StreamingModel = {
    specificationVersion: "v3",
    provider: "scripted",
    modelId: name,
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error("scripted models only stream")),
    async doStream({ prompt, abortSignal }) {
      if (script === undefined) throw new Error(`there is no scripted model ${name}; there are ${Object.keys(scripts).join(", ")}`);
      const replies = script(sceneOf(prompt));
      const turn = prompt.filter(({ role }) => role === "assistant").length;
      const reply = replies[Math.min(turn, replies.length - 1)];
      if (reply === undefined) throw new Error(`the script of ${name} is empty`);
      return { stream: streamOf(partsOf(reply, JSON.stringify(prompt).length), abortSignal) };
    },
  };
  return model;
}

// --- internal ---

type StreamingModel = Extract<LanguageModel, { readonly specificationVersion: "v3" }>;
type Prompt = Parameters<StreamingModel["doStream"]>[0]["prompt"];
type Part = Awaited<ReturnType<StreamingModel["doStream"]>>["stream"] extends ReadableStream<infer T> ? T : never;

/** Milliseconds between two words: a reply takes half a second, so that there is something to watch. */
const pace = 12;
const mostWords = 40;

function sceneOf(prompt: Prompt): Scene {
  const opening = prompt.find(({ role }) => role === "user");
  const text = Array.isArray(opening?.content) ? opening.content.map((part) => (part.type === "text" ? part.text : "")).join("") : "";
  const task = /<task\.(\d+)>\n([\s\S]*?)\n<end of task\.\1>/.exec(text);
  const mark = task?.[1] ?? "";
  const answers = text.matchAll(new RegExp(`<(agent\\d+)\\.${mark}>\n([\\s\\S]*?)\n<end of \\1\\.${mark}>`, "g"));
  return { query: task?.[2] ?? "", answers: [...answers].map(([, label = "", answer = ""]) => ({ label, text: answer })) };
}

/** About four characters make a token. */
function tokensIn(characters: number): number {
  return Math.ceil(characters / 4);
}

function partsOf({ says, calls }: ScriptedReply, promptLength: number): Part[] {
  const words = says.split(/(?<=\s)/).slice(0, mostWords);
  const inputs = calls.map(({ input }) => JSON.stringify(input));
  const output = tokensIn([says, ...inputs].join("").length);
  const input = tokensIn(promptLength);
  return [
    { type: "stream-start", warnings: [] },
    { type: "text-start", id: "1" },
    ...words.map((delta) => ({ type: "text-delta", id: "1", delta }) as const),
    { type: "text-end", id: "1" },
    ...calls.flatMap(({ name }, index): Part[] => {
      const id = `call_${index}`;
      const input = inputs[index] ?? "{}";
      return [
        { type: "tool-input-start", id, toolName: name },
        { type: "tool-input-end", id },
        { type: "tool-call", toolCallId: id, toolName: name, input },
      ];
    }),
    {
      type: "finish",
      finishReason: { unified: calls.length > 0 ? "tool-calls" : "stop", raw: "scripted" },
      usage: {
        inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: output, text: output, reasoning: 0 },
      },
    },
  ];
}

function streamOf(parts: readonly Part[], abortSignal: AbortSignal | undefined): ReadableStream<Part> {
  const waiting = [...parts];
  return new ReadableStream<Part>({
    async pull(controller) {
      const part = waiting.shift();
      if (part === undefined) return controller.close();
      if (part.type === "text-delta") await Bun.sleep(pace);
      if (abortSignal?.aborted) return controller.error(abortSignal.reason);
      controller.enqueue(part);
    },
  });
}
