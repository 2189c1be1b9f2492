import { randomBytes } from "node:crypto";
import { childVariable } from "./environment.ts";
import { killAll } from "./leftovers.ts";
import { findMarked, groupMembers } from "./processes.ts";
import { taskkill } from "./windows.ts";

/** Longest output that is read, in bytes. */
const longest = 64 * 1024 ** 2;

/**
 * What a short command prints on stdout; empty when it cannot be started, or has not ended within `seconds`. For clean-up, where no supervised
 * child can help. Never rejects and takes hardly longer than that, whoever else holds the pipe: a wrapper on PATH that does not `exec` leaves its
 * program behind when only the wrapper is killed. So at the limit everything that it started is killed, and nothing is read any more.
 */
export async function ask(argv: readonly string[], env: Readonly<Record<string, string>>, seconds: number): Promise<string> {
  const mark = randomBytes(16).toString("hex");
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(), seconds * 1000);
  try {
    const client = Bun.spawn([...argv], {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "ignore",
      env: { ...env, [childVariable]: mark },
      detached: process.platform !== "win32",
      windowsHide: true,
    });
    const text = await readUntil(client.stdout, over.signal);
    if (text !== null && (await endsBefore(client.exited, over.signal))) return text;
    if (process.platform === "win32") taskkill(client.pid, true);
    else await killAll(() => [...new Set([...groupOf(client), ...findMarked(childVariable, new Set([mark])).map(({ pid }) => pid)])]);
    return "";
  } catch {
    return "";
  } finally {
    clearTimeout(timer);
  }
}

// --- internal ---

/** Its number is another's to use once it has ended. */
function groupOf(client: Bun.Subprocess): number[] {
  return client.exitCode === null && client.signalCode === null ? groupMembers(client.pid) : [];
}

/** All that comes; null when the end did not come in time, or too much did. */
async function readUntil(stream: ReadableStream<Uint8Array>, over: AbortSignal): Promise<string | null> {
  const reader = stream.getReader();
  const aborted = whenAborted(over);
  const chunks: Uint8Array[] = [];
  for (let bytes = 0; bytes <= longest; ) {
    const next = await Promise.race([reader.read(), aborted]);
    if (next === null) break;
    if (next.done) return Buffer.concat(chunks).toString();
    chunks.push(next.value);
    bytes += next.value.length;
  }
  void reader.cancel().catch(() => {});
  return null;
}

async function endsBefore(exited: Promise<unknown>, over: AbortSignal): Promise<boolean> {
  return (await Promise.race([exited, whenAborted(over)])) !== null;
}

function whenAborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    else signal.addEventListener("abort", () => resolve(null), { once: true });
  });
}
