import { closeSync, openSync, readdirSync, readSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { findOnPath } from "./command.ts";

/** The Python that a command runs MassGen with, as far as its files show without starting it. */
export interface PythonHome {
  /** Path of the interpreter, as a user would call it. */
  readonly interpreter: string;
  /** The `massgen-VERSION.dist-info` directory; null when MassGen was not seen in this Python. */
  readonly distInfo: string | null;
  /** Of MassGen; null likewise. */
  readonly version: string | null;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Finds the Python of a command: `python -m massgen`, or a launcher that pip, pipx or uv made (its shebang). Null for anything else,
 * such as a shell wrapper. Only a few small files are looked at.
 */
export function pythonOf(argv: readonly string[], env: Environment, home: string): PythonHome | null {
  const [program] = argv;
  if (program === undefined) return null;
  const interpreter = /^python[0-9.]*$/.test(basename(program)) ? program : shebangOf(program, env);
  return interpreter === null ? null : describe(interpreter, home);
}

/** The Python that a traceback or a warning of it names by a path below its `site-packages`; null when the text names none. */
export function pythonNamedIn(text: string, home: string): PythonHome | null {
  const prefix = /(\/[^\n"':]*?)\/lib\/python3[0-9.]*\/site-packages\//.exec(text)?.[1];
  if (prefix === undefined) return null;
  const interpreter = [join(prefix, "bin", "python"), join(prefix, "bin", "python3")].find((path) =>
    statSync(path, { throwIfNoEntry: false }),
  );
  return interpreter === undefined ? null : describe(interpreter, home);
}

/** What changes when MassGen or the package that breaks it is upgraded; a few stat calls. */
export function stampOf(path: string | null): string {
  if (path === null) return "-";
  try {
    const real = realpathSync(path);
    const facts = statSync(real);
    return `${real}:${facts.mtimeMs}:${facts.isFile() ? facts.size : "d"}`;
  } catch {
    return `${path}:gone`;
  }
}

/** The `NAME-VERSION.dist-info` beside another one; null when there is none. */
export function distInfoBeside(distInfo: string, name: string): string | null {
  return findDistInfo(dirname(distInfo), name);
}

// --- internal ---

/** The interpreter of a script's first line. Long paths stand in a second line: `#!/bin/sh`, `'''exec' "/long path/python" "$0" "$@"`. */
function shebangOf(path: string, env: Environment): string | null {
  const head = headOf(path);
  const exec = /^#!\/bin\/sh\n'''exec' "?([^"\n]+?)"? "\$0"/.exec(head)?.[1];
  if (exec !== undefined) return exec;
  const [program = "", argument = ""] = (/^#! *(.*)/.exec(head)?.[1] ?? "").trim().split(/ +/);
  const name = basename(program) === "env" ? argument : program;
  if (!/^python[0-9.]*$/.test(basename(name))) return null;
  return name.includes("/") ? name : findOnPath(name, env);
}

function headOf(path: string): string {
  try {
    const file = openSync(path, "r");
    try {
      const bytes = Buffer.alloc(1024);
      return bytes.toString("utf8", 0, readSync(file, bytes, 0, bytes.length, 0));
    } finally {
      closeSync(file);
    }
  } catch {
    return "";
  }
}

function describe(interpreter: string, home: string): PythonHome {
  // Not its real path: the interpreter of a virtual environment is a link to one that has no MassGen.
  const prefix = dirname(dirname(interpreter));
  for (const library of [join(prefix, "lib"), join(prefix, "local", "lib"), join(home, ".local", "lib")]) {
    for (const version of list(library).filter((name) => name.startsWith("python3"))) {
      for (const packages of ["site-packages", "dist-packages"]) {
        const distInfo = findDistInfo(join(library, version, packages), "massgen");
        if (distInfo !== null) return { interpreter, distInfo, version: basename(distInfo).slice("massgen-".length, -".dist-info".length) };
      }
    }
  }
  return { interpreter, distInfo: null, version: null };
}

function findDistInfo(packages: string, name: string): string | null {
  const found = list(packages).find((entry) => entry.startsWith(`${name}-`) && entry.endsWith(".dist-info"));
  return found === undefined ? null : join(packages, found);
}

function list(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
