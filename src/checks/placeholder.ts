import { type Check, type CheckedFile, mostProblems, oneLine, type Problem } from "./check.ts";

/** What was left to be filled in. Each pattern is narrow: a to-do list application is full of the word TODO. */
export const placeholderCheck: Check = {
  name: "placeholder",
  applies: ({ name }) => !/\.(min\.(js|css)|map|lock|svg)$|^(package-lock\.json|LICENSE.*|CHANGELOG.*)$/i.test(name),
  run(file) {
    const problems: Problem[] = [];
    for (const [index, line] of file.text.split("\n").entries()) {
      if (problems.length >= mostProblems) break;
      if (line.length > longestLine) continue;
      const found = patterns.find(({ pattern, unless }) => pattern.test(line) && !unless?.(file, line));
      if (found) problems.push({ line: index + 1, message: `${found.what}: ${oneLine(line, 80)}` });
    }
    return problems;
  },
};

// --- internal ---

/** A longer line is made by a program. */
const longestLine = 1000;

interface Pattern {
  readonly what: string;
  /** Without the flag `g`; one class and one quantifier at a time, so that no line makes it slow. */
  readonly pattern: RegExp;
  /** Where the same words mean no gap. */
  readonly unless?: (file: CheckedFile, line: string) => boolean;
}

const isExample = ({ name, extension }: CheckedFile) =>
  [".md", ".markdown", ".rst", ".txt"].includes(extension) || /(example|sample|template|dist)\b/i.test(name) || name.startsWith(".env");

// Extend with a pattern and how its finding begins.
const patterns: readonly Pattern[] = [
  { what: "work left to do", pattern: /(\/\/|#|\/\*|\*|<!--|--|;|%)\s{0,4}@?(TODO|FIXME|XXX)\b(?! list| app| item)/, unless: isHeading },
  { what: "work left to do", pattern: /\b(TODO|FIXME)(\([\w ,.-]{1,40}\))?:\s|^\s*\[?(TODO|TBD|FIXME)\]?[.:]?\s*$|\|\s*TBD\s*\|/ },
  { what: "filler text", pattern: /\blorem ipsum dolor\b/i },
  {
    what: "something to fill in",
    pattern:
      /\b(your|insert|add|put|place)[ _-]((your|the|own|some|actual)[ _-])?(code|implementation|logic|content|function|text)s?[ _-](goes[ _-])?here\b/i,
    unless: (_file, line) => /placeholder\s*=/i.test(line),
  },
  {
    what: "something to fill in",
    pattern:
      /\b(your|insert|add|put)[ _-]((your|the|own|actual)[ _-])?(\w{1,20}[ _-])?(key|token|secret|password|name|email|domain|url|id)[ _-](goes[ _-])?here\b/i,
    unless: (file, line) => isExample(file) || /placeholder\s*=/i.test(line),
  },
  {
    what: "something to fill in",
    pattern: /[<[{](INSERT|PLACEHOLDER|FILL[ _-]IN|REPLACE[ _-](ME|THIS|WITH))\b[^\]>}\n]{0,60}[\]>}]/,
    unless: isSql,
  },
  { what: "something to fill in", pattern: /\[(Your|Insert|Company|Client|Recipient)( [A-Za-z’'/]{1,20}){1,4}\](?![([:])/ },
  {
    what: "a part that was left out",
    pattern:
      /(\.\.\.|…)\s{0,4}\(?\s{0,4}(the )?(rest of|remaining|existing|previous|other|more)( of)?( the| your| this| that)? (code|file|implementation|function|class|methods?|content|config|configuration|styles?|component|script|document|sections?|imports?)\b/i,
  },
  {
    what: "a part that was left out",
    pattern: /\b(code|implementation|content|output|section)s? (omitted|truncated|elided) (for brevity|here)\b/i,
  },
  {
    what: "not implemented",
    pattern: /\bthrow new Error\(\s{0,4}["'`][^"'`\n]{0,60}not (yet )?implemented/i,
    unless: ({ extension }) => !/^\.([cm]?[jt]s|[jt]sx|vue|svelte)$/.test(extension),
  },
  { what: "not implemented", pattern: /^[^/]*\b(todo|unimplemented)!\(/, unless: ({ extension }) => extension !== ".rs" },
];

/** `# TODO` in Markdown is a heading. */
function isHeading({ extension }: CheckedFile, line: string): boolean {
  return extension === ".md" && /^\s{0,3}#/.test(line);
}

function isSql(_file: CheckedFile, line: string): boolean {
  return /\bINSERT INTO\b/.test(line);
}
