import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../support/temp.ts";
import type { Outcome, Start, Target } from "./target.ts";

type Json = Readonly<Record<string, unknown>>;

/** Everything that tests look at, read before the temporary directory is gone. */
export interface Observed extends Outcome {
  /** What LOG_DIR named; null when it was not printed. */
  readonly logDir: string | null;
  /** metrics_summary.json and status.json of the log directory. */
  readonly metrics: Json | null;
  readonly status: Json | null;
  /** All files below `agents/`, sorted; not what is in `.git`. */
  readonly files: readonly string[];
  /** Top-level names in agent_a's first workspace. */
  readonly workspace: readonly string[];
  /** Content of `made.yaml` in the working directory. */
  readonly made: string | null;
  /** A JSON file below `agents/`. */
  json(name: string): Json;
}

/** Runs each start once, when its first test asks for it, `target.parallel` at a time. */
export function observations<Name extends string>(
  target: Target,
  starts: Readonly<Record<Name, Start>>,
): (name: Name) => Promise<Observed> {
  const results = new Map<Name, Promise<Observed>>();
  const waiting: (() => void)[] = [];
  let running = 0;
  const turn = async () => {
    if (running >= target.parallel) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
  };
  const done = () => {
    const next = waiting.shift();
    if (next === undefined) running--;
    else next();
  };
  const run = async (start: Start) => {
    await turn();
    try {
      await using temp = temporaryDirectory();
      return readOutcome(await target.run(start, temp));
    } finally {
      done();
    }
  };
  // The first test starts them all, so that starts overlap although tests run one after the other.
  return (name) => {
    if (results.size === 0) for (const key of Object.keys(starts) as Name[]) results.set(key, run(starts[key]));
    return results.get(name) ?? Promise.reject(new Error(`no start ${name}`));
  };
}

// --- internal ---

function readOutcome(outcome: Outcome): Observed {
  const logDir = /^LOG_DIR: (.*)$/m.exec(outcome.stderr + outcome.stdout)?.[1] ?? null;
  const agents = join(outcome.sessionDir, "agents");
  const files = existsSync(agents)
    ? readdirSync(agents, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && !entry.parentPath.includes("/.git"))
        .map((entry) => join(entry.parentPath, entry.name).slice(agents.length + 1))
        .sort()
    : [];
  const contents = new Map(files.filter((file) => file.endsWith(".json")).map((file) => [file, readFileSync(join(agents, file), "utf8")]));
  const workspace = join(agents, "agent_a/001/workspace");
  const made = join(outcome.cwd, "made.yaml");
  const log = (name: string): Json | null => {
    const path = join(logDir ?? "none", "turn_1/attempt_1", name);
    return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : null;
  };
  return {
    ...outcome,
    logDir,
    metrics: log("metrics_summary.json"),
    status: log("status.json"),
    files,
    workspace: existsSync(workspace) ? readdirSync(workspace) : [],
    made: existsSync(made) ? readFileSync(made, "utf8") : null,
    json(name) {
      const text = contents.get(name);
      if (text === undefined) throw new Error(`no ${name} among ${files.join(", ")}; stderr: ${outcome.stderr.slice(-2000)}`);
      return JSON.parse(text);
    },
  };
}
