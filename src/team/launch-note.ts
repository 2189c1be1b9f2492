import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { z } from "zod";
import type { StepSpec } from "../engine/engine.ts";
import type { LaunchRequest } from "../plugin/hooks.ts";
import { writeFileWholeSync } from "../session/atomic.ts";
import type { EventBody } from "../session/events.ts";
import { isDenied, writeError } from "../session/reasons.ts";
import { stepKey } from "../session/state.ts";
import { newestStep, snapshotSession } from "../session/steps.ts";
import type { Run } from "./run.ts";

type StepStarted = EventBody & { readonly type: "step.started" };
type QueryEdit = Pick<StepStarted, "query" | "query_file">;

/**
 * Leaves `launch.json` in a step's run directory before its process starts. The journal hears of the start only after it: mg-team could be
 * killed in between, and what the step then answers and spends would be nobody's. Not synced: it must outlive this process, not the machine.
 * A query that a plugin edited is kept whole beside it.
 * @returns what the journal says of such an edit
 * @throws TeamError `write`
 */
export function noteLaunch(run: Run, { kind, agent, round, try: attempt, asked }: LaunchRequest, spec: StepSpec): QueryEdit {
  const { runDir, sessionDir } = spec;
  const query = spec.query === asked ? null : run.redact(spec.query);
  const queryPath = join(runDir, queryFile);
  const edit = query === null ? {} : { query: shorten(query), query_file: relative(run.directory.root, queryPath) };
  const note = {
    kind,
    agent,
    round,
    try: attempt,
    ...edit,
    launched_with: snapshotSession(sessionDir),
    after: newestStep(sessionDir, agent),
  } satisfies Omit<StepStarted, "type" | "pid" | "run_dir">;
  const path = join(runDir, noteFile);
  try {
    mkdirSync(runDir, { recursive: true, mode: 0o700 });
    if (query !== null) writeFileWholeSync(queryPath, query);
    writeFileWholeSync(path, `${JSON.stringify(note)}\n`);
  } catch (error) {
    throw writeError("write", path, error);
  }
  return edit;
}

/** Starts that left a note and are not in the journal, oldest names first. */
export function unjournaledLaunches(run: Run): readonly StepStarted[] {
  return runDirectories(run.directory.runs).flatMap((directory): StepStarted[] => {
    const note = readNote(directory);
    if (note === null || run.state.startedSteps.has(stepKey(note))) return [];
    return [{ type: "step.started", pid: 0, run_dir: relative(run.directory.root, directory), ...note }];
  });
}

// --- internal ---

const noteFile = "launch.json";
const queryFile = "query.txt";

/** Characters of an edited query in the journal; the whole is in its file. */
const longestQuery = 1000;

function shorten(query: string): string {
  return query.length > longestQuery ? `${query.slice(0, longestQuery - 1).toWellFormed()}…` : query;
}

const noteSchema = z.object({
  kind: z.enum(["round", "retry", "synthesis", "plugin"]),
  agent: z.string(),
  round: z.number().int().min(0),
  try: z.number().int().min(1),
  query: z.string().exactOptional(),
  query_file: z.string().exactOptional(),
  launched_with: z.object({ answers: z.record(z.string(), z.number()), blank: z.array(z.string()) }),
  after: z.number().int().min(0),
});

/** runs/agent_a/r1, runs/agent_a/r1/try2, runs/synthesis/agent_a_1; what a step makes for itself below them is not looked at. */
function runDirectories(runs: string): string[] {
  const steps = directoriesIn(runs).flatMap((agent) => directoriesIn(agent));
  return steps.flatMap((step) => [step, ...directoriesIn(step, true).filter((path) => /\/try\d+$/.test(path))]);
}

/**
 * @param ofStep a step works in it, and may have made it unreadable
 * @throws TeamError `write`
 */
function directoriesIn(directory: string, ofStep = false): string[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
      .map(({ name }) => join(directory, name))
      .sort();
  } catch (error) {
    if (ofStep && isDenied(error)) return [];
    throw writeError("look for earlier steps in", directory, error);
  }
}

function readNote(directory: string): z.output<typeof noteSchema> | null {
  try {
    return noteSchema.parse(JSON.parse(readFileSync(join(directory, noteFile), "utf8")));
  } catch {
    return null; // absent: then nothing was started
  }
}
