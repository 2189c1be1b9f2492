import fs from "node:fs";
import { join } from "node:path";
import { type TemporaryDirectory, temporaryDirectory, until } from "../support/temp.ts";

/** Calls by which state gets to disk. */
export const tracedCalls = ["mkdir", "openat", "write", "fsync", "fdatasync", "ftruncate", "rename", "close", "unlink"] as const;

/** What an operation of `writer.ts` reported. */
export interface Acknowledged {
  readonly name: string;
  readonly ok: boolean;
  /** Not ok: it was a TeamError. */
  readonly expected?: boolean;
  readonly code?: string;
  readonly message?: string;
}

export interface Injection {
  readonly call: string;
  /** 1 for the first such call. */
  readonly when: number;
  /** `signal=KILL`, `error=EIO`, `error=ENOSPC` */
  readonly fault: string;
}

/** One run of `writer.ts` with a fault in one of its system calls. */
export interface FaultRun extends AsyncDisposable {
  readonly project: string;
  readonly acknowledged: readonly Acknowledged[];
  /** The call that failed, as strace shows it; null when the fault did not come to pass. */
  readonly injected: string | null;
  /** The calls, as strace shows them, in order. */
  readonly trace: readonly string[];
  /** How often each call was made. */
  readonly counts: Readonly<Record<string, number>>;
}

/** Runs `writer.ts` with a fault; only its main thread is traced, and only after its start. */
export async function runWithFault(injection: Injection | null): Promise<FaultRun> {
  const temp = temporaryDirectory();
  fs.mkdirSync(temp.join("project"));
  fs.mkdirSync(temp.join("warm-up"));
  const inject = injection ? ["-e", `inject=${injection.call}:${injection.fault}:when=${injection.when}`] : [];
  const options = ["-e", `trace=${tracedCalls.join(",")}`, ...inject];
  return outcome(temp, await runTraced(temp, "writer.ts", [temp.join("project"), temp.join("warm-up")], options));
}

/**
 * Runs a program of this directory that says "ready" and then waits for a line; strace comes in between, so that calls are counted from
 * there. Its trace is in the file `trace`.
 * @returns what the program printed after that
 */
export async function runTraced(
  temp: TemporaryDirectory,
  program: string,
  args: readonly string[],
  options: readonly string[],
): Promise<string> {
  const command = [process.execPath, join(import.meta.dir, program), ...args];
  const writer = Bun.spawn(command, { stdin: "pipe", stdout: "pipe", stderr: "pipe", env: process.env });
  const output = collect(writer.stdout);
  const errors = collect(writer.stderr);
  await until(() => output.text.startsWith(ready) || writer.exitCode !== null, "the program's start");
  const strace = ["strace", "-y", "-s", "0", "-o", temp.join("trace"), ...options, "-p", String(writer.pid)];
  const tracer = Bun.spawn(strace, { stdin: "ignore", stdout: "ignore", stderr: "pipe", env: process.env });
  const said = collect(tracer.stderr);
  await until(() => said.text.includes("attached") || tracer.exitCode !== null, "strace");
  if (!said.text.includes("attached")) writer.kill("SIGKILL");
  writer.stdin.write("\n");
  writer.stdin.end();
  await Promise.all([writer.exited, output.done, errors.done]);
  // With -f strace waits for the program's children, too; they may outlive it.
  await Promise.race([tracer.exited, Bun.sleep(2000)]);
  tracer.kill("SIGKILL");
  if (!said.text.includes("attached") || errors.text !== "") throw new Error(`${said.text}${errors.text}`);
  return output.text.slice(ready.length);
}

// --- internal ---

const ready = '"ready"\n';

function outcome(temp: TemporaryDirectory, output: string): FaultRun {
  const trace = fs.readFileSync(temp.join("trace"), "utf8").split("\n");
  const counts = Object.fromEntries(tracedCalls.map((call) => [call, trace.filter((line) => line.startsWith(`${call}(`)).length]));
  const last = trace.filter((line) => line.includes("(")).at(-1) ?? null;
  const killed = trace.some((line) => line.includes("--- SIGKILL") || line.includes("killed by SIGKILL")) && !output.includes('"free"');
  return {
    project: temp.join("project"),
    acknowledged: output
      .trim()
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Acknowledged),
    injected: trace.find((line) => line.includes("(INJECTED)")) ?? (killed ? last : null),
    trace,
    counts,
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  };
}

function collect(stream: ReadableStream<Uint8Array>): { text: string; readonly done: Promise<void> } {
  const decoder = new TextDecoder();
  const result = { text: "", done: Promise.resolve() };
  result.done = (async () => {
    for await (const chunk of stream) result.text += decoder.decode(chunk, { stream: true });
  })();
  return result;
}
