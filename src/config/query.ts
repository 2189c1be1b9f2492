import { open } from "node:fs/promises";
import { TeamError } from "../errors.ts";
import { reasonOf } from "../session/reasons.ts";
import { quoted } from "../text.ts";
import { absolute } from "./paths.ts";

/** The text of a query, from the command line or a file. */

/** Standard input, as far as a query may come from it. */
export interface Input {
  /** Reads all of it, or somewhat more than `limit` bytes of more; says so first where a person would have to type it. */
  read(limit: number): Promise<Uint8Array>;
}

/** A file beyond this is not read as a query, in bytes. How long a query may be for a process is for preflight to say: far less. */
export const largestQueryFile = 1024 * 1024;

/**
 * The text of `--query-file`: a path, or "-" for standard input. UTF-8 without its byte order mark, otherwise byte for byte.
 * Throws a TeamError (usage) when it can't be read or is not text.
 */
export async function readQueryFile(path: string, cwd: string, input: Input): Promise<string> {
  const name = path === "-" ? "standard input" : path;
  const bytes = path === "-" ? await input.read(largestQueryFile) : await readBytes(path, cwd);
  if (bytes.length > largestQueryFile) {
    const hint = "Put the long part into files and let the models read them: --context ./notes.md";
    throw new TeamError("usage", `the query from ${name} has more than 1 MiB, which no process can be given`, hint);
  }
  try {
    // The decoder takes the byte order mark away.
    return checkQuery(new TextDecoder("utf-8", { fatal: true }).decode(bytes), name);
  } catch (error) {
    if (error instanceof TeamError) throw error;
    throw new TeamError("usage", `the query from ${name} is not UTF-8 text`, "Save it as UTF-8.", { cause: error });
  }
}

/** Returns the query unchanged. Throws a TeamError (usage) for one that says nothing, or is no text. */
export function checkQuery(query: string, from = "the command line"): string {
  if (query.trim() === "") throw new TeamError("usage", `the query from ${from} is blank`, 'For example: mg-team "Build a landing page"');
  if (query.includes("\0")) {
    throw new TeamError("usage", `the query from ${from} has a NUL character, so it is not text`, "Remove it, or name another file.");
  }
  return query;
}

// --- internal ---

async function readBytes(path: string, cwd: string): Promise<Uint8Array> {
  try {
    return await readAtMost(absolute(path, cwd), largestQueryFile + 1);
  } catch (error) {
    throw new TeamError("usage", `--query-file ${quoted(path, 200)}: ${reasonOf(error)}`, "Name a text file, or - for standard input.", {
      cause: error,
    });
  }
}

/** Waits for a pipe, as `<(…)` of a shell is one, but does not read a device for ever. */
async function readAtMost(path: string, most: number): Promise<Uint8Array> {
  await using file = await open(path);
  const bytes = new Uint8Array(most);
  let done = 0;
  while (done < most) {
    const { bytesRead } = await file.read(bytes, done, most - done, null);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return bytes.subarray(0, done);
}
