import { main } from "../../src/cli.ts";
import type { Command, CommandContext } from "../../src/commands/command.ts";
import { commands, type Registry } from "../../src/commands/index.ts";
import { createOutput, type WritableStream } from "../../src/commands/io.ts";
import { runCommand } from "../../src/commands/run-definition.ts";

/** A stream in memory; `fail` makes every write an error of that code. */
export function memoryStream(options: { readonly fail?: string; readonly isTTY?: boolean; readonly columns?: number } = {}) {
  const stream = {
    text: "",
    write(text: string, done: (error?: Error | null) => void) {
      if (options.fail !== undefined) return done(Object.assign(new Error(`write ${options.fail}`), { code: options.fail }));
      stream.text += text;
      done(null);
    },
    on() {},
    ...(options.isTTY === undefined ? {} : { isTTY: options.isTTY }),
    ...(options.columns === undefined ? {} : { columns: options.columns }),
  };
  return stream satisfies WritableStream;
}

/** What a program of ours said and how it ended. */
export interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** What the run command was given; null when it was not started. */
  readonly context: CommandContext | null;
}

export interface SayOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly stdoutFails?: string;
  /** What `mg-team run` does instead of a run. */
  run?(context: CommandContext): number | Promise<number>;
}

/** Runs the program in this process, with a `run` that only takes note. All other commands are real. */
export async function say(argv: readonly string[], options: SayOptions = {}): Promise<Said> {
  const out = memoryStream(options.stdoutFails === undefined ? {} : { fail: options.stdoutFails });
  const err = memoryStream();
  let seen: CommandContext | null = null;
  const run: Command = {
    ...runCommand,
    async run(context) {
      seen = context;
      return (await options.run?.(context)) ?? 0;
    },
  };
  const registry: Registry = { ...commands, run: async () => run };
  const code = await main(
    argv,
    {
      environment: { HOME: "/nowhere", ...options.environment },
      cwd: options.cwd ?? "/",
      stdin: { isTerminal: false, read: () => Promise.resolve(new Uint8Array()) },
      stdout: createOutput(out),
      stderr: createOutput(err),
      signals: { onSignal: () => () => {}, first: null, dispose() {} },
    },
    registry,
  );
  return { code, stdout: out.text, stderr: err.text, context: seen };
}

/** The widest line in columns; a command to type is not counted, as it is never broken. */
export function widest(text: string): number {
  return Math.max(...text.split("\n").map((line) => (/^ {4}(mg-team|--|MG_TEAM)/.test(line) ? 0 : Bun.stringWidth(line))));
}
