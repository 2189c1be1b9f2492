import type { ModelMessage, ToolModelMessage } from "ai";
import type { Clock } from "../clock.ts";
import { plural } from "../text.ts";
import { StepError } from "./failure.ts";
import type { StepLimits } from "./limits.ts";
import type { ConnectedModel } from "./models.ts";
import { fileTools, type Reach, runFileTool, type ToolOutcome } from "./tools.ts";
import { askModel, type ModelReply, type ToolCall, type TurnObserver, type TurnSetting } from "./turn.ts";
import type { UsageMeter } from "./usage.ts";
import { type Decision, decide, workflowTools } from "./workflow.ts";
import { ToolError } from "./workspace/places.ts";

/** Who watches a step at work. */
export interface StepObserver extends TurnObserver {
  tool(name: string, input: unknown): void;
  toolDone(name: string, outcome: ToolOutcome): void;
  /** A request is sent. */
  asking(): void;
  /** The sums have changed. */
  usage(): void;
}

export interface DeliberationSetting {
  readonly connected: ConnectedModel;
  readonly system: string;
  readonly opening: string;
  readonly reach: Reach;
  readonly limits: StepLimits;
  readonly meter: UsageMeter;
  readonly clock: Clock;
  /** Aborted with the StepError that the step then ends with. */
  readonly stop: AbortSignal;
  readonly observer: StepObserver;
}

/**
 * The conversation with the model, turn by turn, until it answers or votes. What it does wrong it is told, and may try again, a few times.
 * @throws StepError when it does not act within its limits, or its provider fails
 */
export async function deliberate(setting: DeliberationSetting): Promise<Decision> {
  const { reach, limits, meter, observer } = setting;
  const { candidates } = reach.places;
  const endings = workflowTools(candidates);
  const patience = createPatience();
  const messages: ModelMessage[] = [{ role: "user", content: setting.opening }];
  for (let turn = 1; ; turn++) {
    requireLeft(turn, setting);
    const closing = isClosing(turn, setting);
    const tools = closing ? endings : [...fileTools, ...endings];
    const onUsage: TurnSetting["onUsage"] = (usage, whole) => {
      meter.add(usage, whole);
      observer.usage();
    };
    const request = { system: setting.system, messages, tools, demandTool: closing || patience.silent > 1 };
    const reply = await askModel({ ...setting, onRequest: observer.asking, onUsage }, request);
    messages.push(...reply.messages);
    const { decision, results } = await runCalls(reply, setting);
    if (decision !== null) return decision;
    if (results.length > 0) addResults(messages, results);
    const words =
      patience.next(reply, results) ?? (isClosing(turn + 1, setting) ? closingWords(limits.turns - turn, candidates.length > 0) : null);
    if (words !== null) messages.push({ role: "user", content: words });
  }
}

// --- internal ---

interface Result extends ToolOutcome {
  readonly call: ToolCall;
  /** It was one that ends the step, and was refused. */
  readonly ending: boolean;
}

/** How often a model may do each kind of thing wrong. */
const mostSilent = 4;
const mostRefused = 6;
const mostUseless = 12;

/** Turns before the last one in which only an answer or a vote is left to do. */
const closingTurns = 3;

function requireLeft(turn: number, { limits, meter, stop }: DeliberationSetting): void {
  stop.throwIfAborted();
  if (turn > limits.turns) throw new StepError("no_action", `no answer and no vote in ${plural(limits.turns, "turn")} (limits: turns)`);
  if (meter.total.outputTokens >= limits.outputTokens) {
    throw new StepError("no_action", `no answer and no vote in ${meter.total.outputTokens} tokens of output (limits: output_tokens)`);
  }
}

function isClosing(turn: number, { limits, meter }: DeliberationSetting): boolean {
  const nearEnd = limits.turns > closingTurns && turn > limits.turns - closingTurns;
  return nearEnd || meter.total.outputTokens > limits.outputTokens * 0.9;
}

function closingWords(left: number, mayVote: boolean): string {
  const count = left <= closingTurns ? `: ${plural(Math.max(1, left), "reply", "replies")} left` : "";
  return `You are near the limit of this step${count}. Finish now with new_answer${mayVote ? " or vote" : ""}; files can no longer be changed.`;
}

