import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Clock, systemClock } from "../../src/clock.ts";
import { runNativeStep } from "../../src/native/step.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temp.ts";

/** A session directory with what a native step needs around it. */
export interface TestSession extends AsyncDisposable {
  readonly temp: TemporaryDirectory;
  /** The session directory. */
  readonly path: string;
  /** Writes an answer as MassGen does; returns the path of its workspace. */
  answer(agent: string, step: number, text: string, files?: Readonly<Record<string, string>>): string;
  vote(agent: string, step: number, target: string): void;
  /** JSON of a file below `agents/`; null without. */
  read(path: string): Readonly<Record<string, unknown>> | null;
  /** All files below `agents/`, sorted. */
  files(): string[];
  /** Runs a step in this process. */
  step(options: StepOptions): Promise<StepOutcome>;
}

export interface StepOptions {
  readonly type: string;
  readonly baseUrl: string;
  readonly model?: string;
  readonly agent?: string;
  readonly query?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly limits?: Partial<Record<"turns" | "output_tokens" | "seconds" | "silence_seconds" | "attempts", number>>;
  /** More lines below `backend:`. */
  readonly backend?: string;
  /** More of the config. */
  readonly config?: string;
  readonly criteria?: string;
  readonly streamEvents?: boolean;
  /** Asked for the date in between of all that a step does. */
  readonly date?: () => number;
  /** Told of the way to end the step. */
  readonly stopper?: (stop: (cause: string) => void) => void;
}

export interface StepOutcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Of the last line of stderr. */
  readonly failureClass: string | null;
  readonly message: string;
  /** Seconds that it wanted to wait before it asked again. */
  readonly waits: readonly number[];
}

export const keys: Readonly<Record<string, string>> = {
  OPENAI_API_KEY: "sk-test-openai-000000000000",
  ANTHROPIC_API_KEY: "sk-ant-test-0000000000000000",
  GEMINI_API_KEY: "gemini-test-00000000000000000",
  XAI_API_KEY: "xai-test-00000000000000000000",
};

export function createSession(): TestSession {
  const temp = temporaryDirectory();
  const path = temp.join("session");
  const place = (agent: string, step: number) => `session/agents/${agent}/${String(step).padStart(3, "0")}`;
  return {
    temp,
    path,
    answer(agent, step, text, files = {}) {
      const answer = { agent_id: agent, answer: text, timestamp: "2026-11-29T18:00:00+00:00" };
      temp.write(`${place(agent, step)}/answer.json`, JSON.stringify(answer, null, 2));
      for (const [name, content] of Object.entries(files)) temp.write(`${place(agent, step)}/workspace/${name}`, content);
      return temp.join(place(agent, step), "workspace");
    },
    vote(agent, step, target) {
      const vote = { voter: agent, target, reason: "", seen_steps: {}, timestamp: "2026-11-29T18:00:00+00:00" };
      temp.write(`${place(agent, step)}/vote.json`, JSON.stringify(vote));
    },
    read(name) {
      const file = join(path, "agents", name);
      return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : null;
    },
    files: () => (existsSync(join(path, "agents")) ? filesBelow(join(path, "agents")).sort() : []),
    step: (options) => runHere(temp, path, options),
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  };
}

// --- internal ---

async function runHere(temp: TemporaryDirectory, sessionDir: string, options: StepOptions): Promise<StepOutcome> {
  const {
    type,
    baseUrl,
    model = "m",
    agent = "agent_a",
    query = "What is 2+2?",
    env = keys,
    limits = {},
    backend = "",
    config = "",
  } = options;
  const own = Object.entries(limits satisfies Partial<Record<string, number>>).map(([name, value]) => `  ${name}: ${value}\n`);
  const configPath = temp.write(
    `${agent}.yaml`,
    `agents:\n  - id: ${agent}\n    backend:\n      type: ${type}\n      model: ${model}\n      base_url: ${baseUrl}\n${backend}${own.length > 0 ? `limits:\n${own.join("")}` : ""}${config}`,
  );
  const criteriaPath = options.criteria === undefined ? null : temp.write("criteria.json", options.criteria);
  const cwd = temp.join(`run_${agent}`);
  mkdirSync(cwd, { recursive: true });
  const waits: number[] = [];
  const clock: Clock = {
    ...systemClock,
    ...(options.date === undefined ? {} : { date: options.date }),
    // Waits for providers are not waited for; the short ones are those of watches.
    sleep(seconds, signal) {
      if (seconds <= 0.25) return systemClock.sleep(seconds, signal);
      waits.push(seconds);
      return Promise.resolve();
    },
  };
  let [stdout, stderr] = ["", ""];
  const code = await runNativeStep({
    sessionDir,
    configPath,
    criteriaPath,
    query,
    streamEvents: options.streamEvents ?? true,
    cwd,
    env,
    clock,
    stdout: (text) => {
      stdout += text;
    },
    stderr: (text) => {
      stderr += text;
    },
    onStop(callback) {
      options.stopper?.(callback);
      return () => {};
    },
  });
  const last = /^❌ \[(\w+)\] (.*)$/.exec(stderr.trimEnd().split("\n").at(-1) ?? "");
  return { code, stdout, stderr, failureClass: last?.[1] ?? null, message: last?.[2] ?? "", waits };
}

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1));
}
