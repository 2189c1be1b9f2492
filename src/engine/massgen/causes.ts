import { parseEvent } from "./events.ts";
import { consequence, type FailureRow, rowOf, survivable } from "./failure-table.ts";
import { plainLine } from "./words.ts";

/** A line that tells why a step failed. */
export interface Cause {
  readonly stream: "stdout" | "stderr";
  /** One line, without time stamps and decoration. */
  readonly text: string;
  /** What it means; null when it is only the last thing that was said. */
  readonly row: FailureRow | null;
}

export interface Causes {
  /** Takes every line of both streams, in order. */
  line(stream: "stdout" | "stderr", line: string): void;
  /** The cause of a failure, or null when nothing was said. */
  best(): Cause | null;
}

/**
 * Listens to a step and keeps what may explain its failure: ERROR lines of its log, lines with ❌, error events, the last lines of
 * tracebacks, and whatever was said last. The newest line with a known meaning explains best: MassGen tries three times and ends with
 * sentences that only tell that it gave up.
 */
export function createCauses(): Causes {
  const known: Cause[] = [];
  let plain: Cause | null = null;
  let gaveUp: Cause | null = null;
  let lastWords: Cause | null = null;
  let lastLine = "";
  let survived = false;
  const traceback = createTracebackReader();

  const keep = (stream: Cause["stream"], text: string) => {
    const cause = { stream, text, row: rowOf(text) };
    if (consequence.test(text)) gaveUp = cause;
    else if (survivable.test(text)) lastWords = cause;
    else if (cause.row) known.push(cause);
    else plain = cause;
    if (known.length > mostKnown) known.shift();
  };

  return {
    line(stream, line) {
      const event = parseEvent(line);
      const text = event ? errorOf(event) : plainLine(line, 1000);
      if (text === null || text === "") return;
      if (event) return keep(stream, text);
      const inside = traceback.line(line, survived);
      if (inside === "skip") return;
      const error = inside ?? errorIn(text) ?? detailOf(line, lastLine);
      lastLine = text;
      survived = inside === null && error !== null && survivable.test(error);
      if (error !== null) keep(stream, error);
      else if (!unimportant.test(text)) lastWords = { stream, text, row: rowOf(text) };
    },
    best: () => known.at(-1) ?? plain ?? gaveUp ?? lastWords,
  };
}

// --- internal ---

const mostKnown = 50;

/** Status lines, and warnings with the two lines that follow the one about authlib (massgen.md, "Installing it"). */
const unimportant =
  /^(LOG_DIR|STATUS|SESSION_DIR|ACTION|RUNTIME_INBOX):|Warning\b|WARNING|^It will be compatible before|^(from|with) [\w.]+/;

function errorOf({ type, data }: { readonly type: string; readonly data: Readonly<Record<string, unknown>> }): string | null {
  if (type !== "error") return null;
  const text = data.error ?? data.message;
  return typeof text === "string" ? plainLine(text, 1000) : null;
}

/** `18:56:15 | ERROR    | Streaming error: …`, `❌ Configuration error: …`, `massgen: error: …`, `error: …` of uv and shells. */
function errorIn(text: string): string | null {
  const log = /\| (?:ERROR|CRITICAL)\s*\| (.*)$/.exec(text)?.[1];
  if (log !== undefined) return undecorated(log);
  const cross = /^(?:❌|🔴)\s*(.*)$/u.exec(text)?.[1];
  if (cross !== undefined) return undecorated(cross);
  return /^(?:[\w./-]+: )?(?:line \d+: )?(?:fatal )?error:? /i.test(text) ? text : null;
}

function undecorated(text: string): string {
  return text
    .replace(/^[\w.]+:[\w<>]+:\d+ - /, "")
    .replace(/^\[ERROR\] [\w.]+: /, "")
    .replace(/^❌\s*/u, "")
    .replace(/^(?:Streaming error|Error)(?: during MCP setup fallback)?: /, "");
}

/** "Context paths not found:" tells nothing without the "  - types/node" below it. */
function detailOf(line: string, previous: string): string | null {
  const detail = /^\s+[-•]\s+(\S.*)$/.exec(line)?.[1];
  const title = errorIn(previous);
  return detail !== undefined && title?.endsWith(":") ? `${title} ${plainLine(detail, 200)}` : null;
}

/**
 * Follows tracebacks. Gives the last line of one as the error, "skip" for its other lines and for those that were only reported in
 * passing (asyncio does so for tasks that nobody waited for, MassGen below an error that it survives), null outside.
 */
function createTracebackReader() {
  let open = false;
  let passing = false;
  return {
    line(line: string, survived: boolean): string | null {
      if (/^(Task exception was never retrieved|Exception ignored in)/.test(line)) {
        passing = true;
        return "skip";
      }
      if (line.startsWith("Traceback (most recent call last):")) {
        open = true;
        passing ||= survived;
        return "skip";
      }
      if (open) {
        if (!/^[\w.]+(?::\s|$)/.test(line)) return "skip";
        open = false;
        return passing ? "skip" : plainLine(line, 1000);
      }
      if (/^(future:|During handling of|The above exception was)/.test(line)) return "skip";
      passing = false;
      return null;
    },
  };
}
