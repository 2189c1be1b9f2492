import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, extname, join, resolve } from "node:path";
import { TeamError } from "../errors.ts";
import { reasonOf } from "../session/reasons.ts";
import { plural } from "../text.ts";
import { isFile, real } from "./paths.ts";

/** What a consent covers: the contents of files. */

/** More files than this are no plugin. */
const mostFiles = 1000;

/** One hash over names and contents of files; changes when any of them does. Throws a TeamError (config) for one that can't be read. */
export function fingerprint(files: readonly string[]): string {
  const hash = createHash("sha256");
  for (const file of [...new Set(files)].sort()) {
    const content = createHash("sha256").update(readBytes(file)).digest("hex");
    hash.update(`${JSON.stringify(file)} ${content}\n`);
  }
  return hash.digest("hex");
}

/**
 * A code file with all files that it names by a relative path, directly or through others; real paths. What comes from packages, from
 * computed paths or from other programs is not covered.
 */
export function withImports(file: string): string[] {
  const found = new Set<string>();
  const waiting = [real(file)];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (found.has(next)) continue;
    found.add(next);
    if (found.size > mostFiles) {
      const message = `the plugin ${file} imports more than ${plural(mostFiles, "file")}`;
      throw new TeamError("config", message, "Bundle it into one file, and name that one.");
    }
    waiting.push(...importsOf(next));
  }
  return [...found];
}

/** The files of a directory, without those of its subdirectories; empty when there is none. */
export function filesIn(directory: string): string[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .map((name) => join(directory, name))
    .filter(isFile);
}

// --- internal ---

const loaders = { ".ts": "ts", ".tsx": "tsx", ".mts": "ts", ".cts": "ts", ".js": "js", ".jsx": "jsx", ".mjs": "js", ".cjs": "js" } as const;

/** The line by which an editor finds types. There is no string in it beside its path, so that it hides nothing, wherever it stands. */
const typesReference = /^\/\/\/ <reference path="[^"'`$\\\n]*" \/>\r?$/gm;

/** What the parser finds, and beside it every literal that is the relative path of a file: workers, assets, `createRequire`. */
function importsOf(file: string): string[] {
  const loader = loaders[extname(file) as keyof typeof loaders];
  if (loader === undefined) return [];
  const code = new TextDecoder().decode(readBytes(file));
  const literals = [...code.replace(typesReference, "").matchAll(/(["'`])(\.{1,2}\/(?:(?!\1)[^\n])+)\1/g)].map(([, , path = ""]) => path);
  return [...parsedImports(code, loader), ...literals].flatMap((path) => resolveImport(path, dirname(file)));
}

function parsedImports(code: string, loader: "ts" | "tsx" | "js" | "jsx"): string[] {
  try {
    const imports = new Bun.Transpiler({ loader }).scanImports(code);
    return imports.map(({ path }) => path).filter((path) => /^\.{0,2}\//.test(path));
  } catch {
    // Code that can't be parsed can't be run either.
    return [];
  }
}

/** As Bun resolves it: the file itself, with an extension, with `.ts` for `.js`, or the index of a directory. */
function resolveImport(path: string, directory: string): string[] {
  const base = resolve(directory, path.replace(/[?#].*$/, ""));
  const endings = [...Object.keys(loaders), ".json"];
  const candidates = [
    base,
    ...endings.map((ending) => base + ending),
    ...endings.map((ending) => base.replace(/\.[cm]?jsx?$/, ending)),
    ...endings.map((ending) => join(base, `index${ending}`)),
  ];
  const file = candidates.find(isFile);
  return file === undefined ? [] : [real(file)];
}

function readBytes(file: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new TeamError("config", `${file} can't be read: ${reasonOf(error)}`, "Make it readable, or take it out of the configuration.");
  }
}
