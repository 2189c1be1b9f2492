import { afterAll } from "bun:test";
import { AsyncLocalStorage } from "node:async_hooks";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { main, type Surroundings } from "../../src/cli.ts";
import { systemClock } from "../../src/clock.ts";
import type { Output } from "../../src/commands/io.ts";
import { type TeamDirectory, teamDirectory } from "../../src/session/directory.ts";
import type { TeamEvent } from "../../src/session/events.ts";
import type { RunResult } from "../../src/session/result.ts";
import type { SignalListener, SignalName } from "../../src/signals.ts";
import { installCommand } from "../fixtures/fake-massgen/install.ts";
import type { FakeScript, LaunchRecord } from "../fixtures/fake-massgen/script.ts";
import { type Plays, scriptOf } from "./plays.ts";
import { createProject, type TestProject } from "./project.ts";
import { checkRun } from "./run-rules.ts";

/** A whole `mg-team run` on the fake MassGen, in this process: no start of the CLI, the same `main`. */
export interface RunSpec {
  /** What the agents do; see {@link scriptOf}. As many agents as it names, unless `models` says otherwise. */
  readonly plays?: Plays;
  /** The rest of the fake's script. */
  readonly script?: FakeScript;
  readonly models?: readonly string[];
  readonly query?: string;
  /** More arguments. `--synthesis markdown` and `--events` are always there; `--json` in them takes the place of the latter. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Text of mg-team.yaml. */
  readonly yaml?: string;
  /** Files of the project, by name. Their paths may be used in `args` as `./name`. */
  readonly files?: Readonly<Record<string, string>>;
  /** Names of files beside the fake's script (marks of events, announcements): once all exist, the run's clock is past every limit. */
  readonly timeIsUp?: readonly string[];
  /** A plugin has a say in decisions or the document, so that they are not counted and compared again. */
  readonly pluginDecides?: boolean;
  /** Sees each event as it is printed; may end the run. */
  readonly onEvent?: (event: TeamEvent, live: LiveRun) => void;
}

export interface LiveRun {
  readonly project: TestProject;
  /** As if the process had got that signal. */
  kill(signal: SignalName): void;
  /** Moves the clock of this run ahead, in seconds. */
  skip(seconds: number): void;
}

/** A run that has ended, with everything that it left. Its project is gone. */
export interface FinishedRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** result.json. */
  readonly result: RunResult;
  /** events.jsonl. */
  readonly events: readonly TeamEvent[];
  readonly launches: readonly LaunchRecord[];
}

/** The same while its files are still there. */
export interface KeptRun extends FinishedRun {
  readonly project: TestProject;
  readonly directory: TeamDirectory;
}

/**
 * Plays a run and checks what holds for every run whatsoever (`checkRun`). Few at the same time; more wait for their turn.
 * @param look at what is on disk, before it is gone
 */
export async function playRun(spec: RunSpec, look: (run: KeptRun) => void | Promise<void> = () => {}): Promise<FinishedRun> {
  return inTurn(async () => {
    await using project = createRunProject(spec);
    const { code, stdout, stderr } = await runHere(project, argumentsOf(spec), spec.onEvent, spec.timeIsUp);
    const directory = onlyRun(project, stderr);
    const result: RunResult = JSON.parse(readFileSync(directory.result, "utf8"));
    const events = linesOf(readFileSync(directory.journal, "utf8"));
    const run = { code, stdout, stderr, result, events, launches: project.launches(), project, directory };
    checkRun(run, spec.pluginDecides ?? false);
    await look(run);
    return run;
  });
}

/** Plays something that ends before there is a run: wrong options, a failing preflight. */
export async function playRefusal(spec: RunSpec): Promise<{ code: number; stdout: string; stderr: string; launches: LaunchRecord[] }> {
  return inTurn(async () => {
    await using project = createRunProject(spec);
    const ended = await runHere(project, argumentsOf(spec), spec.onEvent);
    return { ...ended, launches: project.launches() };
  });
}

/** A project for such a run. All projects share one fake and its cached probe and configs, so that only steps are started. */
export function createRunProject({ plays = {}, script = {}, env = {}, yaml, files = {} }: RunSpec, name = "project"): TestProject {
  const project = createProject({
    name,
    layout: "none",
    script: { quiet: true, ...script, agents: { ...scriptOf(plays), ...script.agents } },
  });
  const { bin, cache } = sharedFake();
  Object.assign(project.env, { PATH: `${bin}:/usr/bin:/bin`, XDG_CACHE_HOME: cache, ...env });
  if (yaml !== undefined) project.temp.write(`${name}/mg-team.yaml`, yaml);
  for (const [path, text] of Object.entries(files)) project.temp.write(`${name}/${path}`, text);
  return project;
}

/** argv of a run. */
export function argumentsOf({ plays = {}, models, query = "Say hello", args = [] }: RunSpec): string[] {
  const count = Math.max(2, Object.keys(plays).length);
  const team = models ?? Array.from({ length: count }, (_, index) => `grok/model-${"abcdefgh"[index]}`);
  const mode = args.includes("--json") || args.includes("--events") ? [] : ["--events"];
  const named =
    args.some((word) => word === "--models" || word.startsWith("--models=")) || team.length === 0 ? [] : [`--models=${team.join(",")}`];
  const synthesis = args.includes("--synthesis") ? [] : ["--synthesis", "markdown"];
  return ["run", ...mode, "--no-docker", ...synthesis, ...named, ...args, "--", query];
}

