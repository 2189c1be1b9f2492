import { resolve } from "node:path";

/** The CLI as a child that runs from source. */
export interface CliRun {
  readonly pid: number;
  /** Resolves when it has ended and both streams are read; never rejects. */
  readonly result: Promise<CliResult>;
  /** What it has printed so far. */
  readonly output: { readonly stdout: string; readonly stderr: string };
  kill(signal: NodeJS.Signals): void;
}

export interface CliResult {
  /** Exit code; null when a signal ended it. */
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Starts `mg-team ARGS…`. `stdin`: text, or "pipe" for one that nobody ever writes to or closes, or "inherit". `wrapper`: a command that
 * starts the words behind it: `["sh", "-c", '"$@" | head -1', "sh"]`.
 */
export function startCli(
  args: readonly string[],
  options: {
    readonly cwd: string;
    readonly env: Readonly<Record<string, string>>;
    readonly stdin: string;
    readonly wrapper?: readonly string[];
  },
): CliRun {
  const program = [process.execPath, "--no-env-file", "--no-install", "--config=/dev/null", cliPath, "--"];
  const child = Bun.spawn([...(options.wrapper ?? []), ...program, ...args], {
    cwd: options.cwd,
    env: { ...options.env },
    stdin: options.stdin === "pipe" || options.stdin === "inherit" ? options.stdin : Buffer.from(options.stdin),
    stdout: "pipe",
    stderr: "pipe",
  });
  const output = { stdout: "", stderr: "" };
  const collect = async (name: "stdout" | "stderr") => {
    const decoder = new TextDecoder();
    for await (const chunk of child[name]) output[name] += decoder.decode(chunk, { stream: true });
    output[name] += decoder.decode();
  };
  const result = Promise.all([child.exited, collect("stdout"), collect("stderr")]).then(() => ({
    code: child.signalCode === null ? child.exitCode : null,
    signal: child.signalCode === null ? null : String(child.signalCode),
    ...output,
  }));
  return { pid: child.pid, result, output, kill: (signal) => child.kill(signal) };
}

// --- internal ---

const cliPath = resolve(import.meta.dir, "../../src/cli.ts");
