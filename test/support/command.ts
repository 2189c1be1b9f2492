import { main } from "../../src/cli.ts";
import type { Output } from "../../src/commands/io.ts";

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandPlace {
  /** The working directory of the command. */
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Width of the terminal that stdout and stderr are; without it they are pipes. */
  readonly columns?: number;
  /** What somebody types when asked; without it there is nobody to ask. */
  readonly types?: string;
}

/** Runs the program's `main` in this process, without signals, as somebody would type it. */
export async function runCommand(argv: readonly string[], { cwd, env = {}, columns, types }: CommandPlace): Promise<CommandResult> {
  const text = { stdout: "", stderr: "" };
  const output = (name: "stdout" | "stderr"): Output => ({
    write: (more) => {
      text[name] += more;
    },
    get wrote() {
      return text[name] !== "";
    },
    closed: false,
    isTerminal: columns !== undefined,
    columns: columns ?? 80,
    flush: async () => null,
  });
  const code = await main(argv, {
    environment: { HOME: cwd, ...env },
    cwd,
    stdin: { isTerminal: types !== undefined, read: async () => new Uint8Array(), readLine: async () => types ?? "" },
    stdout: output("stdout"),
    stderr: output("stderr"),
    signals: { onSignal: () => () => {}, first: null, dispose: () => {} },
  });
  return { code, ...text };
}
