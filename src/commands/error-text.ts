import { type ErrorCode, ExitCode, messageOf, TeamError } from "../errors.ts";
import { neutralise } from "../session/text.ts";
import { indented, width, wrap } from "./layout.ts";

/** The one translator from errors to what a user reads. Three reactions: a bug, an expected error, a wrong command line. Pure. */

export interface ErrorReport {
  readonly exitCode: ExitCode;
  readonly code: ErrorCode | "bug";
  /** On one line each, for `--json`. */
  readonly message: string;
  readonly hint: string;
  /** For stderr, with its last newline. */
  readonly text: string;
}

/**
 * Explains anything that was thrown.
 * @param helpCommand what lists the right options, after a wrong command line: `mg-team --help`
 */
export function explainError(error: unknown, verbose: boolean, helpCommand = "mg-team --help"): ErrorReport {
  if (!(error instanceof TeamError)) return explainBug(error, verbose);
  const { code, exitCode, message, hint } = error;
  const lines = [...messageLines(message), ...hint.split("\n").flatMap(hintLines)];
  if (code === "usage" && !hint.includes("--help")) lines.push(`  All options: ${helpCommand}`);
  if (verbose && error.cause !== undefined) lines.push(...indented(stackOf(error.cause)));
  return { exitCode, code, message: oneLine(message), hint: oneLine(hint), text: neutralise(`${lines.join("\n")}\n`) };
}

/** What `--json` prints for a run that never started. */
export function errorJson({ code, message, hint }: ErrorReport): unknown {
  return { version: 1, error: { code, message, hint } };
}

// --- internal ---

function explainBug(error: unknown, verbose: boolean): ErrorReport {
  const message = messageOf(error) || "unknown error";
  const hint = verbose
    ? "This is a fault in mg-team, not in what you typed. Please report it, with these lines."
    : "This is a fault in mg-team, not in what you typed. Please report it, with what the same command prints when you add --verbose.";
  const stack = verbose ? indented(stackOf(error)) : [];
  const lines = [...messageLines(`internal error: ${message}`), ...hintLines(hint), ...stack];
  return { exitCode: ExitCode.bug, code: "bug", message, hint, text: neutralise(`${lines.join("\n")}\n`) };
}

/** The first line stands behind the program's name; the others, each with a place or a step, are only indented. */
function messageLines(message: string): string[] {
  const [first = "", ...others] = message.split("\n");
  return [...hanging(`mg-team: ${first}`, 2), ...others.flatMap((line) => hanging(`  ${line}`, 4))];
}

/** A command to type is never broken: when it doesn't fit behind its sentence it gets a line of its own. */
function hintLines(hint: string): string[] {
  if (hint === "") return [];
  const [, sentence = "", command = ""] = /^(.*?[:;,?]) ((?:mg-team|MG_TEAM_|--)\S*(?: .*)?)$/.exec(hint) ?? [];
  if (command === "" || Bun.stringWidth(hint) + 2 <= width) return indented(command === "" ? wrap(hint, width - 2) : [hint]);
  return [...indented(wrap(sentence, width - 2)), `    ${command}`];
}

function hanging(text: string, by: number): string[] {
  const [first = "", ...rest] = wrap(text.trimStart(), width - by);
  const margin = text.length - text.trimStart().length;
  return [" ".repeat(margin) + first, ...indented(rest, Math.max(by, margin + 2))];
}

function stackOf(error: unknown): string[] {
  return (error instanceof Error ? (error.stack ?? error.message) : String(error)).split("\n");
}

function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, " ").trim();
}
