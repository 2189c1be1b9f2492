import { sharedOptions } from "../config/options.ts";
import { isGiven } from "../config/tokenise.ts";
import { ExitCode } from "../errors.ts";
import { findStatusTarget, readStatus } from "../view/status/read.ts";
import { renderStatus } from "../view/status/render.ts";
import { hasColor, widthOfOutput } from "./appearance.ts";
import type { Command } from "./command.ts";
import { writeJson } from "./print.ts";

/** Shows where a run stands, whoever started it. */
export const command: Command = {
  name: "status",
  summary: "Show where a run stands: agents, answers, votes, timeline",
  definition: {
    meta: {
      name: "status",
      description:
        "Shows a run as it is now, at work or ended: what each agent does, how its answer begins, who voted for whom and which votes are stale, " +
        "how far the consensus is, and a timeline of all rounds. It reads any session directory of MassGen's step mode too, and says what " +
        "cannot be known without mg-team's own records. It changes nothing.",
    },
    args: {
      id: {
        type: "positional",
        required: false,
        description: "A team id, or the path of a team or session directory; default: the newest run",
      },
      watch: { type: "boolean", alias: "w", group: "What to show", description: "Go on showing it until the run has ended" },
      json: { ...sharedOptions.json, description: "Print it as one JSON object; with --watch one a line, at every change" },
    },
  },
  help: {
    examples: ["mg-team status", "mg-team status --watch", "mg-team status team_20261129_181500 --json", "mg-team status ../other/session"],
    sections: [
      {
        title: "Signs of the timeline",
        rows: [
          ["✓ → ↻", "answered; voted for …; tried again"],
          ["~ ?", "a vote that is stale (a newer answer came); one for nobody"],
          ["✗ - ■ ●", "failed; skipped by a plugin; stopped; at work"],
        ],
      },
    ],
  },
  async run(context) {
    const { options, positionals, cwd, stdout } = context;
    const target = findStatusTarget(cwd, positionals.id);
    // What draws on terminals takes a while to load.
    if (isGiven(options, "watch")) return (await import("./watch.ts")).watchStatus(context, target);
    const status = readStatus(target, Date.now());
    if (isGiven(options, "json")) writeJson(stdout, status, 2);
    else stdout.write(`${renderStatus(status, widthOfOutput(stdout), Number.POSITIVE_INFINITY, hasColor(context, stdout)).join("\n")}\n`);
    return ExitCode.ok;
  },
};
