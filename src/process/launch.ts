import fs from "node:fs";
import { isAbsolute, join } from "node:path";

/** Why a child could not be started, as data: a failed start is an ordinary event of a run. */
export interface SpawnError {
  /** The system's code: ENOENT, EACCES, ENOEXEC, ENOTDIR, E2BIG, EMFILE, EAGAIN, … */
  readonly code: string;
  /** The true cause in one line, for people. */
  readonly message: string;
}

/**
 * Looks at a command before it is started, since the system reports a missing working directory or interpreter as if the command itself
 * were missing (reliability.md, "Starting").
 * @returns the absolute path of the program, or the error
 */
export function checkLaunch(
  argv: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): { program: string } | { error: SpawnError } {
  const directory = checkDirectory(cwd);
  if (directory) return { error: directory };
  const name = argv[0] ?? "";
  if ([name, ...argv].some((word) => word.includes("\0")))
    return fail("EINVAL", "an argument holds a NUL byte, which no command line can carry");
  const program = findProgram(name, cwd, env);
  if (!program)
    return fail("ENOENT", name.includes("/") ? `program not found: ${name}` : `program not found on PATH: ${name || "(empty name)"}`);
  const error = checkProgram(program, cwd, env);
  return error ? { error } : { program };
}

/** Puts a system's refusal to start a process into words. */
export function spawnErrorOf(error: unknown, argv: readonly string[]): SpawnError {
  const code = (error as NodeJS.ErrnoException | null)?.code ?? "UNKNOWN";
  const longest = Math.max(...argv.map((word) => Buffer.byteLength(word)));
  const words: Readonly<Record<string, string>> = {
    E2BIG: `the command line is too long for the system (its longest argument has ${longest} bytes)`,
    EMFILE: "mg-team has too many open files (ulimit -n)",
    ENFILE: "the system has too many open files",
    EAGAIN: "the system refuses another process (ulimit -u, or the limit of a container)",
    ENOMEM: "the system has no memory for another process",
    ENOSPC: "the disk is full",
    EACCES: "no permission",
  };
  const message = words[code] ?? (error instanceof Error ? error.message : String(error));
  return { code, message: `cannot start ${argv[0]}: ${message}` };
}

/** What a shell's own message after exit 126 or 127 says about a program that passed {@link checkLaunch} and failed all the same. */
export function execErrorOf(shellMessage: string, program: string): SpawnError {
  if (/denied/i.test(shellMessage)) return { code: "EACCES", message: `not permitted to run ${program} (a disk mounted noexec?)` };
  if (/not found|no such/i.test(shellMessage)) return { code: "ENOENT", message: `the loader or interpreter of ${program} was not found` };
  if (/format|cannot execute binary/i.test(shellMessage)) return { code: "ENOEXEC", message: `${program} is no program for this machine` };
  if (/too long/i.test(shellMessage)) return spawnErrorOf({ code: "E2BIG" }, [program]);
  if (/busy/i.test(shellMessage)) return { code: "ETXTBSY", message: `${program} is being written to by another process` };
  return { code: "ENOEXEC", message: `cannot run ${program}: ${shellMessage}` };
}

// --- internal ---

function fail(code: string, message: string): { error: SpawnError } {
  return { error: { code, message } };
}

function checkDirectory(cwd: string): SpawnError | null {
  try {
    if (!fs.statSync(cwd).isDirectory()) return { code: "ENOTDIR", message: `working directory is not a directory: ${cwd}` };
    fs.accessSync(cwd, fs.constants.X_OK);
    return null;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "ENOENT";
    const what = code === "ENOENT" ? "does not exist" : code === "EACCES" ? "is not permitted" : `cannot be used (${code})`;
    return { code, message: `working directory ${what}: ${cwd}` };
  }
}

