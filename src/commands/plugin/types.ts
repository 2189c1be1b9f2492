import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { absolute, isInside, shown } from "../../config/paths.ts";
import { isGiven, optionValue } from "../../config/tokenise.ts";
import { ExitCode, TeamError } from "../../errors.ts";
import { writeFileAtomicSync } from "../../session/atomic.ts";
import { readRegularText } from "../../session/regular-file.ts";
import { shellWord } from "../../text.ts";
import type { CommandContext } from "../command.ts";
import declarations from "./mg-team.d.ts.txt" with { type: "text" };
import { makeDirectoryFor, writeNewFile } from "./write-new.ts";

/** `mg-team plugin types`: writes the types for editors anew, or prints them. */
export function writeTypes({ options, cwd, stdout }: CommandContext): ExitCode {
  const dir = optionValue(options, "dir");
  if (isGiven(options, "stdout")) {
    if (dir !== undefined) throw new TeamError("usage", "--dir and --stdout exclude each other", "Keep one of them.");
    stdout.write(declarations);
    return ExitCode.ok;
  }
  const path = join(absolute(dir ?? pluginsDirectory, cwd), typesName);
  const name = shown(path, cwd);
  const state = typesState(path);
  if (state === "foreign") {
    const hint = "Move it away, name another directory with --dir, or print the types: mg-team plugin types --stdout";
    throw new TeamError("usage", `${name} was not written by mg-team, so it stays as it is`, hint);
  }
  if (state !== "current") {
    makeDirectoryFor(path);
    writeFileAtomicSync(path, declarations, 0o644);
  }
  stdout.write(`${state === "current" ? "Up to date:" : "Written:"} ${name}\n\n`);
  stdout.write(`A plugin file beside it finds it by its first line: ${referenceTo(path, dirname(path))}\n`);
  return ExitCode.ok;
}

/** Where plugins are, unless the user says otherwise. */
export const pluginsDirectory = "plugins";

/** The types that a new plugin file refers to. */
export interface FoundTypes {
  /** Absolute. */
  readonly path: string;
  /** They were not there before. */
  readonly written: boolean;
  /** What to type about types of another version; null when they are as they should be. */
  readonly hint: string | null;
}

/**
 * Finds the types for plugins of a directory: beside them, above them in the project, or in its `plugins/`; writes them beside them when they are
 * nowhere. Two copies in one project would contradict each other. Never overwrites. Throws a TeamError (write).
 */
export function provideTypes(directory: string, project: string): FoundTypes {
  const places = isInside(directory, project) ? [...upTo(directory, project), join(project, pluginsDirectory)] : [directory];
  const found = places.map((place) => join(place, typesName)).find((path) => existsSync(path));
  if (found === undefined) {
    const path = join(directory, typesName);
    return { path, written: writeNewFile(path, declarations), hint: null };
  }
  const place = shellWord(shown(dirname(found), project));
  return { path: found, written: false, hint: typesState(found) === "outdated" ? `mg-team plugin types --dir ${place}` : null };
}

/** The line by which a plugin file of a directory names them. */
export function referenceTo(path: string, directory: string): string {
  const way = relative(directory, path).replaceAll("\\", "/");
  return `/// <reference path="${way.startsWith("../") ? way : `./${way}`}" />`;
}

// --- internal ---

const typesName = "mg-team.d.ts";

type TypesState = "absent" | "current" | "outdated" | "foreign";

function typesState(path: string): TypesState {
  if (!existsSync(path)) return "absent";
  try {
    const text = readRegularText(path);
    if (text === declarations) return "current";
    return text.split("\n", 1)[0] === declarations.split("\n", 1)[0] ? "outdated" : "foreign";
  } catch {
    return "foreign"; // a directory, say
  }
}

/** A directory, and those above it as far as the project's. */
function upTo(directory: string, project: string): string[] {
  const above = dirname(directory);
  return directory === project || above === directory ? [directory] : [directory, ...upTo(above, project)];
}
