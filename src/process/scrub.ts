import { isUtf8 } from "node:buffer";
import fs from "node:fs";
import { dirname, join } from "node:path";
import { writeFileAtomic } from "../session/atomic.ts";
import { readUntrusted } from "../session/untrusted.ts";

/** Logs of a run directory that children write by themselves. */
export const logFiles = ["stdout.log", "stderr.log"] as const;

/**
 * Rewrites the finished logs of a run directory without secrets; logs that hold none stay as they are. A log that cannot be rewritten is
 * emptied instead (that needs no space): a lost log is better than a leaked key.
 * @returns what went wrong, one line each; empty when all is well
 */
export async function scrubLogs(directory: string, redact: (text: string) => string): Promise<string[]> {
  const problems: string[] = [];
  for (const name of logFiles) {
    const path = join(directory, name);
    try {
      await scrubFile(path, redact);
    } catch (error) {
      problems.push(`${error instanceof Error ? error.message : String(error)}; ${emptied(path)}`);
    }
  }
  return problems;
}

// --- internal ---

const chunkBytes = 1024 * 1024;

async function scrubFile(path: string, redact: (text: string) => string): Promise<void> {
  const file = readUntrusted(path, dirname(path), Number.MAX_SAFE_INTEGER);
  if (file.kind === "missing") return;
  if (file.kind === "refused") throw new Error(`the log ${path} ${file.why}`);
  const bytes = Buffer.from(file.bytes.buffer, file.bytes.byteOffset, file.bytes.length);
  const parts: Buffer[] = [];
  let changed = false;
  for (let start = 0; start < bytes.length; ) {
    const end = chunkEnd(bytes, start);
    const chunk = bytes.subarray(start, end);
    // Bytes that are not UTF-8 must survive: as Latin-1 every byte is a character of its own.
    const encoding = isUtf8(chunk) ? "utf8" : "latin1";
    const text = chunk.toString(encoding);
    const clean = redact(text);
    changed ||= clean !== text;
    parts.push(clean === text ? chunk : Buffer.from(clean, encoding));
    start = end;
    if (start < bytes.length) await new Promise((resolve) => setImmediate(resolve));
  }
  if (changed) await writeFileAtomic(path, Buffer.concat(parts));
}

// Chunks end at line ends, so that a secret is not cut in two.
function chunkEnd(bytes: Buffer, start: number): number {
  if (start + chunkBytes >= bytes.length) return bytes.length;
  const line = bytes.indexOf(10, start + chunkBytes);
  return line < 0 ? bytes.length : line + 1;
}

function emptied(path: string): string {
  try {
    const file = fs.openSync(
      path,
      fs.constants.O_WRONLY | fs.constants.O_TRUNC | (fs.constants.O_NOFOLLOW ?? 0) | (fs.constants.O_NONBLOCK ?? 0),
    );
    fs.closeSync(file);
    return "it may have held a secret and was emptied";
  } catch (error) {
    return `it may hold a secret and could not be emptied (${(error as NodeJS.ErrnoException).code ?? "unknown"})`;
  }
}
