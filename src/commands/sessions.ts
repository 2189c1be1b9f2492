import { join } from "node:path";
import { sharedOptions } from "../config/options.ts";
import { isGiven } from "../config/tokenise.ts";
import { ExitCode } from "../errors.ts";
import { sessionsPath } from "../session/directory.ts";
import { readSessions } from "../view/sessions/read.ts";
import { renderSessions } from "../view/sessions/render.ts";
import { hasColor, widthOfOutput } from "./appearance.ts";
import type { Command } from "./command.ts";
import { writeJson } from "./print.ts";

/** Lists the runs of a project. */
export const command: Command = {
  name: "sessions",
  summary: "List the runs of this project, newest first",
  definition: {
    meta: {
      name: "sessions",
      description:
        "Lists the runs of this project, newest first: when, what was asked, who took part, how it was decided, what it cost and how long it " +
        "took. Runs at work, interrupted and crashed ones are marked; the last two can be resumed.",
    },
    args: { json: { ...sharedOptions.json, description: "Print the list as one JSON object" } },
  },
  help: { examples: ["mg-team sessions", "mg-team sessions --json"] },
  async run(context) {
    const { options, cwd, stdout, log } = context;
    const sessions = readSessions(cwd);
    if (isGiven(options, "json")) writeJson(stdout, { version: 1, sessions }, 2);
    else if (sessions.length === 0) log.info(`there are no runs yet in ${join(cwd, sessionsPath)}; start one: mg-team "QUERY"`);
    else stdout.write(`${renderSessions(sessions, widthOfOutput(stdout), hasColor(context, stdout)).join("\n")}\n`);
    return ExitCode.ok;
  },
};
