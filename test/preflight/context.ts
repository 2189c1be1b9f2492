import { type Command, type CommandContext, optionsOf } from "../../src/commands/command.ts";
import type { Output } from "../../src/commands/io.ts";
import { commonOptions } from "../../src/config/options.ts";
import { pickCommand, tokenise } from "../../src/config/tokenise.ts";
import type { Place } from "./support.ts";

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command in a place, as cli.ts would, and collects what it says. Rejects with what it throws. */
export async function runCommand(command: Command, place: Place, args: readonly string[] = [], isTerminal = false): Promise<CommandResult> {
  const said = { stdout: "", stderr: "" };
  const output = (name: "stdout" | "stderr"): Output => ({
    write: (text) => {
      said[name] += text;
    },
    wrote: false,
    closed: false,
    isTerminal,
    columns: 80,
    flush: async () => null,
  });
  const options = { ...optionsOf(command), ...commonOptions };
  const line = (text: string) => {
    said.stderr += `${text}\n`;
  };
  const context: CommandContext = {
    options: tokenise(pickCommand([command.name, ...args], [command.name], options), options),
    positionals: {},
    environment: place.env,
    cwd: place.project,
    stdin: { isTerminal: false, read: async () => new Uint8Array() },
    stdout: output("stdout"),
    stderr: output("stderr"),
    log: { info: line, warn: line },
    signals: { first: null, onSignal: () => () => {} } as unknown as CommandContext["signals"],
  };
  const code = await command.run(context);
  return { code, ...said };
}
