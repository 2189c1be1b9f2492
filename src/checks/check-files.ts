import { join, posix } from "node:path";
import { messageOf } from "../errors.ts";
import type { CheckFinding } from "../session/result.ts";
import { createBreath, type TreeEntry, walkTree } from "../session/tree.ts";
import { treeLimits } from "../session/tree-plan.ts";
import { decodeUtf8, readUntrusted, realPathOf } from "../session/untrusted.ts";
import { listOf, plural } from "../text.ts";
import { type Check, type CheckContext, type CheckedFile, longestText, oneLine, type Problem } from "./check.ts";
import { checks } from "./list.ts";

export interface CheckOptions {
  /** Values that must not be in a file: the keys of the run. Those under 8 characters are ignored. */
  readonly secrets?: readonly string[];
  readonly limits?: Partial<CheckLimits>;
  /** Default: all. */
  readonly checks?: readonly Check[];
  /** Asked before each file; once true, those that are left are not checked, as after `limits.seconds`. */
  readonly isStopped?: () => boolean;
}

export interface CheckLimits {
  /** Findings shown for one file; the rest is counted. */
  readonly findingsOfFile: number;
  /** Findings shown in all; the rest is counted. */
  readonly findings: number;
  /** Files beyond this many bytes are not checked. */
  readonly fileBytes: number;
  /** After this many seconds the files that are left are not checked. */
  readonly seconds: number;
}

export const checkLimits: CheckLimits = { findingsOfFile: 20, findings: 200, fileBytes: longestText, seconds: 60 };

/**
 * Looks at the files of a deliverable and reports what is wrong with them (design.md, "Synthesis"). Nothing is run, changed or fetched, and
 * no link is followed. What could not be checked is a finding too. Installed packages are not looked at.
 * @param directory absolute path; without one there are no findings
 * @returns findings in the order of paths and lines; `file` is "." for what concerns all of them
 */
export async function checkFiles(directory: string, options: CheckOptions = {}): Promise<readonly CheckFinding[]> {
  const limits = { ...checkLimits, ...options.limits };
  const end = performance.now() + limits.seconds * 1000;
  const breath = createBreath();
  const entries: TreeEntry[] = [];
  for await (const entry of walkTree(directory, treeLimits, () => true)) entries.push(entry);
  const context: CheckContext = { paths: new Set(entries.map(({ path }) => path)), secrets: options.secrets ?? [] };

  const findings: CheckFinding[] = [];
  const tooLarge: string[] = [];
  let tooLate = 0;
  for (const entry of entries) {
    if (entry.kind !== "file" || installed.test(entry.path)) continue;
    await breath();
    if (performance.now() > end || options.isStopped?.()) tooLate++;
    else if (entry.bytes > limits.fileBytes) tooLarge.push(...(isText(entry.path) ? [entry.path] : []));
    else {
      const found = await checkFile(directory, entry, options.checks ?? checks, context);
      findings.push(...withinLimit(found, limits.findingsOfFile, entry.path));
    }
  }
  const notes = [
    ...largeNote(tooLarge, limits),
    ...lateNote(tooLate, options.isStopped?.() ? "before the run was stopped" : `within ${limits.seconds} s`),
  ];
  return [...withinLimit(findings, limits.findings, "."), ...notes];
}

// --- internal ---

/** Written by others and installed again from a list: nobody mends it here. */
const installed = /(^|\/)(node_modules|\.pnpm-store|\.venv|venv|site-packages|__pycache__|\.git)\//;

/** Names that promise text: other bytes in such a file are an error, elsewhere they are a picture or a program. */
const textNames =
  /\.(txt|md|markdown|rst|html?|xhtml|css|scss|less|[cm]?[jt]s|[jt]sx|vue|svelte|json[cl]?|ya?ml|toml|ini|cfg|xml|svg|csv|py|pyi|rb|go|rs|java|kt|c|h|cpp|hpp|cs|php|sql|sh|bash|zsh|env)$|^(README|LICENSE|Dockerfile|Makefile)$/i;

function isText(path: string): boolean {
  return textNames.test(posix.basename(path));
}

async function checkFile(directory: string, entry: TreeEntry, all: readonly Check[], context: CheckContext): Promise<CheckFinding[]> {
  const file = read(directory, entry);
  if (typeof file === "string") return [{ file: entry.path, line: 0, check: "encoding", message: file }];
  if (file === null) return [];
  const findings: (CheckFinding & { readonly order: number })[] = [];
  for (const [order, check] of all.entries()) {
    if (!check.applies(file)) continue;
    const problems = await run(check, file, context);
    findings.push(...problems.map(({ line, message }) => ({ file: file.path, line, check: check.name, message, order })));
  }
  return findings.sort((one, other) => one.line - other.line || one.order - other.order).map(({ order: _, ...finding }) => finding);
}

async function run(check: Check, file: CheckedFile, context: CheckContext): Promise<readonly Problem[]> {
  const longest = check.longest ?? longestText;
  if (file.text.length > longest) return [{ line: 0, message: `could not be checked: is longer than ${sizeOf(longest)}` }];
  try {
    return await check.run(file, context);
  } catch (error) {
    return [{ line: 0, message: `could not be checked: ${oneLine(messageOf(error), 100) || "its parser failed"}` }];
  }
}

/** The text of a file; null when it is none, or what is wrong with it. */
function read(directory: string, entry: TreeEntry): CheckedFile | string | null {
  if (entry.path.includes("\ufffd")) return "its name is not UTF-8, so it was not checked";
  const root = realPathOf(directory) ?? directory;
  const file = readUntrusted(join(root, entry.path), root, longestText);
  if (file.kind !== "bytes") return file.kind === "missing" ? null : `the file ${file.why}`;
  const name = posix.basename(entry.path);
  const text = decodeUtf8(file.bytes);
  if (text === null) return isText(entry.path) ? "is not UTF-8 text" : null;
  if (text.includes("\0") && !isText(entry.path)) return null;
  return { path: entry.path, name, extension: posix.extname(name).toLowerCase(), text: text.replace(/^\ufeff/, "") };
}

function withinLimit(findings: readonly CheckFinding[], most: number, file: string): readonly CheckFinding[] {
  if (findings.length <= most) return findings;
  const more = `${plural(findings.length - most, "more finding")} in ${file === "." ? "all" : "this file"}`;
  return [...findings.slice(0, most), { file, line: 0, check: "limits", message: more }];
}

function largeNote(paths: readonly string[], { fileBytes }: CheckLimits): readonly CheckFinding[] {
  if (paths.length === 0) return [];
  const shown = paths.length > 5 ? [...paths.slice(0, 4), plural(paths.length - 4, "other")] : paths;
  const larger = `${plural(paths.length, "file is", "files are")} larger than ${sizeOf(fileBytes)} and not checked`;
  return [{ file: ".", line: 0, check: "limits", message: `${larger}: ${oneLine(listOf(shown))}` }];
}

function lateNote(count: number, when: string): readonly CheckFinding[] {
  if (count === 0) return [];
  return [{ file: ".", line: 0, check: "limits", message: `${plural(count, "file was", "files were")} not checked ${when}` }];
}

function sizeOf(bytes: number): string {
  return bytes >= 1024 * 1024 ? `${Number((bytes / 1024 / 1024).toFixed(1))} MiB` : `${Math.round(bytes / 1024)} KiB`;
}
