import { isMap, isNode, isPair, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import type { z } from "zod";
import { messageOf, TeamError } from "../errors.ts";
import { quoted } from "../text.ts";

/** What is wrong in a configuration file, and where. */
export interface Issue {
  /** Keys and indices from the top; points at a value, or at the key itself with `at: "key"`. */
  readonly path: readonly (string | number)[];
  readonly at?: "key";
  readonly message: string;
  /** What to write instead; empty when the message says it. */
  readonly hint?: string;
}

/** An issue with its place in the text, both counted from 1. */
export interface PlacedIssue {
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly hint: string;
}

/** A YAML file that has been parsed: its data and a way to find the places of issues. */
export interface YamlText {
  readonly data: unknown;
  /** Faults of the YAML itself; with any that is no duplicate key, `data` means little. */
  readonly faults: readonly PlacedIssue[];
  readonly broken: boolean;
  place(issue: Issue): PlacedIssue;
}

/** Parses YAML 1.2. Never throws. */
export function parseYaml(text: string): YamlText {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const faults = new Map<number, PlacedIssue>();
  for (const { code, message, pos } of [...document.errors, ...document.warnings]) {
    const { line, col } = lines.linePos(pos[0]);
    if (!faults.has(line)) faults.set(line, { line, column: col, ...explainFault(code, message, text, pos[0]) });
  }
  const broken = document.errors.some(({ code }) => code !== "DUPLICATE_KEY");
  let data: unknown = null;
  try {
    data = broken ? null : document.toJS();
  } catch (error) {
    // An alias without its anchor is found only here, and without a place.
    faults.set(0, { line: 1, column: 1, ...explainFault("", messageOf(error), text, 0) });
  }
  const place = (issue: Issue): PlacedIssue => {
    const { line, col } = lines.linePos(offsetOf(document.contents, issue.path, issue.at === "key"));
    return { line: Math.max(1, line), column: Math.max(1, col), message: issue.message, hint: issue.hint ?? "" };
  };
  return { data, faults: [...faults.values()], broken, place };
}

/** Turns zod's issues for the value at `path` into sentences; unknown keys are left to `explainKey`. */
export function fromZod(
  issues: readonly z.core.$ZodIssue[],
  path: Issue["path"],
  data: unknown,
  explainKey: (path: Issue["path"], key: string) => Issue,
): Issue[] {
  return issues.flatMap((issue): Issue[] => {
    const place = [...path, ...issue.path.map((part) => (typeof part === "number" ? part : String(part)))];
    if (issue.code === "unrecognized_keys") return issue.keys.map((key) => explainKey(place, key));
    if (issue.code === "invalid_union") {
      // The branch whose type fits knows better what is wrong than "none of the branches".
      const branch = issue.errors.find((errors) => !errors.some(({ path: inner, code }) => inner.length === 0 && code === "invalid_type"));
      if (branch) return fromZod(branch, place, valueAt(data, issue.path), explainKey);
    }
    const value = valueAt(data, issue.path);
    const missing = value === undefined ? "it is missing" : `it is ${describe(value)}`;
    return [{ path: place, message: `${nameOf(place)} must be ${issue.message}; ${missing}` }];
  });
}

/** All issues of a file as one TeamError (config), each with file, line and column. */
export function configError(file: string, issues: readonly PlacedIssue[]): TeamError {
  const sorted = [...issues].sort((one, other) => one.line - other.line || one.column - other.column);
  const [first] = sorted;
  const at = ({ line, column, message }: PlacedIssue) => `${file}:${line}:${column}: ${message}`;
  if (first && sorted.length === 1) return new TeamError("config", at(first), first.hint || "Correct the file and try again.");
  const listed = sorted.map((issue) => (issue.hint === "" ? at(issue) : `${at(issue)}\n  ${issue.hint}`));
  return new TeamError("config", `${file} has ${sorted.length} problems:\n${listed.join("\n")}`, "Correct them and try again.");
}

/** How errors call a place: `massgen.command`, `models, entry 2: config`. */
export function nameOf(path: Issue["path"]): string {
  return path.reduce<string>((name, part, index) => {
    if (typeof part === "number") return `${name}, entry ${part + 1}`;
    return index === 0 ? part : `${name}${typeof path[index - 1] === "number" ? ": " : "."}${part}`;
  }, "");
}

// --- internal ---

function explainFault(code: string, message: string, text: string, offset: number): { message: string; hint: string } {
  const word = /[^\s:,{}[\]]+/y;
  word.lastIndex = offset;
  if (code === "DUPLICATE_KEY") {
    return { message: `the key ${quoted(word.exec(text)?.[0] ?? "")} is there twice`, hint: "Keep one of the two." };
  }
  if (code === "TAB_AS_INDENT") {
    return { message: "this line is indented with a tab; YAML takes only spaces", hint: "Replace the tab with two spaces." };
  }
  if (code === "MULTIPLE_DOCS")
    return { message: "a second document begins here", hint: 'Remove the "---" and what belongs to the other.' };
  if (code === "TAG_RESOLVE_FAILED") return { message: `${message.charAt(0).toLowerCase()}${message.slice(1)}`, hint: "Remove the tag." };
  return { message: `this is not YAML: ${message.charAt(0).toLowerCase()}${message.slice(1)}`, hint: "" };
}

/** Where a value (or its key) begins; the nearest thing around it when it has no place of its own. */
function offsetOf(root: unknown, path: Issue["path"], key: boolean): number {
  let node: unknown = root;
  let offset = isNode(node) ? (node.range?.[0] ?? 0) : 0;
  for (const [depth, part] of path.entries()) {
    const last = depth === path.length - 1;
    if (isMap(node)) {
      const pair = node.items.find((item) => isPair(item) && isScalar(item.key) && String(item.key.value) === String(part));
      if (!pair) return offset;
      const value = pair.value as Node | null;
      const keyAt = (pair.key as Node).range?.[0] ?? offset;
      const empty = value === null || value.range === undefined || value.range === null || (isScalar(value) && value.value === null);
      if ((last && key) || empty) return keyAt;
      [node, offset] = [value, value.range?.[0] ?? keyAt];
    } else if (isSeq(node)) {
      const item: unknown = node.items[Number(part)];
      if (!isNode(item)) return offset;
      [node, offset] = [item, item.range?.[0] ?? offset];
    } else return offset;
  }
  return offset;
}

function valueAt(data: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, part) => (typeof value === "object" && value !== null ? Reflect.get(value, part) : undefined), data);
}

function describe(value: unknown): string {
  if (value === null) return "empty";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (typeof value === "object") return "a map";
  return typeof value === "string" ? quoted(value, 40) : String(value);
}
