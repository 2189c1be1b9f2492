import { homedir } from "node:os";
import { defaultChoices } from "../config/choices.ts";
import { runOptions, sharedOptions } from "../config/options.ts";
import { resolveConfig } from "../config/resolve.ts";
import { isGiven } from "../config/tokenise.ts";
import { ExitCode } from "../errors.ts";
import { type Initialised, initialise } from "../preflight/initialise.ts";
import { renderChecks } from "../preflight/render.ts";
import { cacheDirectory } from "../preflight.ts";
import type { Command, CommandContext } from "./command.ts";
import { writeJson } from "./print.ts";

/** Looks around and writes environment.json. */
export const command: Command = {
  name: "init",
  summary: "Look around and write .massgen-quality/environment.json",
  definition: {
    meta: {
      name: "init",
      description:
        "Looks for MassGen, keys and docker, and writes what it found to .massgen-quality/environment.json. Names of keys only, never a key. A run does the same when the file is missing.",
    },
    args: {
      force: {
        type: "boolean",
        group: "How to run",
        description: "Bring a file that exists up to date; fields that are not mg-team's stay",
      },
      massgen: runOptions.massgen,
      refresh: runOptions.refresh,
      ...sharedOptions,
    },
  },
  help: { examples: ["mg-team init", "mg-team init --force"] },
  async run(context) {
    const { choices, output } = resolveConfig(context.options, context.environment, context.cwd, "leave out");
    const done = await look(context, choices);
    const color = output.color && context.stdout.isTerminal;
    if (output.mode === "json") writeJson(context.stdout, jsonOf(done), 2);
    else context.stdout.write(renderChecks(done.checks, color));
    return ExitCode.ok;
  },
};

// --- internal ---

function look({ options, environment, cwd, log }: CommandContext, choices: typeof defaultChoices): Promise<Initialised> {
  const home = environment.HOME || homedir();
  const { massgenCommand, massgenSource, refresh } = choices;
  const input = {
    projectDir: cwd,
    home,
    env: environment,
    // What there is, whatever the configuration wants of it.
    engine: defaultChoices.engine,
    docker: defaultChoices.docker,
    command: massgenCommand === null ? null : { command: massgenCommand, source: massgenSource ?? "the configuration" },
    cacheDir: cacheDirectory(environment, home),
    refresh,
    note: log.info,
  };
  return initialise(input, isGiven(options, "force"));
}

function jsonOf({ path, written, found, checks }: Initialised): unknown {
  const shown = checks.map(({ name, status, message, hint }) => ({ name, status, message, hint }));
  return { version: 1, path, written, massgen: found.massgen, keys: found.keys, docker: found.docker, checks: shown };
}