// As execvp does: a name with a slash is a path, else PATH is searched, and a file that may not be run is passed over.
function findProgram(name: string, cwd: string, env: Readonly<Record<string, string>>): string | null {
  if (name === "") return null;
  if (name.includes("/")) {
    const path = isAbsolute(name) ? name : join(cwd, name);
    return fs.existsSync(path) ? path : null;
  }
  const candidates = (env.PATH ?? "/usr/local/bin:/usr/bin:/bin")
    .split(":")
    .map((directory) => join(isAbsolute(directory) ? directory : join(cwd, directory), name))
    .filter((path) => fs.statSync(path, { throwIfNoEntry: false })?.isFile());
  return candidates.find(mayRun) ?? candidates[0] ?? null;
}

function checkProgram(program: string, cwd: string, env: Readonly<Record<string, string>>): SpawnError | null {
  if (fs.statSync(program).isDirectory()) return { code: "EACCES", message: `${program} is a directory, not a program` };
  if (!mayRun(program)) return { code: "EACCES", message: `${program} is not executable (chmod +x)` };
  const start = firstBytes(program);
  if (start === null) return null; // execute-only: the system knows better
  if (start.toString("latin1", 0, 2) === "#!") return checkInterpreter(program, start, cwd, env);
  if (process.platform === "linux" && !knownFormat(start)) {
    return { code: "ENOEXEC", message: `${program} is no program for this machine and has no #! line` };
  }
  return null;
}

function checkInterpreter(program: string, start: Buffer, cwd: string, env: Readonly<Record<string, string>>): SpawnError | null {
  const line = start.toString("utf8", 2).split("\n", 1)[0] ?? "";
  const [interpreter = "", ...words] = line.trim().split(/[ \t]+/);
  if (interpreter === "") return { code: "ENOEXEC", message: `${program} has an empty #! line` };
  const shown = JSON.stringify(line.replace(/^[ \t]+/, "").split(/[ \t]/)[0]);
  const where = `(first line of ${program})`;
  if (line.endsWith("\r") && words.length === 0) {
    return { code: "ENOENT", message: `interpreter ${shown} not found ${where}: the file has Windows line ends` };
  }
  if (!findProgram(interpreter.includes("/") ? interpreter : `./${interpreter}`, cwd, env)) {
    return { code: "ENOENT", message: `interpreter ${interpreter} not found ${where}` };
  }
  if (!mayRun(isAbsolute(interpreter) ? interpreter : join(cwd, interpreter))) {
    return { code: "EACCES", message: `interpreter ${interpreter} is not executable ${where}` };
  }
  // `#!/usr/bin/env NAME`: env itself would start and only then fail.
  const name = interpreter.endsWith("/env") ? words.find((word) => word !== "-S" && !word.includes("=")) : undefined;
  if (name && !name.startsWith("-") && !findProgram(name, cwd, env)) {
    return { code: "ENOENT", message: `interpreter ${name.replaceAll("\r", "\\r")} not found on PATH ${where}` };
  }
  return null;
}

// ELF of this machine, or whatever binfmt_misc was told to run (emulators, Java).
function knownFormat(start: Buffer): boolean {
  const machines: Readonly<Record<string, number>> = { x64: 62, arm64: 183 };
  const elf = start.toString("latin1", 0, 4) === "\x7fELF";
  const foreign = start.length >= 20 && process.arch in machines && start.readUInt16LE(18) !== machines[process.arch];
  return (elf && !foreign) || foreignFormats();
}

function foreignFormats(): boolean {
  try {
    return fs.readdirSync("/proc/sys/fs/binfmt_misc").some((name) => name !== "register" && name !== "status");
  } catch {
    return false;
  }
}

function mayRun(path: string): boolean {
  try {
    fs.accessSync(path, fs.constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function firstBytes(path: string): Buffer | null {
  try {
    const file = fs.openSync(path, "r");
    try {
      const start = Buffer.alloc(256);
      return start.subarray(0, fs.readSync(file, start, 0, start.length, 0));
    } finally {
      fs.closeSync(file);
    }
  } catch {
    return null;
  }
}
