import { neutralise } from "../session/text.ts";

/** Something that a check found in a file. */
export interface Problem {
  /** 1 or more; 0 for the whole file. */
  readonly line: number;
  /** One line for people, without the values of secrets. */
  readonly message: string;
}

/** A text file of the deliverable. */
export interface CheckedFile {
  /** Relative to the deliverable, `/` between names. */
  readonly path: string;
  /** The last name of the path. */
  readonly name: string;
  /** `.html`: lower case, with the dot; empty without. */
  readonly extension: string;
  /** Decoded; a byte order mark is removed. */
  readonly text: string;
}

/** What a check may know beside the file. */
export interface CheckContext {
  /** Paths of all files, links and directories of the deliverable, as in {@link CheckedFile}. */
  readonly paths: ReadonlySet<string>;
  /** Values that must not occur anywhere. */
  readonly secrets: readonly string[];
}

/**
 * One kind of check. It reads and never runs what it is given, which may be hostile. It may throw: that becomes the finding that
 * the file could not be checked.
 */
export interface Check {
  /** Shown with each finding: `json`, `links`. */
  readonly name: string;
  /** Whether it has something to say about such a file. */
  applies(file: CheckedFile): boolean;
  /** Longest text in characters that it takes; longer ones are reported as not checked. Default {@link longestText}. */
  readonly longest?: number;
  /** In the order of lines. */
  run(file: CheckedFile, context: CheckContext): readonly Problem[] | Promise<readonly Problem[]>;
}

/** Files beyond this many bytes are not checked at all. */
export const longestText = 1024 * 1024;

/** Problems of one kind in one file beyond this are not looked for. */
export const mostProblems = 100;

/** The number of the line, counted from 1, that holds a position of the text. */
export function lineAt(text: string, position: number): number {
  return lineFinder(text)(position);
}

/** The same for many positions of one text. */
export function lineFinder(text: string): (position: number) => number {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return (position) => {
    let [low, high] = [0, starts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= position) low = middle;
      else high = middle;
    }
    return low + 1;
  };
}

/** Somebody's text on one line, control characters visible, cut where it is long. */
export function oneLine(text: string, longest = 200): string {
  const characters = [...neutralise(text).replace(/\s+/g, " ").trim()];
  return characters.length > longest ? `${characters.slice(0, longest - 1).join("")}…` : characters.join("");
}
