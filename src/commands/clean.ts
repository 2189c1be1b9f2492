import { sharedOptions } from "../config/options.ts";
import { isGiven, optionValue } from "../config/tokenise.ts";
import { ExitCode, messageOf, TeamError } from "../errors.ts";
import { whileUnlocked } from "../session/lock.ts";
import { parseDuration, plural, quoted } from "../text.ts";
import { formatBytes, renderOldRuns } from "../view/sessions/old-runs.ts";
import { hasColor, widthOfOutput } from "./appearance.ts";
import type { Command, CommandContext } from "./command.ts";
import { findOldRuns, type OldRun } from "./old-runs.ts";
import { writeJson } from "./print.ts";
import { removeTree } from "./remove-tree.ts";

/** Removes old runs. */
export const command: Command = {
  name: "clean",
  summary: "Remove old runs, after asking",
  definition: {
    meta: {
      name: "clean",
      description:
        "Removes the directories of runs that nobody has touched for some time, with every answer and file in them. It lists what would go and " +
        "asks first; a run at work is never touched, and links are not followed.",
    },
    args: {
      "older-than": {
        type: "string",
        valueHint: "AGE",
        group: "What to remove",
        allowed: "a time such as 12h, 30d or 8w",
        example: "30d",
        description: "Runs that nothing was written to for that long: 12h, 30d, 8w",
      },
      yes: { type: "boolean", alias: "y", group: "How", description: "Do not ask; needed where nobody can answer" },
      "dry-run": { type: "boolean", alias: "n", group: "How", description: "Only list what would be removed" },
      json: { ...sharedOptions.json, description: "Print what was, or would be, removed as one JSON object" },
    },
  },
  help: {
    examples: ["mg-team clean --older-than 30d --dry-run", "mg-team clean --older-than 30d", "mg-team clean --older-than 12h --yes"],
  },
  async run(context) {
    const { options, cwd, log } = context;
    const age = ageOf(optionValue(options, "older-than"));
    const { old, spared } = await findOldRuns(cwd, Date.now() - age.seconds * 1000);
    for (const { id, why } of spared) log.info(`${id} is left alone: ${why}`);
    if (old.length === 0) log.info(`nothing to remove: no run is older than ${age.text}`);
    const dry = isGiven(options, "dry-run");
    if (!isGiven(options, "json")) list(context, old);
    const wanted = old.length > 0 && !dry && (isGiven(options, "yes") || (await agreed(context, old, age.text)));
    const { removed, failed } = wanted ? await removeAll(context, old) : { removed: [], failed: [] };
    if (isGiven(options, "json")) writeJson(context.stdout, { version: 1, dry_run: dry, old, removed, failed }, 2);
    return failed.length > 0 ? ExitCode.write : ExitCode.ok;
  },
};

// --- internal ---

function ageOf(text: string | undefined): { readonly seconds: number; readonly text: string } {
  if (text === undefined) {
    throw new TeamError("usage", "clean needs to know how old: --older-than AGE", "For example: mg-team clean --older-than 30d --dry-run");
  }
  const [, count, unit] = /^\s*(\d+(?:\.\d+)?)\s*([dw])\s*$/i.exec(text) ?? [];
  const days = unit?.toLowerCase() === "w" ? 7 : 1;
  // A plain number would be seconds elsewhere, and days to most people here.
  const seconds = count === undefined ? (/[hms]/i.test(text) ? parseDuration(text) : null) : Number(count) * days * 86_400;
  if (seconds !== null) return { seconds, text: text.trim() };
  throw new TeamError(
    "usage",
    `--older-than must be a time such as 12h, 30d or 8w, not ${quoted(text)}`,
    "For example: mg-team clean --older-than 30d",
  );
}

function list(context: CommandContext, old: readonly OldRun[]): void {
  if (old.length === 0) return;
  const { stdout } = context;
  stdout.write(`${renderOldRuns(old, widthOfOutput(stdout), hasColor(context, stdout)).join("\n")}\n`);
}

/** Asks on a terminal; throws a TeamError (usage) where there is none. */
async function agreed({ stdin, stderr, log, options }: CommandContext, old: readonly OldRun[], age: string): Promise<boolean> {
  if (!stdin.isTerminal || !stderr.isTerminal || stdin.readLine === undefined || isGiven(options, "json")) {
    throw new TeamError(
      "usage",
      "clean cannot ask here, so it removes nothing",
      `To remove them without asking: mg-team clean --older-than ${age} --yes`,
    );
  }
  stderr.write(`Remove ${old.length === 1 ? "this run" : `these ${old.length} runs`} for good? [y/N] `);
  const yes = /^\s*y(es)?\s*$/i.test(await stdin.readLine());
  if (!yes) log.info("nothing was removed");
  return yes;
}

interface Failed {
  readonly id: string;
  readonly path: string;
  readonly why: string;
}

async function removeAll(
  { log }: CommandContext,
  old: readonly OldRun[],
): Promise<{ removed: readonly string[]; failed: readonly Failed[] }> {
  const removed: OldRun[] = [];
  const failed: Failed[] = [];
  for (const run of old) {
    const left = await removeRun(run);
    if (left.length === 0) removed.push(run);
    failed.push(...left.map((each) => ({ id: run.id, ...each })));
  }
  for (const { path, why } of failed.slice(0, mostWarnings)) log.warn(`${path} could not be removed: ${why}`);
  if (failed.length > mostWarnings) log.warn(`and ${plural(failed.length - mostWarnings, "more file")}`);
  log.info(`removed ${plural(removed.length, "run")}, ${formatBytes(removed.reduce((sum, { bytes }) => sum + bytes, 0))}`);
  return { removed: removed.map(({ id }) => id), failed };
}

const mostWarnings = 10;

/** Under its lock, so that nobody takes it up meanwhile. */
async function removeRun({ root }: OldRun): Promise<readonly { readonly path: string; readonly why: string }[]> {
  let left: readonly { readonly path: string; readonly why: string }[] = [];
  try {
    const free = await whileUnlocked(root, async () => {
      left = await removeTree(root, ".lock");
    });
    return free ? left : [{ path: root, why: "somebody has begun to work on it" }];
  } catch (error) {
    return [{ path: root, why: messageOf(error) }];
  }
}
