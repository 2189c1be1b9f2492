import { homedir } from "node:os";
import { defaultChoices } from "../config/choices.ts";
import { runOptions, sharedOptions } from "../config/options.ts";
import { isGiven } from "../config/tokenise.ts";
import { ExitCode } from "../errors.ts";
import { type CheckedConfig, checkConfig } from "../preflight/configuration.ts";
import { type Inspection, inspect } from "../preflight/inspect.ts";
import { renderChecks, renderVerdict } from "../preflight/render.ts";
import { cacheDirectory } from "../preflight.ts";
import { neutralise } from "../session/text.ts";
import type { Command, CommandContext } from "./command.ts";
import { writeJson } from "./print.ts";
import { version } from "./version.ts";

/** Says what was found and where, and whether a run could start. */
export const command: Command = {
  name: "doctor",
  summary: "Check that a run can start: MassGen, keys, docker, settings",
  definition: {
    meta: {
      name: "doctor",
      description:
        "Looks at everything that a run needs, and says what was found and where. Keys are named, never shown. Exits with 3 when no run could start.",
    },
    args: {
      massgen: runOptions.massgen,
      "no-docker": runOptions["no-docker"],
      engine: runOptions.engine,
      refresh: runOptions.refresh,
      ...sharedOptions,
    },
  },
  help: { examples: ["mg-team doctor", "mg-team doctor --massgen ~/venv/bin/massgen", "mg-team doctor --json"] },
  async run(context) {
    const { options, environment, cwd, stdout } = context;
    const checked = checkConfig(options, environment, cwd);
    const inspection = await look(context, checked);
    // A configuration that is broken says nothing about the output.
    const { mode, color } = checked.config?.output ?? { mode: isGiven(options, "json") ? "json" : "text", color: false };
    if (mode === "json") writeJson(stdout, jsonOf(inspection), 2);
    else stdout.write(textOf(inspection, cwd, color && stdout.isTerminal));
    return inspection.ready ? ExitCode.ok : ExitCode.preflight;
  },
};

// --- internal ---

function look({ environment, cwd, log }: CommandContext, { config, checks }: CheckedConfig): Promise<Inspection> {
  const home = environment.HOME || homedir();
  const { engine, docker, massgenCommand, massgenSource, refresh } = config?.choices ?? defaultChoices;
  return inspect({
    projectDir: cwd,
    home,
    env: environment,
    engine,
    docker,
    command: massgenCommand === null ? null : { command: massgenCommand, source: massgenSource ?? "the configuration" },
    cacheDir: cacheDirectory(environment, home),
    refresh,
    config,
    configChecks: checks,
    note: log.info,
  });
}

function textOf({ checks }: Inspection, cwd: string, color: boolean): string {
  return `mg-team ${version} in ${neutralise(cwd).replaceAll("\n", "␊")}\n\n${renderChecks(checks, color)}\n${renderVerdict(checks, color)}\n`;
}

function jsonOf({ ready, checks, install, ballot, docker, keys, logins, agents }: Inspection): unknown {
  return {
    version: 1,
    ready,
    mg_team: version,
    massgen: install && { version: install.version, source: install.source, command: install.argv, flags: [...install.flags].sort() },
    ballot_fix: ballot && { need: ballot.need, why: ballot.why },
    docker,
    keys,
    logins,
    models: agents.map(({ model }) => model),
    checks: checks.map(({ name, status, message, hint }) => ({ name, status, message, hint })),
  };
}
