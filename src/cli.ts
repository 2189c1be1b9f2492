import { isatty } from "node:tty";
import { readPositionals, refuseMistypedCommand } from "./commands/arguments.ts";
import { type CommandContext, optionsOf } from "./commands/command.ts";
import { errorJson, explainError } from "./commands/error-text.ts";
import { helpFor } from "./commands/help.ts";
import { shortHelp } from "./commands/help-text.ts";
import { commands, type Registry } from "./commands/index.ts";
import { createInput, createOutput, type Output, type StandardInput } from "./commands/io.ts";
import { createLog } from "./commands/log.ts";
import { writeJson } from "./commands/print.ts";
import { version } from "./commands/version.ts";
import { runOptions, variableOf } from "./config/options.ts";
import { type CommandLine, isGiven, pickCommand, tokenise } from "./config/tokenise.ts";
import type { Environment } from "./config/trust-store.ts";
import { onOrOff } from "./config/values.ts";
import { ExitCode, TeamError } from "./errors.ts";
import { killAllNow } from "./process/child.ts";
import { reasonOf } from "./session/reasons.ts";
import { installSignals, type Signals } from "./signals.ts";

/** What the program finds around it; a test brings its own. */
export interface Surroundings {
  readonly environment: Environment;
  readonly cwd: string;
  readonly stdin: StandardInput;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly signals: Signals;
}

/** argv → command → exit code. Never throws; whatever goes wrong becomes text on stderr, and with `--json` an object on stdout. */
export async function main(argv: readonly string[], around: Surroundings, registry: Registry = commands): Promise<number> {
  const { stdout, stderr } = around;
  let code: number;
  try {
    code = await dispatch(argv, around, registry);
  } catch (error) {
    code = report(error, argv, around, registry);
  }
  const lost = await stdout.flush();
  await stderr.flush();
  if (lost === null) return code;
  const hint = "Free some space, or send the output elsewhere. What a run delivered is also in its team directory.";
  const explained = explainError(new TeamError("write", `the result could not be written: ${lost.message}`, hint, { cause: lost }), false);
  stderr.write(explained.text);
  return explained.exitCode;
}

// --- internal ---

async function dispatch(argv: readonly string[], around: Surroundings, registry: Registry): Promise<number> {
  if (argv.length === 0) {
    around.stderr.write(shortHelp());
    return ExitCode.usage;
  }
  const names = Object.keys(registry);
  const picked = pickCommand(argv, names, runOptions);
  // Who asks for help or the version gets it, whatever else was typed.
  if (beforeDashes(picked.rest).some((word) => word === "--help" || word === "-h")) {
    around.stdout.write(await helpFor(picked.explicit ? picked.command : undefined, registry));
    return ExitCode.ok;
  }
  if (beforeDashes(picked.rest).some((word) => word === "--version" || word === "-V")) {
    around.stdout.write(`${version}\n`);
    return ExitCode.ok;
  }
  // The options of a run are known without loading it, so a mistyped command is refused before anything else.
  if (!picked.explicit) refuseMistypedCommand(tokenise(picked, runOptions), names);
  const load = registry[picked.command];
  if (load === undefined) throw new Error(`there is no command ${picked.command}`);
  const command = await load();
  const options = tokenise(picked, optionsOf(command));
  const positionals = command.freeWords ? {} : readPositionals(command, options);
  return command.run(contextOf(around, options, positionals));
}

function contextOf(around: Surroundings, options: CommandLine, positionals: CommandContext["positionals"]): CommandContext {
  const on = (name: "quiet" | "verbose") => isGiven(options, name);
  const variable = (name: "quiet" | "verbose") => isOn(around.environment, name);
  const quiet = on("quiet") || (variable("quiet") && !on("verbose"));
  const verbose = on("verbose") || (variable("verbose") && !on("quiet"));
  return { ...around, options, positionals, log: createLog(around.stderr, { quiet, verbose }) };
}

/** Works on argv itself, because what is wrong may be the options. */
function report(error: unknown, argv: readonly string[], { environment, stdout, stderr }: Surroundings, registry: Registry): number {
  const words = beforeDashes(argv);
  const verbose = words.includes("--verbose") || words.includes("-v") || isOn(environment, "verbose");
  const { command, explicit } = pickCommand(argv, Object.keys(registry), runOptions);
  const explained = explainError(error, verbose, explicit ? `mg-team ${command} --help` : "mg-team --help");
  stderr.write(explained.text);
  if ((words.includes("--json") || isOn(environment, "json")) && !stdout.wrote) writeJson(stdout, errorJson(explained));
  return explained.exitCode;
}

function isOn(environment: Environment, option: "quiet" | "verbose" | "json"): boolean {
  return onOrOff(environment[variableOf(option)] ?? "") === true;
}

/** Throws a TeamError (preflight) when it is gone: then there is no project to work on. */
function workingDirectory(): string {
  try {
    return process.cwd();
  } catch (error) {
    const hint = "Change to a directory that exists, then run the same command again.";
    throw new TeamError("preflight", `the current directory cannot be used: ${reasonOf(error)}`, hint, { cause: error });
  }
}

function beforeDashes(argv: readonly string[]): readonly string[] {
  const dashes = argv.indexOf("--");
  return dashes < 0 ? argv : argv.slice(0, dashes);
}

if (import.meta.main) {
  // Before anything else is done. Plugins are kept from `process.exit`; we are not.
  const exit = process.exit.bind(process);
  const signals = installSignals();
  const [stdout, stderr] = [createOutput(process.stdout), createOutput(process.stderr)];
  const stdin = createInput(
    () => process.stdin,
    isatty(0),
    (text) => stderr.write(text),
  );
  for (const event of ["uncaughtException", "unhandledRejection"] as const) {
    process.on(event, (error: unknown) => {
      // A run that listens too knows better what to keep.
      if (process.listenerCount(event) > 1) return;
      process.stderr.write(explainError(error, process.argv.includes("--verbose")).text);
      exit(ExitCode.bug);
    });
  }
  process.on("exit", killAllNow);
  const around = {
    environment: process.env,
    get cwd() {
      return workingDirectory();
    },
    stdin,
    stdout,
    stderr,
    signals,
  };
  const code = await main(process.argv.slice(2), around);
  // Both streams are flushed by now. Without this a timer that a plugin left behind would keep the program alive.
  exit(code);
}
