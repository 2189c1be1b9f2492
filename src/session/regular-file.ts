import fs from "node:fs";

/** Flags to open a file for reading without waiting: opening a pipe without a writer would hang. Absent on Windows. */
export const unwaiting = fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0);

/**
 * Reads a whole file that stands in a project, where anything may stand: never waits on a pipe, never reads from a device without end.
 * Links are followed. A pipe that a shell has opened for us (`<(…)`) was typed by the user, and is read.
 * @param limit bytes; a larger file is not read
 * @throws the system's error, or an Error whose message says why it is not read: "it is no regular file"
 */
export function readRegularFile(path: string, limit = Number.POSITIVE_INFINITY): Buffer {
  const ofShell = isOfShell(path);
  const file = fs.openSync(path, ofShell ? fs.constants.O_RDONLY : unwaiting);
  try {
    const facts = fs.fstatSync(file);
    if (facts.isDirectory()) throw Object.assign(new Error("it is a directory"), { code: "EISDIR" });
    if (!facts.isFile() && !(ofShell && facts.isFIFO())) throw new Error("it is no regular file");
    const bytes = facts.size > limit ? null : facts.isFile() ? fs.readFileSync(file) : readPipe(file, limit);
    if (bytes === null || bytes.length > limit) throw new Error(`it is larger than ${sizeOf(limit)}`);
    return bytes;
  } finally {
    fs.closeSync(file);
  }
}

/** The same as text of UTF-8; what is not UTF-8 becomes �. */
export function readRegularText(path: string, limit?: number): string {
  return readRegularFile(path, limit).toString("utf8");
}

/** Whether a path is what a shell makes of `<(…)`: ours alone, and read only once. */
export function isOfShell(path: string): boolean {
  return /^\/(dev\/stdin|(dev|proc\/self)\/fd\/\d+)$/.test(path);
}

// --- internal ---

/** To its end, or a little more than `limit` bytes. */
function readPipe(file: number, limit: number): Buffer {
  const parts: Buffer[] = [];
  for (let size = 0; size <= limit; ) {
    const part = Buffer.alloc(65536);
    const count = fs.readSync(file, part);
    if (count === 0) break;
    parts.push(part.subarray(0, count));
    size += count;
  }
  return Buffer.concat(parts);
}

function sizeOf(bytes: number): string {
  return bytes < 1048576 ? `${Math.round(bytes / 1024)} KiB` : `${Math.round(bytes / 1048576)} MiB`;
}
