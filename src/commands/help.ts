import { ExitCode, TeamError } from "../errors.ts";
import { nearest, quoted } from "../text.ts";
import type { Command } from "./command.ts";
import { commandHelp, mainHelp } from "./help-text.ts";
import { commands, loadAll, type Registry } from "./index.ts";
import { version } from "./version.ts";

export const command: Command = {
  name: "help",
  summary: "Explain a command",
  definition: {
    meta: { name: "help", description: "Explains a command, or lists all of them." },
    args: { command: { type: "positional", required: false, description: "The command to explain" } },
  },
  help: { examples: ["mg-team help", "mg-team help run"] },
  async run({ positionals, stdout }) {
    stdout.write(await helpFor(positionals.command, commands));
    return ExitCode.ok;
  },
};

/** The help of a command, or the list of all. Throws a TeamError (usage) for a command that does not exist. */
export async function helpFor(name: string | undefined, registry: Registry): Promise<string> {
  if (name === undefined) return mainHelp(await loadAll(registry), version);
  const load = Object.hasOwn(registry, name) ? registry[name] : undefined;
  if (load) return commandHelp(await load());
  const meant = nearest(name, Object.keys(registry));
  const hint = meant === null ? "mg-team --help lists the commands." : `Did you mean ${meant}? mg-team help ${meant}`;
  throw new TeamError("usage", `there is no command ${quoted(name)}`, hint);
}
