import { systemClock } from "../clock.ts";
import { isGiven } from "../config/tokenise.ts";
import { ExitCode } from "../errors.ts";
import { createScreen, type Screen } from "../view/screen.ts";
import { readStatus, type StatusTarget } from "../view/status/read.ts";
import { renderStatus } from "../view/status/render.ts";
import type { TeamStatus } from "../view/status/shape.ts";
import { isForeground, openTerminal } from "../view/terminal.ts";
import { hasColor, widthOfOutput } from "./appearance.ts";
import type { CommandContext } from "./command.ts";
import { jsonFor } from "./print.ts";

/**
 * Shows a status again and again until the run has ended: in place on a terminal; else anew after each change, as text or as one line of
 * JSON. A session directory of others has no end that one could see: it is watched until a signal comes.
 */
export async function watchStatus(context: CommandContext, target: StatusTarget): Promise<number> {
  const { signals } = context;
  const ended = new AbortController();
  let code: number = ExitCode.ok;
  const unlisten = signals.onSignal((signal) => {
    code = signal.exitCode;
    ended.abort();
  });
  const show = createShow(context);
  try {
    // Whoever only wanted the beginning (`| head`) is not kept waiting for the end of a run.
    while (!ended.signal.aborted && !context.stdout.closed) {
      const before = performance.now();
      const status = readStatus(target, Date.now());
      const last = isOver(status);
      show.status(status, last);
      if (last) break;
      // Whoever has a very large session does not want all of a processor to go into watching it.
      await systemClock.sleep(Math.max(leastSeconds, ((performance.now() - before) / 1000) * 5), ended.signal);
    }
  } finally {
    show.close();
    unlisten();
  }
  return code;
}

// --- internal ---

const leastSeconds = 1;

interface Show {
  /** @param last nothing comes after it: it may be longer than the terminal is high */
  status(status: TeamStatus, last: boolean): void;
  close(): void;
}

function isOver({ state, source }: TeamStatus): boolean {
  return source === "journal" && state !== "running";
}

function createShow(context: CommandContext): Show {
  const { options, environment, stdout } = context;
  const color = hasColor(context, stdout);
  const text = (status: TeamStatus, height: number) => renderStatus(status, widthOfOutput(stdout), height, color);
  if (isGiven(options, "json")) return printChanges(context, (status) => jsonFor(stdout, status), "");
  const { TERM = "" } = environment;
  const drawable = stdout.isTerminal && process.stdout.columns > 0 && TERM !== "" && TERM !== "dumb" && isForeground();
  if (!drawable) return printChanges(context, (status) => text(status, Number.POSITIVE_INFINITY).join("\n"), "\n");
  const terminal = openTerminal(process.stdout, 1);
  let latest: TeamStatus | null = null;
  const draw = () => {
    if (latest) screen.draw(renderStatus(latest, screen.width, screen.height, color));
  };
  const screen: Screen = createScreen(terminal, draw);
  return {
    status(status, last) {
      latest = status;
      if (last) screen.print(`${text(status, Number.POSITIVE_INFINITY).join("\n")}\n`);
      else draw();
    },
    close: () => screen.close(),
  };
}

/** Prints what differs from what was printed before; the time that goes by is no difference. */
function printChanges({ stdout }: CommandContext, textOf: (status: TeamStatus) => string, between: string): Show {
  let before = "";
  return {
    status(status) {
      const still = JSON.stringify({ ...status, elapsed_seconds: 0, agents: status.agents.map((agent) => ({ ...agent, seconds: 0 })) });
      if (still === before) return;
      stdout.write(`${before === "" ? "" : between}${textOf(status)}\n`);
      before = still;
    },
    close() {},
  };
}
