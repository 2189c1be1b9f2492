import { accessSync, constants, statSync } from "node:fs";
import { basename, isAbsolute, join, resolve } from "node:path";
import { isFile } from "../../config/paths.ts";
import { TeamError } from "../../errors.ts";
import { quoted, splitCommand } from "../../text.ts";

/** A way to start MassGen that nobody has tried yet. */
export interface MassgenCommand {
  /** Never empty; paths in it are absolute, because steps run in directories of their own. */
  readonly argv: readonly string[];
  /** Where it comes from, for people: "--massgen", "massgen on PATH". */
  readonly source: string;
}

/** Where names and relative paths of a command are looked up. */
export interface Places {
  readonly projectDir: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Understands the text of --massgen, MG_TEAM_MASSGEN or `massgen.command`. A text that is the path of a file is that file, spaces and
 * all; any other is split into words as a shell would. Words are paths when they have a slash, or are scripts; a bare name is looked up
 * on PATH only, so that no file of the project stands in for a program. Throws a TeamError `preflight` that names the part that is missing.
 */
export function parseCommand(text: string, source: string, places: Places): MassgenCommand {
  const whole = pathOf(text.trim(), places);
  if (text.includes("/") && isFile(whole)) return { argv: [executable(whole, source)], source };
  const words = splitCommand(text);
  if (words === null)
    throw wrong(source, `a quote is never closed in ${quoted(text)}`, "Close the quote, or write the path without quotes.");
  const [program, ...rest] = words;
  if (program === undefined || program === "") throw wrong(source, "the command is empty", "Name the program: --massgen massgen");
  const argv = [findProgram(program, source, places)];
  for (const [index, word] of rest.entries()) argv.push(operand(word, index === 0 && interpreters.test(basename(program)), source, places));
  return { argv, source };
}

/** The absolute path of a program on PATH, or null. */
export function findOnPath(name: string, env: Places["env"]): string | null {
  // Bun.which would take an absent PATH for that of this process.
  return Bun.which(name, { PATH: env.PATH ?? "" });
}

// --- internal ---

const interpreters = /^(ba|da|z|k)?sh$|^python[0-9.]*$|^(node|bun|deno|ruby|perl)$/;
const scripts = /\.(py|sh|bash|js|mjs|cjs|ts|mts)$/;

function pathOf(word: string, { projectDir, home }: Places): string {
  if (word === "~" || word.startsWith("~/")) return join(home, word.slice(1));
  return isAbsolute(word) ? word : resolve(projectDir, word);
}

function findProgram(word: string, source: string, places: Places): string {
  if (word.includes("/")) {
    const path = pathOf(word, places);
    if (isFile(path)) return executable(path, source);
    const kind = statSync(path, { throwIfNoEntry: false })?.isDirectory() ? "is a directory, not a program" : "does not exist";
    throw wrong(source, `${path} ${kind}`, "Give the path of the massgen program, or a command such as: uvx massgen");
  }
  const found = findOnPath(word, places.env);
  if (found !== null) return found;
  const here = isFile(pathOf(word, places)) ? `To run the file of that name in this directory, write ./${word}.` : "";
  throw wrong(source, `the program ${quoted(word)} is not on PATH`, here || `Install it, or give its whole path.`);
}

function executable(path: string, source: string): string {
  try {
    accessSync(path, constants.X_OK);
    return path;
  } catch {
    throw wrong(source, `${path} is not executable`, `Make it so: chmod +x ${path}`);
  }
}

/** A word after the program; absolute when it is a path of a file that exists. The script of an interpreter must exist. */
function operand(word: string, isScript: boolean, source: string, places: Places): string {
  if (word.startsWith("-") || !(word.includes("/") || scripts.test(word))) return word;
  const path = pathOf(word, places);
  if (isFile(path)) return path;
  if (isScript) throw wrong(source, `the script ${path} does not exist`, "Correct its path.");
  return word;
}

function wrong(source: string, problem: string, hint: string): TeamError {
  return new TeamError("preflight", `the MassGen command of ${source}: ${problem}`, hint);
}