/** Runs the program's `main` in this process. Events on stdout become files beside the fake's script, for its waits: `step.finished-agent_b-1`. */
export async function runHere(
  project: TestProject,
  argv: readonly string[],
  onEvent: RunSpec["onEvent"] = () => {},
  timeIsUp: RunSpec["timeIsUp"] = [],
): Promise<{ code: number; stdout: string; stderr: string }> {
  const clock = { ahead: 0 };
  const skip = (seconds: number) => {
    clock.ahead += seconds;
  };
  const listeners = new Set<SignalListener>();
  let killed = 0;
  const kill = (name: SignalName) => {
    const exitCode = ({ SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const)[name];
    for (const listener of [...listeners]) listener({ name, exitCode, again: killed > 0 });
    killed++;
  };
  const observe = (event: TeamEvent) => {
    for (const name of markOf(event)) project.signal(name);
    onEvent(event, { project, kill, skip });
  };
  const printsEvents = argv.includes("--events");
  const stdout = collector((text) => {
    if (printsEvents && text.startsWith('{"v":1')) observe(JSON.parse(text));
  });
  const stderr = collector();
  const unfollow = printsEvents ? () => {} : followJournal(project, observe);
  const unwait = timeIsUp.length > 0 ? whenAnnounced(project, timeIsUp, () => skip(pastEveryLimit)) : () => {};
  const surroundings: Surroundings = {
    environment: project.env,
    cwd: project.directory,
    stdin: { isTerminal: false, read: async () => new Uint8Array() },
    stdout,
    stderr,
    signals: {
      onSignal(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      first: null,
      dispose() {},
    },
  };
  const code = await clocks.run(clock, () => main(argv, surroundings));
  unfollow();
  unwait();
  return { code, stdout: stdout.text, stderr: stderr.text };
}

/** The team directory of a project's only run. */
export function onlyRun(project: TestProject, output = ""): TeamDirectory {
  const sessions = join(project.directory, ".massgen-quality/sessions");
  let names: string[] = [];
  try {
    names = readdirSync(sessions);
  } catch {
    // Told below.
  }
  const [name, ...more] = names;
  if (name === undefined || more.length > 0) throw new Error(`expected one run, found ${names.length}: ${output}`);
  return teamDirectory(join(sessions, name));
}

/** Lines of JSON. */
export function linesOf<Line = TeamEvent>(text: string): Line[] {
  return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Line]));
}

/** Runs it when fewer than `atOnce` others run: two cores, and each run starts two to five processes. */
export async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
  else running++;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running--;
  }
}

/** Milliseconds for a test that waits for its turn. */
export const patience = 120_000;

/** Seconds; more than any `--timeout` of these tests. */
export const pastEveryLimit = 100_000;

// --- internal ---

/** Each run here has a clock of its own, so that a test decides when its time is up, however busy the machine is. */
const clocks = new AsyncLocalStorage<{ ahead: number }>();
const { now } = systemClock;
systemClock.now = () => now() + (clocks.getStore()?.ahead ?? 0);

const atOnce = 4;
let running = 0;
const waiting: (() => void)[] = [];

let fake: { readonly bin: string; readonly cache: string } | null = null;

const removeFake = () => {
  if (fake) rmSync(dirname(fake.bin), { recursive: true, force: true });
  fake = null;
};
try {
  afterAll(removeFake);
} catch {
  process.on("exit", removeFake); // not in a test: a benchmark
}

/** Gone with the test file. */
function sharedFake(): { readonly bin: string; readonly cache: string } {
  if (fake) return fake;
  const root = mkdtempSync(join(tmpdir(), "mg-team-fake-"));
  installCommand(join(root, "bin"));
  fake = { bin: join(root, "bin"), cache: join(root, "cache") };
  return fake;
}

/** Calls back once all of these exist beside the fake's script. */
function whenAnnounced(project: TestProject, names: readonly string[], callback: () => void): () => void {
  const timer = setInterval(() => {
    if (!names.every((name) => existsSync(project.temp.join("fake", name)))) return;
    clearInterval(timer);
    callback();
  }, 5);
  return () => clearInterval(timer);
}

/** Tells of events as they appear in the journal, for runs that do not print them. */
function followJournal(project: TestProject, observe: (event: TeamEvent) => void): () => void {
  let seen = 0;
  const look = () => {
    try {
      const text = readFileSync(onlyRun(project).journal, "utf8");
      const events = linesOf(text.slice(0, text.lastIndexOf("\n") + 1)).slice(seen);
      seen += events.length;
      for (const event of events) observe(event);
    } catch {
      // There is no run yet.
    }
  };
  const timer = setInterval(look, 10);
  return () => clearInterval(timer);
}

function collector(onWrite: (text: string) => void = () => {}): Output & { readonly text: string } {
  let text = "";
  return {
    write(part) {
      text += part;
      onWrite(part);
    },
    get wrote() {
      return text !== "";
    },
    get text() {
      return text;
    },
    closed: false,
    isTerminal: false,
    columns: 80,
    flush: async () => null,
  };
}

function markOf(event: TeamEvent): string[] {
  if (event.type === "step.finished") return [`finished-${event.action.agent}-${event.action.round}`];
  if (event.type === "step.started") return [`started-${event.agent}-${event.round}`];
  return event.type === "synthesis.started" ? [`synthesis-${event.kind}`] : [];
}