/** Runs the calls of a reply in order. A call that ends the step does so only when it is the only one of its kind and all before it worked. */
async function runCalls(
  reply: ModelReply,
  setting: DeliberationSetting,
): Promise<{ decision: Decision | null; results: readonly Result[] }> {
  const { reach, observer, stop } = setting;
  const isEnding = ({ name }: ToolCall) => name === "new_answer" || name === "vote";
  const endings = reply.calls.filter(isEnding);
  const results: Result[] = [];
  let failed = reply.brokenCalls > 0;
  let length = 0;
  for (const call of reply.calls) {
    if (isEnding(call)) continue;
    const found = fileTools.find(({ name }) => name === call.name);
    observer.tool(call.name, call.input);
    const outcome = length > mostResults ? tooMuch : await run(found, call, reach);
    length += outcome.text.length;
    observer.toolDone(call.name, outcome);
    // An answer or a vote in the same reply is paid for; it takes a moment more.
    if (endings.length === 0) stop.throwIfAborted();
    failed ||= outcome.failed;
    results.push({ call, ending: false, ...outcome });
  }
  const [ending, ...more] = endings;
  if (ending === undefined) return { decision: null, results };
  const refuse = (text: string) => {
    const refused = endings.map((call) => ({ call, ending: true, failed: true, text: `Error: ${text}` }));
    return { decision: null, results: [...results, ...refused] };
  };
  if (more.length > 0) return refuse("call exactly one of new_answer and vote, once; nothing was submitted");
  if (failed) return refuse("another call of the same reply failed, so nothing was submitted; put that right first");
  try {
    return { decision: decide(ending.name, ending.input, reach.places.candidates), results };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return refuse(`${error.message}; nothing was submitted`);
  }
}

/** Characters of all results of one reply: what goes beyond would cost a fortune, or be refused by the model with all that was paid for. */
const mostResults = 200_000;
const tooMuch: ToolOutcome = {
  text: `Error: the results of this reply are longer than ${mostResults} characters, so this call was not run; make it again, with fewer at a time`,
  failed: true,
};

async function run(tool: (typeof fileTools)[number] | undefined, { name, input }: ToolCall, reach: Reach): Promise<ToolOutcome> {
  return tool ? runFileTool(tool, input, reach) : { text: `Error: there is no tool ${name}`, failed: true };
}

/** In one message with those that the SDK has answered already: providers want all results of a reply together. */
function addResults(messages: ModelMessage[], results: readonly Result[]): void {
  const content: ToolModelMessage["content"] = results.map(({ call, text, failed }) => ({
    type: "tool-result",
    toolCallId: call.id,
    toolName: call.name,
    output: { type: failed ? "error-text" : "text", value: text },
  }));
  const last = messages.at(-1);
  if (last?.role === "tool") last.content.push(...content);
  else messages.push({ role: "tool", content });
}

/** Counts what a model does wrong, and finds the words for it. */
function createPatience() {
  let silent = 0;
  let refused = 0;
  let useless = 0;
  let blank = false;
  return {
    get silent() {
      return silent;
    },
    /** What to say beside the results; null for nothing. Throws a StepError when it was too often. */
    next(reply: ModelReply, results: readonly Result[]): string | null {
      const refusals = results.filter(({ ending }) => ending);
      refused += refusals.length > 0 ? 1 : 0;
      blank = refusals.some(({ text }) => text.includes("is blank"));
      const worked = results.some(({ failed }) => !failed);
      useless = worked ? 0 : useless + 1;
      silent = reply.calls.length + reply.brokenCalls > 0 ? 0 : silent + 1;
      if (refused >= mostRefused) {
        const last = refusals.at(-1)?.text ?? "";
        throw new StepError(blank ? "empty" : "no_action", `the model's answer or vote was refused ${refused} times; last: ${last}`);
      }
      if (silent >= mostSilent)
        throw new StepError("no_action", `the model neither answered nor voted, although it was asked ${silent} times`);
      if (useless >= mostUseless) throw new StepError("no_action", `the model's last ${useless} replies did nothing that worked`);
      if (silent === 0) return null;
      if (reply.cut) return "Your reply was cut off at the limit on its length. Go on with a tool call; write long files in several parts.";
      return "Nothing of this is seen by anybody. Finish your work, then call new_answer or vote; only a tool call counts.";
    },
  };
}
