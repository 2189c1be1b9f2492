import { type Check, lineAt, type Problem } from "./check.ts";

/** JSON syntax. Comments and last commas are allowed where the programs that read the file allow them; `.jsonl` is one value a line. */
export const jsonCheck: Check = {
  name: "json",
  applies: ({ name, extension }) => jsonExtensions.has(extension) || lines.has(extension) || jsoncNames.test(name),
  async run({ path, name, extension, text }) {
    if (lines.has(extension)) return linesOf(text);
    const comments = extension === ".jsonc" || jsoncNames.test(name) || jsoncPaths.test(path);
    return problemsOf(text, comments);
  },
};

/** The first error of a JSON text, with its line; empty when it is whole. */
export async function problemsOf(text: string, comments: boolean): Promise<readonly Problem[]> {
  if (isStrict(text)) return [];
  const { parse, printParseErrorCode } = await import("jsonc-parser");
  const errors: { error: number; offset: number; length: number }[] = [];
  parse(text, errors, { disallowComments: !comments, allowTrailingComma: comments });
  const first = errors[0];
  // Logs are often JSON lines under this name.
  const rows = text.split("\n").filter((row) => row.trim() !== "");
  if (rows.length > 1 && rows.every(isStrict)) return [];
  if (!first) return comments ? [] : [{ line: 0, message: "is no valid JSON" }];
  return [{ line: lineAt(text, first.offset), message: wordsOf(printParseErrorCode(first.error)) }];
}

// --- internal ---

const jsonExtensions = new Set([".json", ".jsonc", ".geojson", ".webmanifest", ".ipynb", ".topojson"]);
const lines = new Set([".jsonl", ".ndjson"]);
const jsoncNames =
  /^([tj]sconfig(\..+)?\.json|\.(eslintrc|babelrc|swcrc|jshintrc)(\.json)?|tslint\.json|deno\.json|.+\.code-workspace|bun\.lock|turbo\.json)$/;
const jsoncPaths = /(^|\/)(\.vscode|\.devcontainer|\.zed)\/[^/]+\.json$|(^|\/)devcontainer\.json$/;

function isStrict(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

async function linesOf(text: string): Promise<readonly Problem[]> {
  const rows = text.split("\n");
  const broken = rows.findIndex((row) => row.trim() !== "" && !isStrict(row));
  if (broken === -1) return [];
  const [problem] = await problemsOf(rows[broken] ?? "", false);
  return [{ line: broken + 1, message: problem?.message ?? "is no valid JSON" }];
}

/** `PropertyNameExpected` → `property name expected`. */
function wordsOf(code: string): string {
  return code.replace(/(?<=[a-z])[A-Z]/g, " $&").toLowerCase();
}
