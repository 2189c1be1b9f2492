import { homedir } from "node:os";
import { join } from "node:path";
import { readEnvironment } from "../config/environment.ts";
import { sharedOptions } from "../config/options.ts";
import { absolute, isInside, real, shown } from "../config/paths.ts";
import { readSources } from "../config/sources.ts";
import { isGiven } from "../config/tokenise.ts";
import { configSubject, recordTrust, revokeTrust, scriptSubject, type TrustSubject, trustState } from "../config/trust.ts";
import { type Environment, readTrust } from "../config/trust-store.ts";
import { ExitCode, TeamError } from "../errors.ts";
import { plural } from "../text.ts";
import type { Command, CommandContext } from "./command.ts";
import { indented } from "./layout.ts";
import { writeJson, writeText } from "./print.ts";

/** Shows what of a project runs programs, and records the user's consent to it. Running the command is the consent: it asks nothing. */
export const command: Command = {
  name: "trust",
  summary: "Let this project's plugins, commands and configs run",
  definition: {
    meta: {
      name: "trust",
      description:
        "What a project's files name as a program or as a place for keys does not run before you say so: plugins, massgen.command and " +
        "configs of agents in mg-team.yaml, and a plugin_dir inside the project. This command lists them and remembers, for you alone, " +
        "that they may run as they are now. When one of the files changes, they must be trusted again.",
    },
    args: {
      list: { type: "boolean", group: "What to do", description: "Only list, and say what is trusted" },
      revoke: { type: "boolean", group: "What to do", description: "Take the consent back" },
      ...sharedOptions,
    },
  },
  help: { examples: ["mg-team trust --list", "mg-team trust", "mg-team trust --revoke"] },
  async run(context) {
    const { options, environment, cwd } = context;
    const [list, revoke] = [isGiven(options, "list"), isGiven(options, "revoke")];
    if (list && revoke) throw new TeamError("usage", "--list and --revoke exclude each other", "Keep one of them: mg-team trust --list");
    if (revoke) return takeBack(context);
    const subjects = await subjectsOf(context);
    if (!list) recordTrust(subjects, environment, new Date());
    const { stdout } = context;
    if (isGiven(options, "json")) writeJson(stdout, jsonOf(subjects, environment));
    else writeText(stdout, text(subjects, environment, cwd, list));
    return ExitCode.ok;
  },
};

// --- internal ---

async function subjectsOf({ options, environment, cwd }: CommandContext): Promise<TrustSubject[]> {
  const { file } = readSources(options, environment, cwd);
  const surroundings = await readEnvironment(cwd, environment.HOME || homedir());
  const script = surroundings?.pluginDir ? join(surroundings.pluginDir, "scripts", "run-massgen.sh") : null;
  const found = [file === null ? null : configSubject(file), script === null ? null : scriptSubject(script, cwd)];
  return found.filter((subject): subject is TrustSubject => subject !== null);
}

/** Also for what is no longer there, or no longer valid: taking back must always work. */
function takeBack({ options, environment, cwd, stdout }: CommandContext): ExitCode {
  const named = options.given.get("config")?.map((path) => real(absolute(path, cwd))) ?? [];
  const here = Object.keys(readTrust(environment)).filter((anchor) => isInside(anchor, cwd));
  const revoked = revokeTrust([...new Set([...here, ...named])], environment);
  if (isGiven(options, "json")) writeJson(stdout, { revoked });
  else if (revoked.length === 0) stdout.write("Nothing of this project was trusted.\n");
  else writeText(stdout, `No longer trusted: ${revoked.map((anchor) => shown(anchor, real(cwd))).join(", ")}\n`);
  return ExitCode.ok;
}

function text(subjects: readonly TrustSubject[], environment: Environment, cwd: string, list: boolean): string {
  if (subjects.length === 0) return "Nothing here needs your trust: no file of this project names a program.\n";
  const lines = subjects.flatMap((subject) => {
    const name = shown(subject.anchor, real(cwd));
    const items = subject.items.map(({ what, files }) => (files.length > 1 ? `${what} (${plural(files.length, "file")})` : what));
    return [`${headings[list ? trustState(subject, environment) : "trusted"]} ${name}`, ...indented(items)];
  });
  const plugins = subjects.some(({ items }) => items.some(({ kind }) => kind === "plugin"));
  const limits = plugins
    ? ["Covered are these files and all that plugins import, but not programs that they", "start, and no file whose path they compute."]
    : [];
  const open = list && subjects.some((subject) => trustState(subject, environment) !== "trusted");
  const next = open ? ["To let them run as they are now: mg-team trust"] : ["After a change to one of these files, trust it again."];
  return `${[...lines, "", ...limits, ...next].join("\n")}\n`;
}

const headings = { trusted: "Trusted:    ", changed: "Changed:    ", unknown: "Not trusted:" } as const;

function jsonOf(subjects: readonly TrustSubject[], environment: Environment): unknown {
  const shownSubjects = subjects.map((subject) => ({
    path: subject.anchor,
    state: trustState(subject, environment),
    items: subject.items.map(({ kind, what, files }) => ({ kind, what, files })),
  }));
  return { trust: shownSubjects };
}
