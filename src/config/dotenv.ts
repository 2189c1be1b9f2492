/**
 * The variables of a `.env` file, by the rules of python-dotenv 1.x, which is what MassGen reads the same files with: quotes (also over
 * several lines), `export`, comments after white space, `${NAME}` and `${NAME:-default}`. Lines that are no assignment are skipped.
 * A variable of `environment` beats one of the file in `${…}`, as in `load_dotenv(override=False)`. Later lines of a file win.
 */
export function parseDotenv(text: string, environment: Readonly<Record<string, string | undefined>> = {}): Map<string, string> {
  const values = new Map<string, string>();
  for (const [key, raw] of assignments(text.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n"))) {
    // `KEY` without `=` is None there: it defines nothing, and undoes an earlier line.
    if (raw === null) values.delete(key);
    else
      values.set(
        key,
        interpolate(raw, (name) => environment[name] ?? values.get(name)),
      );
  }
  return values;
}

// --- internal ---

const blanks = /\s*/y;
const exportWord = /export[^\S\n]+/y;
const singleQuotedKey = /'([^']+)'/y;
const plainKey = /([^=#\s]+)/y;
const spaces = /[^\S\n]*/y;
const equals = /=([^\S\n]*)/y;
const singleQuoted = /'((?:\\.|[^'\\])*)'/sy;
const doubleQuoted = /"((?:\\.|[^"\\])*)"/sy;
const plain = /([^\n]*)/y;
const comment = /(?:[^\S\n]*#[^\n]*)?/y;
const endOfLine = /[^\S\n]*(?:\n|$)/y;
const restOfLine = /[^\n]*\n?/y;

const escapes: Readonly<Record<string, string>> = { a: "\x07", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" };

/** Keys with their text before `${…}` is replaced; null for a key without `=`. */
function* assignments(text: string): Generator<[string, string | null]> {
  let position = 0;
  // Takes a token at the position; null, without moving, when it is not there.
  const take = (token: RegExp): RegExpExecArray | null => {
    token.lastIndex = position;
    const match = token.exec(text);
    if (match !== null) position = token.lastIndex;
    return match;
  };
  const value = (gap: string): string | null => {
    const next = text[position];
    if (next === "#" && gap !== "") return "";
    if (next === "'") return take(singleQuoted)?.[1]?.replace(/\\([\\'])/g, "$1") ?? null;
    if (next === '"') return take(doubleQuoted)?.[1]?.replace(/\\([\\'"abfnrtv])/g, (_, letter) => escapes[letter] ?? letter) ?? null;
    return (take(plain)?.[1] ?? "").replace(/(?<!\s)\s+#.*/s, "").trimEnd();
  };
  const line = (): [string, string | null] | null => {
    take(exportWord);
    const key = text[position] === "#" ? "" : (take(text[position] === "'" ? singleQuotedKey : plainKey)?.[1] ?? null);
    if (key === null) return null;
    take(spaces);
    const sign = take(equals);
    const assigned = sign === null ? null : value(sign[1] ?? "");
    if (sign !== null && assigned === null) return null;
    take(comment);
    return take(endOfLine) === null ? null : [key, assigned];
  };
  while (position < text.length) {
    take(blanks);
    if (position >= text.length) return;
    const found = line();
    if (found === null) take(restOfLine);
    else if (found[0] !== "") yield found;
  }
}

function interpolate(value: string, lookUp: (name: string) => string | undefined): string {
  return value.replace(/\$\{([^}:]*)(?::-([^}]*))?\}/g, (_, name: string, fallback?: string) => lookUp(name) ?? fallback ?? "");
}
