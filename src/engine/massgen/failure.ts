import { join } from "node:path";
import { keysFor } from "../../config/keys.ts";
import type { ChildExit } from "../../process/child.ts";
import { listOf } from "../../text.ts";
import type { FailureClass } from "../../types.ts";
import type { StepFailure } from "../engine.ts";
import type { Cause } from "./causes.ts";
import { waitAskedFor } from "./failure-table.ts";
import { plainLine } from "./words.ts";

/** What is known about a step that left no action. */
export interface FailedStep {
  readonly exit: ChildExit;
  readonly cause: Cause | null;
  readonly backend: string;
  readonly runDir: string;
  /** The step's own limit in seconds; null without. */
  readonly timeoutSeconds: number | null;
  readonly redact: (text: string) => string;
}

/** Why a step brought no action: class and a line of at most 300 characters without secrets. */
export function explainFailure(step: FailedStep): StepFailure {
  const { exit, cause, runDir } = step;
  const log = join(runDir, cause?.stream === "stdout" ? "stdout.log" : "stderr.log");
  const failure = (kind: FailureClass, text: string): StepFailure => ({ class: kind, message: plainLine(step.redact(text), 300), log });

  if (exit.spawnError) return failure(spawnClass(exit.spawnError.code), exit.spawnError.message);
  if (exit.stopCause !== null) return failure(stopClass(exit.stopCause), stopText(step, exit.stopCause));
  if (exit.signal !== null) return failure(...signalFailure(exit.signal, cause));
  if (cause?.row) {
    const { class: kind, hint } = cause.row;
    const wait = kind === "quota" ? waitAskedFor(cause.text) : undefined;
    const told = failure(kind, withHint(essence(cause.text), hint, step.backend));
    return wait === undefined ? told : { ...told, retryAfterSeconds: wait };
  }
  return failure(exitClass(exit.code, cause), withExit(exit.code, cause));
}

/** The part of a provider's error that people read: `Error code: 401 - {'error': {'message': 'Incorrect …'}}` → `401: Incorrect …`. */
export function essence(text: string): string {
  const said = /['"]message['"]: (?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")/.exec(text);
  const message = (said?.[1] ?? said?.[2])?.replace(/\\(.)/g, (_, letter: string) => (letter === "n" ? " " : letter));
  if (message === undefined || message === "") return text;
  const code = /\b(?:Error code: )?([45]\d\d)\b/.exec(text)?.[1];
  return code === undefined ? message : `${code}: ${message}`;
}

// --- internal ---

/** EMFILE, EAGAIN, ENOMEM, a disk that is full or errs, and the like pass; a missing program does not. */
function spawnClass(code: string): FailureClass {
  return ["EMFILE", "ENFILE", "EAGAIN", "ENOMEM", "ENOSPC", "EDQUOT", "EIO", "ETXTBSY"].includes(code) ? "crash" : "config";
}

function stopClass(cause: string): FailureClass {
  return cause === "step_timeout" || cause === "timeout" ? "timeout" : "killed";
}

function stopText(step: FailedStep, cause: string): string {
  const reasons: Readonly<Record<string, string>> = {
    step_timeout: `stopped: it did not act within its ${step.timeoutSeconds ?? ""} s`,
    timeout: "stopped: the time of the run is over",
    cost_budget: "stopped: the budget of the run is spent",
    interrupted: "stopped: the run was interrupted",
    plugin: "stopped by a plugin",
    ended: "stopped: the run is over",
  };
  return reasons[cause] ?? `stopped: ${cause}`;
}

function signalFailure(signal: string, cause: Cause | null): [FailureClass, string] {
  if (signal === "SIGKILL") return ["killed", "it was killed by the system (SIGKILL); most likely there was too little memory"];
  if (["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"].includes(signal)) return ["killed", `it was ended from outside (${signal})`];
  return ["crash", `it crashed (${signal})${cause ? `: ${cause.text}` : ""}`];
}

/** The exit codes of step mode (massgen.md, "Exit codes"), for causes without a meaning of their own. */
function exitClass(code: number | null, cause: Cause | null): FailureClass {
  if (code === 3) return "timeout";
  if (code === 4) return "killed";
  if (code === 126 || code === 127) return "config";
  if (code === 1) return cause && /^[\w.]*(Error|Exception)\b/.test(cause.text) ? "crash" : "config";
  if (code === 0) return "no_action";
  return code === 2 && (cause === null || /did not produce an answer or vote|use workflow tools/.test(cause.text)) ? "no_action" : "crash";
}

function withExit(code: number | null, cause: Cause | null): string {
  if (code === 0) return "it ended without an answer or a vote (exit 0)";
  return cause === null ? `it ended with exit code ${code} and said nothing` : `${essence(cause.text)} (exit ${code})`;
}

function withHint(text: string, hint: string | undefined, backend: string): string {
  if (hint === undefined) return text;
  const keys = listOf(keysFor(backend).slice(0, 3), "or") || "its key";
  const told = `; ${hint.replace("{keys}", keys)}`;
  return `${plainLine(text, 300 - told.length)}${told}`;
}
