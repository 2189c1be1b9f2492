import fs from "node:fs";

/**
 * Reads a whole file that stands in a project, where anything may stand: never waits on a pipe, never reads from a device without end.
 * Links are followed.
 * @param limit bytes; a larger file is not read
 * @throws the system's error, or an Error whose message says why it is not read: "it is no regular file"
 */
export function readRegularFile(path: string, limit = Number.POSITIVE_INFINITY): Buffer {
  const file = fs.openSync(path, flags);
  try {
    const facts = fs.fstatSync(file);
    if (facts.isDirectory()) throw Object.assign(new Error("it is a directory"), { code: "EISDIR" });
    if (!facts.isFile()) throw new Error("it is no regular file");
    if (facts.size > limit) throw new Error(`it is larger than ${sizeOf(limit)}`);
    return fs.readFileSync(file);
  } finally {
    fs.closeSync(file);
  }
}

/** The same as text of UTF-8; what is not UTF-8 becomes �. */
export function readRegularText(path: string, limit?: number): string {
  return readRegularFile(path, limit).toString("utf8");
}

// --- internal ---

// Absent on Windows. Opening a pipe without a writer would hang.
const flags = fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0);

function sizeOf(bytes: number): string {
  return bytes < 1048576 ? `${Math.round(bytes / 1024)} KiB` : `${Math.round(bytes / 1048576)} MiB`;
}
