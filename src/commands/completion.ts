import { ExitCode, TeamError } from "../errors.ts";
import { listOf, nearest, quoted } from "../text.ts";
import type { Command } from "./command.ts";
import { bashScript } from "./completion/bash.ts";
import { type Completions, completionsOf } from "./completion/completions.ts";
import { fishScript } from "./completion/fish.ts";
import { zshScript } from "./completion/zsh.ts";
import { commands, loadAll } from "./index.ts";

export const command: Command = {
  name: "completion",
  summary: "Print a script that completes commands and options",
  definition: {
    meta: {
      name: "completion",
      description: "Prints a script that lets a shell complete mg-team's commands, options, models and files.",
    },
    args: { shell: { type: "positional", required: true, choices: ["bash", "zsh", "fish"], description: "bash, zsh or fish" } },
  },
  help: {
    sections: [
      {
        title: "To load it",
        rows: [
          ["bash", "source <(mg-team completion bash)         in ~/.bashrc"],
          ["zsh", "source <(mg-team completion zsh)          in ~/.zshrc"],
          ["fish", "mg-team completion fish | source          in config.fish"],
        ],
      },
    ],
  },
  async run({ positionals, stdout }) {
    stdout.write(scriptFor(positionals.shell ?? "", completionsOf(await loadAll(commands))));
    return ExitCode.ok;
  },
};

/** The script for a shell. Throws a TeamError (usage) for a shell that we do not know. */
export function scriptFor(shell: string, completions: Completions): string {
  const names = Object.keys(scripts);
  const script = names.includes(shell.toLowerCase()) ? scripts[shell.toLowerCase()] : undefined;
  if (script) return script(completions);
  const hint = `For example: mg-team completion ${nearest(shell, names) ?? "bash"}`;
  throw new TeamError("usage", `SHELL must be ${listOf(names, "or")}, not ${quoted(shell)}`, hint);
}

// --- internal ---

/** To add a shell, add its file and a line. */
const scripts: Readonly<Record<string, (completions: Completions) => string>> = { bash: bashScript, zsh: zshScript, fish: fishScript };
