import { homedir } from "node:os";
import { systemClock } from "../clock.ts";
import { findKeys } from "../config/keys.ts";
import { sharedOptions } from "../config/options.ts";
import { secretsOf } from "../config/secrets.ts";
import { isGiven } from "../config/tokenise.ts";
import { ExitCode } from "../errors.ts";
import { findTeamDirectory } from "../session/directory.ts";
import { createRedactor } from "../session/redact.ts";
import { writeReport } from "../view/report/write.ts";
import { readTeamConfig } from "../view/status/read.ts";
import type { Command } from "./command.ts";
import { writeJson, writeText } from "./print.ts";
import { version } from "./version.ts";

/** Makes a run's page again: of runs that ended without one, or that an older mg-team wrote. */
export const command: Command = {
  name: "report",
  summary: "Write the report of a run, one HTML file",
  definition: {
    meta: {
      name: "report",
      description:
        "Writes report.html into the run's directory and prints its path: the answer, how it was decided, every agent's part, cost and failures, in one " +
        "file that works offline. Every run writes it at its end, unless --no-report says otherwise; interrupted and unfinished runs have one too.",
    },
    args: {
      id: { type: "positional", required: false, description: "A team id or a path; default: the newest run" },
      json: { ...sharedOptions.json, description: "Print {version, session_id, report} instead of the path" },
    },
  },
  help: { examples: ["mg-team report", "mg-team report team_20261129_181500", 'xdg-open "$(mg-team report)"'] },
  async run({ options, positionals, environment, cwd, stdout }) {
    const directory = findTeamDirectory(cwd, positionals.id);
    const keys = findKeys(environment, cwd, environment.HOME || homedir());
    const report = await writeReport(directory, {
      date: new Date(systemClock.date()),
      version,
      redact: createRedactor(secretsOf(keys, Object.values(readTeamConfig(directory).models))),
    });
    if (isGiven(options, "json")) writeJson(stdout, { version: 1, session_id: directory.id, report });
    else writeText(stdout, `${report}\n`);
    return ExitCode.ok;
  },
};
