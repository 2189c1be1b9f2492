import { homedir } from "node:os";
import { defaultChoices } from "../config/choices.ts";
import { runOptions, sharedOptions } from "../config/options.ts";
import { ExitCode } from "../errors.ts";
import { checkConfig } from "../preflight/configuration.ts";
import { type Inspection, inspect } from "../preflight/inspect.ts";
import { renderChecks, renderVerdict } from "../preflight/render.ts";
import { cacheDirectory } from "../preflight.ts";
import { neutralise } from "../session/text.ts";
import type { Command, CommandContext } from "./command.ts";
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
    const inspection = await look(context);
    const { json, color } = outputOf(context);
    context.stdout.write(json ? `${JSON.stringify(jsonOf(inspection), null, 2)}\n` : textOf(inspection, context.cwd, color));
    return inspection.ready ? ExitCode.ok : ExitCode.preflight;
  },
};

// --- internal ---

function look({ options, environment, cwd, log }: CommandContext): Promise<Inspection> {
  const home = environment.HOME || homedir();
  const { config, checks } = checkConfig(options, environment, cwd);
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

/** Flags and the environment only, so that it is known even where mg-team.yaml is broken. */
function outputOf({ options, environment, stdout }: CommandContext): { readonly json: boolean; readonly color: boolean } {
  const plain = options.given.has("no-color") || (environment.NO_COLOR ?? "") !== "" || environment.TERM === "dumb";
  return { json: options.given.has("json"), color: stdout.isTerminal && !plain };
}

function textOf({ checks }: Inspection, cwd: string, color: boolean): string {
  return `mg-team ${version} in ${neutralise(cwd).replaceAll("\n", "␊")}\n\n${renderChecks(checks, color)}\n${renderVerdict(checks, color)}\n`;
}

function jsonOf({ ready, checks, install, docker, keys, logins, agents }: Inspection): unknown {
  return {
    version: 1,
    ready,
    mg_team: version,
    massgen: install && { version: install.version, source: install.source, command: install.argv, flags: [...install.flags].sort() },
    docker,
    keys,
    logins,
    models: agents.map(({ model }) => model),
    checks: checks.map(({ name, status, message, hint }) => ({ name, status, message, hint })),
  };
}
