import type { OutputSettings } from "../config/settings.ts";
import { notification } from "../view/notify.ts";
import { wantsLiveView } from "../view/open.ts";
import { isForeground, openTerminal, type Terminal } from "../view/terminal.ts";
import type { CommandContext } from "./command.ts";
import { writeJson, writeText } from "./print.ts";

/** Where a command's words go. */
export interface Streams {
  /** The result only. */
  stdout(text: string): void;
  /** The same for a value, as JSON with a line feed. */
  json(value: unknown, indent?: number): void;
  /** Resolves when stdout has arrived, or its reader is gone. */
  arrived(): Promise<void>;
  /** One line for people. */
  stderr(line: string): void;
  /** The terminal that stderr is, to draw on; null where lines are better. */
  openTerminal(): Terminal | null;
  /** Tells whoever sits at the terminal that the run has ended. */
  notify(message: string): void;
}

/** The streams of a command that runs a team. */
export function streamsOf({ stdout, stderr, environment }: CommandContext, output: OutputSettings): Streams {
  const { columns = 0, rows = 0 } = process.stderr;
  const terminals = { stderr: stderr.isTerminal && columns >= leastColumns && rows >= leastRows, stdout: stdout.isTerminal };
  return {
    // An answer is the text of a model: on a terminal it must not be able to do anything.
    stdout: (text) => writeText(stdout, text),
    json: (value, indent) => writeJson(stdout, value, indent),
    arrived: async () => void (await stdout.flush()),
    stderr: (line) => stderr.write(`${line}\n`),
    openTerminal: () => (wantsLiveView(output, environment, terminals) && isForeground() ? openTerminal(process.stderr, 2) : null),
    notify(message) {
      if (output.notify && !output.quiet && stderr.isTerminal) stderr.write(notification(message, environment));
    },
  };
}

// --- internal ---

// A terminal that does not know its size says 0.
const [leastColumns, leastRows] = [20, 4];
