import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { type Captured, capture } from "../../../src/engine/capture.ts";
import { type BallotFix, prepareBallotFix } from "../../../src/engine/massgen/ballot/fix.ts";
import { realMassgen } from "../../support/massgen.ts";
import type { TemporaryDirectory } from "../../support/temp.ts";

/** The virtual environment of the real MassGen. */
const venv = dirname(dirname(realMassgen()));

export const massgen = join(venv, "bin/massgen");
export const massgenPython = join(venv, "bin/python3");

/** Every Python of this machine: MassGen's, the system's, and those of pyenv. */
export const pythons: readonly string[] = [massgenPython, ...system(), ...pyenv()];

/** Those that may run MassGen. */
export const recentPythons = pythons.filter((path) => !/versions\/(2|3\.[0-9]\.)/.test(path));

/** What `pretend/launch.py` tells about itself. */
export interface Launched extends Captured {
  readonly said: Readonly<Record<string, unknown>>;
}

export interface LaunchOptions {
  readonly python?: string;
  readonly flags?: readonly string[];
  /** Agents that have answers; the voter is agent_b. */
  readonly answers?: readonly string[];
  /** A PYTHONPATH of the user's own. */
  readonly pythonpath?: readonly string[];
  readonly repair?: boolean;
  /** Changes MassGen's stand-in and its launcher. */
  edit?(source: string): string;
}

/** Runs a copy of the stand-in as `massgen --step` would be run. */
export async function launch(temp: TemporaryDirectory, options: LaunchOptions = {}): Promise<Launched> {
  const { python = massgenPython, flags = [], answers = ["agent_a", "agent_c"], repair = true, edit = (source) => source } = options;
  const copy = temp.join(`pretend-${crypto.randomUUID()}`);
  for (const file of ["launch.py", "massgen/__init__.py", "massgen/orchestrator.py"]) {
    mkdirSync(join(copy, "massgen"), { recursive: true });
    writeFileSync(join(copy, file), edit(readFileSync(join(import.meta.dir, "pretend", file), "utf8")));
  }
  const env = environment(options.pythonpath);
  const fix = repair ? await placed(temp, env) : { env: {} };
  const done = await capture([python, ...flags, join(copy, "launch.py"), "--step", ...answers], {
    env: { ...env, ...fix.env },
    limitSeconds: 30,
  });
  return { ...done, said: done.stdout.startsWith("{") ? JSON.parse(done.stdout) : {} };
}

/** Runs some other program, with the repair in its environment or without. */
export async function run(temp: TemporaryDirectory, argv: readonly string[], repair: boolean, pythonpath?: readonly string[]) {
  const env = environment(pythonpath);
  const fix = repair ? await placed(temp, env) : { env: {} };
  const { stdout, stderr, exit } = await capture(argv, { env: { ...env, ...fix.env }, limitSeconds: 30 });
  return { stdout, stderr, code: exit.code };
}

export function placed(temp: TemporaryDirectory, env: Readonly<Record<string, string | undefined>>): Promise<BallotFix> {
  return prepareBallotFix({ directory: temp.join("ballot"), env, mode: "auto", need: "unknown" });
}

// --- internal ---

function environment(pythonpath: readonly string[] | undefined): Record<string, string | undefined> {
  return { ...process.env, PYTHONPATH: pythonpath?.join(delimiter) };
}

function system(): string[] {
  return ["/usr/bin/python3"].filter(existsSync);
}

function pyenv(): string[] {
  const versions = join(process.env.MG_TEST_REAL_HOME ?? homedir(), ".pyenv/versions");
  if (!existsSync(versions)) return [];
  return readdirSync(versions)
    .map((version) => join(versions, version, "bin/python"))
    .filter(existsSync);
}
