import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { TeamError } from "../errors.ts";
import { reasonOf } from "../session/reasons.ts";
import { readRegularFile } from "../session/regular-file.ts";
import { plural } from "../text.ts";
import { hostModules } from "./host-modules.ts";
import { isFile, real } from "./paths.ts";

/** What a consent covers: the contents of files. */

/** More files than this are no plugin. */
const mostFiles = 5000;

/** Nor is a larger one, in bytes. */
const largestFile = 64 * 1024 * 1024;

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
 * A code file with all files that it imports, directly or through others, those of packages too; real paths. What mg-team serves itself
 * (see {@link hostModules}), what has a computed path, and what other programs run is not covered.
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

/** Served by the program: no file of that name is ever loaded. */
const served: ReadonlySet<string> = new Set(hostModules);

const endings = [".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".json"] as const;

/** The line by which an editor finds types. There is no string in it beside its path, so that it hides nothing, wherever it stands. */
const typesReference = /^\/\/\/ <reference path="[^"'`$\\\n]*" \/>\r?$/gm;

/** What the parser finds, and beside it every literal that is the relative path of a file: workers, assets, `createRequire`. */
function importsOf(file: string): string[] {
  const code = new TextDecoder().decode(readBytes(file));
  const literals = [...code.replace(typesReference, "").matchAll(/(["'`])(\.{1,2}\/(?:(?!\1)[^\n])+)\1/g)].map(([, , path = ""]) => path);
  const paths = new Set([...parsedImports(code), ...literals]);
  return [...paths].flatMap((path) => (served.has(path) ? [] : filesOfImport(path, file)));
}

/** Whatever the file's name ends in: an import may say how it is to be read (`with { type: "ts" }`). */
function parsedImports(code: string): string[] {
  for (const loader of ["tsx", "ts"] as const) {
    try {
      return new Bun.Transpiler({ loader }).scanImports(code).map(({ path }) => path);
    } catch {
      // A cast such as `<T>x` is no tsx. What neither can parse can't be run either.
    }
  }
  return [];
}

/**
 * What Bun takes for a path now, and beside it everything that it could take when other files are there: a file that is added, or taken
 * away, is a change even where Bun (which remembers directories) does not see it yet.
 */
function filesOfImport(path: string, importer: string): string[] {
  const found = [
    // By the same rules as the import itself will be: `main`, `exports` and `imports` of package.json, paths of tsconfig.json, packages.
    resolvedBy(() => Bun.resolveSync(path, dirname(importer))),
    // A package may give another file to `require` than to `import`.
    resolvedBy(() => createRequire(importer).resolve(path)),
  ];
  if (/^\.{0,2}\//.test(path)) {
    const base = resolve(dirname(importer), withoutQuery(path));
    found.push(
      base,
      ...endings.map((ending) => base + ending),
      ...endings.map((ending) => base.replace(/\.[cm]?jsx?$/, ending)),
      ...endings.map((ending) => join(base, `index${ending}`)),
    );
  }
  return [...new Set(found.filter((file) => file !== null && isFile(file)).map((file) => real(`${file}`)))];
}

/** What a way of resolving gives; null where it finds nothing. */
function resolvedBy(resolution: () => string): string | null {
  try {
    return withoutQuery(resolution());
  } catch {
    return null;
  }
}

function withoutQuery(path: string): string {
  return path.replace(/[?#].*$/, "");
}

function readBytes(file: string): Uint8Array {
  try {
    return readRegularFile(file, largestFile);
  } catch (error) {
    throw new TeamError("config", `${file} can't be read: ${reasonOf(error)}`, "Make it readable, or take it out of the configuration.");
  }
}
