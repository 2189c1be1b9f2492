import { join } from "node:path";
import { readUntrusted } from "../session/untrusted.ts";

/** `exit.json` of a step's run directory: how a child ended. Written when the child has ended, also when mg-team is gone by then. */
export interface ExitRecord {
  /** 0-255; null when a signal ended it. A shell reports 128+n for signal n, so a program that itself exits so counts as signalled. */
  readonly code: number | null;
  /** `SIGTERM`, …; null when it exited by itself. */
  readonly signal: string | null;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt: number;
}

export const exitFile = "exit.json";

/** Reads the exit record of a run directory; null when there is none or it is not whole: an unknown exit status is never success. */
export function readExitRecord(logDir: string): ExitRecord | null {
  const file = readUntrusted(join(logDir, exitFile), logDir, 4096); // a step may write there too
  if (file.kind !== "bytes") return null;
  try {
    const record: unknown = JSON.parse(Buffer.from(file.bytes).toString());
    const { v, code, signal, started, ended } = record as Readonly<Record<string, unknown>>;
    if (v !== 1 || !(code === null || Number.isInteger(code)) || !(signal === null || typeof signal === "string")) return null;
    if ((code === null) === (signal === null)) return null;
    const [startedAt, endedAt] = [Date.parse(String(started)), Date.parse(String(ended))];
    if (Number.isNaN(startedAt) || Number.isNaN(endedAt)) return null;
    return { code: code as number | null, signal: signal as string | null, startedAt, endedAt: Math.max(startedAt, endedAt) };
  } catch {
    return null;
  }
}

/** The text of an exit record. */
export function formatExitRecord({ code, signal, startedAt, endedAt }: ExitRecord): string {
  const [started, ended] = [startedAt, endedAt].map((time) => new Date(time).toISOString());
  return `${JSON.stringify({ v: 1, code, signal, started, ended })}\n`;
}
