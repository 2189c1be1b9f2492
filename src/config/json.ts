import { type ParseError, parse, printParseErrorCode } from "jsonc-parser";
import { TeamError } from "../errors.ts";

/**
 * `JSON.parse` whose error says where: a TeamError `config` with path, line and column, for files that people write. `JSON.parse` of Bun
 * tells no position. A byte order mark is an error here too, as it is for MassGen's Python.
 */
export function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new TeamError("config", `${path}${where(text)}`, "Correct the file: it must be plain JSON, without comments or trailing commas.");
  }
}

// --- internal ---

function where(text: string): string {
  if (text.trim() === "") return " is empty, not JSON";
  if (text.startsWith("\uFEFF")) return " begins with a byte order mark; save it as UTF-8 without one";
  const errors: ParseError[] = [];
  parse(text, errors, { disallowComments: true, allowTrailingComma: false });
  const [first] = errors;
  if (first === undefined) return " is not JSON";
  const before = text.slice(0, first.offset).split("\n");
  const column = (before.at(-1) ?? "").length + 1;
  return `:${before.length}:${column} is not JSON: ${words(printParseErrorCode(first.error))}`;
}

/** "CommaExpected" → "comma expected". */
function words(code: string): string {
  return code.replace(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
}
