import { resolve } from "node:path";
import { type Clock, tickSeconds } from "../clock.ts";
import { type Criterion, readCriteria } from "../config/criteria.ts";
import { plainLine } from "../engine/massgen/words.ts";
import { messageOf, TeamError } from "../errors.ts";
import { listFiles } from "../session/deliverable.ts";
import { createRedactor } from "../session/redact.ts";
import { listOf } from "../text.ts";
import { readStepConfig, type StepConfig } from "./config.ts";
import { drawMark } from "./data.ts";
import { deliberate, type StepObserver } from "./deliberation.ts";
import { exitOf, failureLine, StepError, StepExit } from "./failure.ts";
import { connect } from "./models.ts";
import { readSession, type SeenSession } from "./peers.ts";
import { listPrice } from "./prices.ts";
import { type Assignment, openingMessage, systemPrompt } from "./prompt.ts";
import { publish } from "./publish.ts";
import { openRecord } from "./record.ts";
import { createEventStream } from "./stream.ts";
import { createMeter } from "./usage.ts";

/** One step of one agent, as `mg-team step` is asked for it. Paths may be relative to `cwd`. */
export interface NativeStep {
  readonly sessionDir: string;
  readonly configPath: string;
  readonly criteriaPath: string | null;
  readonly query: string;
  /** Event lines on stdout, status lines on stderr; else status lines on stdout. */
  readonly streamEvents: boolean;
  /** Where the step keeps its workspace and logs; absolute. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  stdout(text: string): void;
  stderr(text: string): void;
  /** Calls back when the step shall end at once, with what ended it: `SIGTERM`. Returns a function that ends it. */
  onStop(callback: (cause: string) => void): () => void;
}

/**
 * Runs one step with MassGen's contract (massgen.md): reads the answers so far, lets the model answer or vote, writes that into the session
 * directory, and ends. Never rejects for what can be expected; the last line on stderr then says why there is no action.
 */
export async function runNativeStep(step: NativeStep): Promise<StepExit> {
  const stop = new AbortController();
  const release = step.onStop((cause) => stop.abort(new StepError("killed", `ended by ${cause}`)));
  let redact = createRedactor([]);
  try {
    return await run(step, stop, (secrets) => {
      redact = createRedactor(secrets);
    });
  } catch (thrown) {
    const error = stop.signal.aborted ? (stop.signal.reason as unknown) : thrown;
    const { failureClass, message, wait } = explain(error);
    step.stderr(`${failureLine(failureClass, plainLine(redact(message), 1000), wait)}\n`);
    return exitOf(failureClass);
  } finally {
    release();
  }
}

// --- internal ---

async function run(step: NativeStep, stop: AbortController, hide: (secrets: readonly string[]) => void): Promise<StepExit> {
  const { clock, cwd, env } = step;
  const startedAt = clock.now();
  if (step.query.trim() === "") throw new TeamError("config", "a step needs a task", "Give it as the last argument.");
  const config = readStepConfig(resolve(cwd, step.configPath), env, cwd);
  const criteria = step.criteriaPath === null ? [] : await readCriteria(resolve(cwd, step.criteriaPath));
  const sessionDir = resolve(cwd, step.sessionDir);
  // Before anything slow: whoever started us noted at this moment what there was to see.
  const session = readSession(sessionDir);
  const connected = await connect(config, env);
  hide(connected.secrets);
  const limit = limitTime(stop, clock, config.limits.seconds);
  const status = (line: string) => (step.streamEvents ? step.stderr : step.stdout)(`${line}\n`);
  const note = (sentence: string) => step.stderr(`mg-team step: ${sentence}\n`);
  const record = openRecord(cwd, config.agent, `${config.type}/${config.model}`, clock.date());
  const meter = createMeter(config.price ?? listPrice(config.type, config.model, config.baseUrl));
  const stream = createEventStream({ agent: config.agent, clock, write: step.streamEvents ? step.stdout : null, note });
  try {
    for (const line of [`LOG_DIR: ${record.directory}`, `STATUS: ${record.statusFile}`, `SESSION_DIR: ${sessionDir}`]) status(line);
    if (config.ignored.length > 0) note(`the native engine has no tools for ${listOf(config.ignored)} of this config`);
    stream.event("round_start", { answers: session.candidates.length });
    const observer: StepObserver = {
      ...stream,
      asking: () => (meter.free ? undefined : record.asking(meter.total)),
      usage: () => record.usage(meter.total),
    };
    const { system, opening, reach } = await prepare(step, config, criteria, session, record.workspace, sessionDir);
    const decision = await deliberate({
      connected,
      system,
      opening,
      reach,
      limits: config.limits,
      meter,
      clock,
      stop: stop.signal,
      observer,
    });
    const seconds = clock.now() - startedAt;
    record.finish(meter.total);
    const { agent } = config;
    const { seenSteps } = session;
    const now = clock.date();
    const usage = meter.total;
    const published = await publish({
      sessionDir,
      agent,
      decision,
      seenSteps,
      workspace: record.workspace,
      seconds,
      usage,
      now,
    });
    if (published.problem !== null) note(published.problem);
    if (decision.kind === "vote") stream.event("vote", { target: decision.candidate.agent, reason: decision.reason });
    else stream.event("answer_submitted", { content: plainLine(decision.content, 500), step: published.step });
    stream.event("round_end", { action: decision.kind });
    status(`ACTION: ${decision.kind}`);
    status(`STATUS: ${published.lastAction}`);
    return StepExit.done;
  } catch (thrown) {
    record.finish(meter.total);
    stream.flush();
    throw thrown;
  } finally {
    limit.release();
  }
}

async function prepare(
  step: NativeStep,
  config: StepConfig,
  criteria: readonly Criterion[],
  { candidates }: SeenSession,
  workspace: string,
  sessionDir: string,
) {
  const mark = drawMark();
  const answers = await Promise.all(
    candidates.map(async ({ label, text, workspace: files }) => ({
      label,
      text,
      files: files === null ? null : (await listFiles(files)).map(({ path }) => path),
    })),
  );
  const { context, instructions } = config;
  const assignment: Assignment = { query: step.query, answers, criteria, context, instructions, mark, now: step.clock.date() };
  const reach = { mark, places: { workspace, candidates, context, sessionDir, foreign: new Set<string>() } };
  return { system: systemPrompt(assignment), opening: openingMessage(assignment), reach };
}

function limitTime(stop: AbortController, clock: Clock, seconds: number): { release(): void } {
  const over = new AbortController();
  const deadline = clock.now() + seconds;
  const watch = async () => {
    while (!over.signal.aborted) {
      const left = deadline - clock.now();
      if (left <= 0) {
        stop.abort(new StepError("timeout", `no answer and no vote within ${seconds} s (limits: seconds)`));
        return;
      }
      await clock.sleep(Math.min(left, tickSeconds), over.signal);
    }
  };
  void watch();
  return { release: () => over.abort() };
}

function explain(error: unknown): Pick<StepError, "failureClass" | "message"> & { readonly wait: number | null } {
  if (error instanceof StepError) return { failureClass: error.failureClass, message: error.message, wait: error.retryAfterSeconds };
  if (error instanceof TeamError) {
    const failureClass = error.code === "write" ? "crash" : "config";
    return { failureClass, message: [error.message, error.hint].filter((part) => part !== "").join(". "), wait: null };
  }
  return { failureClass: "crash", message: messageOf(error), wait: null };
}
