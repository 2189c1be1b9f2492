import { listOf, shellWord } from "../text.ts";
import { fail, ok, type PreflightCheck, warn } from "./check.ts";

/** Longest single argument that Linux can pass on, in bytes, its closing NUL included (MAX_ARG_STRLEN). Used on every system. */
export const argumentLimitBytes = 128 * 1024;

/** What a query leaves free for the synthesis step, which gets the query within a longer one (design.md, "Synthesis"), in bytes. */
export const synthesisHeadroomBytes = 16 * 1024;

/** Longest query of a run, in bytes of UTF-8. */
export const longestQueryBytes = argumentLimitBytes - 1 - synthesisHeadroomBytes;

/** What the rest of a command line takes at most, in bytes: the engine's options with their paths. */
const otherArgumentsBytes = 32 * 1024;

export interface QueryInput {
  readonly query: string;
  /** The environment that the steps get. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Bytes that arguments and environment of a new process may take together; see `argumentSpace`. */
  readonly space: number;
}

export interface ReferenceInput {
  readonly query: string;
  /** Whether a path that the query names exists; relative ones start at the project. */
  exists(path: string): boolean;
  /** Whether MassGen can be told to leave `@word` alone (`--no-parse-at-references`). */
  readonly leavesReferences: boolean;
}

/** Whether a query can be given to a step. */
export function checkQuery(input: QueryInput): PreflightCheck[] {
  const { query } = input;
  if (query.trim() === "") return [fail("query", "the query is blank", 'For example: mg-team "Build a landing page"', "usage")];
  if (query.includes("\0")) return [fail("query", "the query has a NUL character, which no command line can carry", "Remove it.")];
  if (!query.isWellFormed())
    return [fail("query", "the query is not valid Unicode (half of a surrogate pair)", "Remove the broken character.")];
  const bytes = Buffer.byteLength(query);
  if (bytes > longestQueryBytes) {
    const message = `the query has ${kib(bytes)} KiB; ${kib(longestQueryBytes)} KiB is the most that can be passed to a step and its synthesis`;
    return [fail("query", message, "Put the long part into a file and let the agents read it: --context FILE")];
  }
  return [checkSpace(bytes, input), ...checkDecoding(query)];
}

/** The `@path` references that MassGen would see in a query, as written (its `path_handling/prompt_parser.py`). */
export function referencesIn(query: string): string[] {
  const found = query.matchAll(/(?<!\\)@(?:"([^"]+)"|([^\s@:"]+?))(?::w)?(?=\s|$|[,;!?)}\]>:]|\.(?=\s|$))/g);
  return [...found].filter(({ index }) => !isEmail(query, index)).map((match) => match[1] ?? match[2] ?? "");
}

/** Whether what looks like `@path` in a query is meant, and taken, as a file. */
export function checkReferences({ query, exists, leavesReferences }: ReferenceInput): PreflightCheck[] {
  const references = [...new Set(referencesIn(query))];
  if (references.length === 0) return [];
  const missing = references.filter((path) => !exists(path));
  if (missing.length === 0) {
    const options = references.map((path) => `--context ${shellWord(path)}`).join(" ");
    const names = listOf(references.map((path) => `@${path}`));
    const message = `${names} in the query ${references.length === 1 ? "names an existing file" : "name existing files"}, but is sent as text`;
    return [warn("query", message, `To let the agents read ${references.length === 1 ? "it" : "them"}: ${options}`)];
  }
  if (leavesReferences) return [];
  const names = listOf(missing.map((path) => `@${path}`));
  return [
    fail(
      "query",
      `this MassGen takes ${names} in the query for a file, which does not exist`,
      "Write a \\ before the @, or upgrade MassGen (it lacks --no-parse-at-references).",
    ),
  ];
}

// --- internal ---

/** Whether the `@` at a place is that of an e-mail address. Looks a little way only, so that a long text costs no more. */
function isEmail(query: string, at: number): boolean {
  const before = query.slice(Math.max(0, at - 64), at);
  return /\w[\w.-]*$/.test(before) && /^@[\w.-]+\.[a-zA-Z]{2,}\b/.test(query.slice(at, at + 256));
}

function checkSpace(queryBytes: number, { env, space }: QueryInput): PreflightCheck {
  // Each string has a closing NUL and a pointer to it.
  const variables = Object.entries(env).filter(([, value]) => value !== undefined);
  const environment = variables.reduce((sum, [name, value]) => sum + Buffer.byteLength(`${name}=${value}`) + 9, 0);
  const needed = environment + queryBytes + synthesisHeadroomBytes + otherArgumentsBytes;
  if (needed <= space) return ok("query", `${queryBytes} bytes of at most ${longestQueryBytes}`);
  const message = `the query and the environment variables (${kib(environment)} KiB) do not fit into the ${kib(space)} KiB that a new process can take`;
  return fail("query", message, 'Shorten the query, or start mg-team with fewer variables: env -i PATH="$PATH" HOME="$HOME" mg-team …');
}

function checkDecoding(query: string): PreflightCheck[] {
  if (!query.includes("\uFFFD")) return [];
  return [warn("query", "the query has U+FFFD characters, so some of its bytes were not UTF-8", "Save or type it as UTF-8.")];
}

function kib(bytes: number): number {
  return Math.ceil(bytes / 1024);
}
