import type { Input } from "../config/query.ts";
import { systemCodeOf } from "../errors.ts";

/** The streams of the program as commands see them. Nothing else writes to stdout: `console.log` hides errors (reliability.md). */

export interface Output {
  /** Queues text; never throws, never waits. After a reader has gone it does nothing. */
  write(text: string): void;
  /** Anything was written. */
  readonly wrote: boolean;
  /** Nothing arrives any more: a write has failed, mostly because the reader is gone. Nobody can tell before something is written. */
  readonly closed: boolean;
  readonly isTerminal: boolean;
  /** Width in columns; 80 where it is unknown. */
  readonly columns: number;
  /** Waits for everything that was written. Returns the error that lost some of it; null when all arrived, or the reader went away (EPIPE). */
  flush(): Promise<Error | null>;
}

/** Standard input of a command. */
export interface StandardInput extends Input {
  readonly isTerminal: boolean;
  /** One line of somebody who was asked, without its line feed; what there is when the input ends before. Absent where nobody can be asked. */
  readLine?(): Promise<string>;
}

/** What an output needs of a stream of Node. */
export interface WritableStream {
  write(text: string, done: (error?: Error | null) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** Wraps process.stdout or process.stderr. */
export function createOutput(stream: WritableStream): Output {
  // Bound now: what plugins write to the stream later goes elsewhere (`keepStdoutClean`).
  const writeTo = stream.write.bind(stream);
  let wrote = false;
  let failed: Error | null = null;
  let last: Promise<void> = Promise.resolve();
  // Without a listener an EPIPE would end the program in the middle of its shutdown.
  stream.on("error", (error) => {
    failed ??= error;
  });
  return {
    write(text) {
      if (text === "" || failed !== null) return;
      wrote = true;
      const before = last;
      const written = new Promise<void>((resolve) => {
        writeTo(text, (error) => {
          if (error) failed ??= error;
          resolve();
        });
      });
      last = before.then(() => written);
    },
    get wrote() {
      return wrote;
    },
    get closed() {
      return failed !== null;
    },
    isTerminal: stream.isTTY === true,
    get columns() {
      return stream.columns || 80;
    },
    async flush() {
      await last;
      return failed !== null && systemCodeOf(failed) !== "EPIPE" ? failed : null;
    },
  };
}

/** Wraps process.stdin, which is touched only when it is read. `say` tells a person at a terminal that input is waited for. */
export function createInput(stream: () => NodeJS.ReadStream, isTerminal: boolean, say: (text: string) => void): StandardInput {
  return {
    isTerminal,
    async read(limit) {
      if (isTerminal) say("mg-team: type the query; end it with Ctrl-D on a line of its own\n");
      const parts: Uint8Array[] = [];
      let size = 0;
      for await (const part of stream()) {
        const bytes = typeof part === "string" ? Buffer.from(part) : part;
        parts.push(bytes);
        size += bytes.length;
        if (size > limit) break;
      }
      return Buffer.concat(parts);
    },
    readLine: () => readLine(stream()),
  };
}

// --- internal ---

function readLine(stream: NodeJS.ReadStream): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let text = "";
  const onEnd = () => {
    stream.off("data", onData);
    stream.off("end", onEnd);
    // Or the program would wait for more.
    stream.pause();
    resolve(text.split("\n", 1)[0] ?? "");
  };
  const onData = (part: Uint8Array | string) => {
    text += typeof part === "string" ? part : Buffer.from(part).toString();
    if (text.includes("\n")) onEnd();
  };
  stream.on("data", onData);
  stream.on("end", onEnd);
  return promise;
}
