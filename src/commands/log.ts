import { createConsola, type LogObject } from "consola/core";
import { messageOf } from "../errors.ts";
import type { Log } from "../plugin/plugin.ts";
import { neutralise } from "../session/text.ts";
import type { Output } from "./io.ts";

/** Messages for people on stderr: `mg-team: …`. consola decides what is said at which level; how it looks is ours, and never on stdout. */
export function createLog(stderr: Output, { quiet, verbose }: { readonly quiet: boolean; readonly verbose: boolean }): Log {
  const log = createConsola({
    level: quiet ? levels.warnings : verbose ? levels.everything : levels.usual,
    // Equal lines are not noise here: two agents may have the same fault.
    throttle: 0,
    reporters: [{ log: (entry) => stderr.write(line(entry)) }],
  });
  return { info: (message) => log.info(message), warn: (message) => log.warn(message) };
}

// --- internal ---

const levels = { warnings: 1, usual: 3, everything: 4 } as const;

function line({ type, args }: LogObject): string {
  const text = args.map((part) => (typeof part === "string" ? part : messageOf(part))).join(" ");
  return `mg-team: ${type === "warn" ? "warning: " : ""}${neutralise(text)}\n`;
}
