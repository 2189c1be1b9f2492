import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { installCommand, installPlugin } from "../fixtures/fake-massgen/install.ts";
import { launchDirectory } from "../fixtures/fake-massgen/launches.ts";
import type { FakeScript, LaunchRecord } from "../fixtures/fake-massgen/script.ts";
import { type CliResult, type CliRun, startCli } from "./cli.ts";
import { type TemporaryDirectory, temporaryDirectory, untilExists } from "./temp.ts";

/** A project directory of its own with a fake MassGen, a home and keys; gone, with all its processes, at the end of its block. */
export interface TestProject extends AsyncDisposable {
  readonly temp: TemporaryDirectory;
  /** The working directory of the CLI; absolute. */
  readonly directory: string;
  readonly home: string;
  /** Path of the fake `massgen`; its directory is first on PATH. */
  readonly massgen: string;
  /** Environment of the CLI. Edit before a run. */
  readonly env: Record<string, string>;
  /** Changes what the fake does; also while a run goes on (the fake reads it at each start). */
  script(script: FakeScript): void;
  /** What was started so far, in order. */
  launches(kind?: LaunchRecord["kind"]): LaunchRecord[];
  /** Resolves when the agent's nth step has been launched. */
  untilLaunched(agent: string, launch?: number): Promise<void>;
  /** A file beside the script: what the waits of a FakeStep look for. */
  signal(name: string): void;
  /** Resolves when the fake has announced `name` (FakeWait.announce). */
  untilAnnounced(name: string): Promise<void>;
  /** Runs the CLI to its end. */
  cli(args: readonly string[], options?: CliOptions): Promise<CliResult>;
  /** Starts the CLI. It is killed at the end of the block if it still runs. */
  start(args: readonly string[], options?: CliOptions): CliRun;
}

export interface CliOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly stdin?: string | "inherit" | "pipe";
  /** See `startCli`. */
  readonly wrapper?: readonly string[];
}

export interface ProjectOptions {
  /** Name of the project directory. */
  readonly name?: string;
  readonly script?: FakeScript;
  /** Where the fake is: on PATH (default), or as `<project>/plugin/scripts/run-massgen.sh`, or nowhere. */
  readonly layout?: "path" | "plugin" | "none";
}

export function createProject(options: ProjectOptions = {}): TestProject {
  const temp = temporaryDirectory();
  const directory = temp.join(options.name ?? "project");
  const home = temp.join("home");
  const bin = temp.join("bin");
  for (const path of [directory, home, bin]) mkdirSync(path, { recursive: true });
  const plugin = options.layout === "plugin";
  const massgen = plugin ? installPlugin(temp.join("plugin")) : options.layout === "none" ? temp.join("none") : installCommand(bin);
  const scriptPath = temp.join("fake", "script.json");
  const stateDir = `${scriptPath}.state`;
  const runs: CliRun[] = [];
  const project: TestProject = {
    temp,
    directory,
    home,
    massgen,
    env: {
      PATH: `${bin}:/usr/bin:/bin`,
      HOME: home,
      LANG: "C.UTF-8",
      FAKE_MASSGEN_SCRIPT: scriptPath,
      OPENAI_API_KEY: "sk-test-0000000000000000openai",
      GEMINI_API_KEY: "test-0000000000000000gemini",
      ANTHROPIC_API_KEY: "sk-ant-test-0000000000anthropic",
      XAI_API_KEY: "xai-test-0000000000000000000xai",
    },
    script: (script) => void temp.write("fake/script.json", JSON.stringify(script, null, 2)),
    launches(kind) {
      const path = join(stateDir, "launches.jsonl");
      const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : [];
      return lines.map((line): LaunchRecord => JSON.parse(line)).filter((launch) => kind === undefined || launch.kind === kind);
    },
    untilLaunched: (agent, launch = 1) => untilExists(join(launchDirectory(join(stateDir, "launches"), agent), String(launch))),
    signal: (name) => writeFileSync(temp.join("fake", name), ""),
    untilAnnounced: (name) => untilExists(temp.join("fake", name)),
    cli: (args, cliOptions) => project.start(args, cliOptions).result,
    start(args, cliOptions = {}) {
      const run = startCli(args, {
        cwd: cliOptions.cwd ?? directory,
        env: { ...project.env, ...cliOptions.env },
        stdin: cliOptions.stdin ?? "",
        ...(cliOptions.wrapper ? { wrapper: cliOptions.wrapper } : {}),
      });
      runs.push(run);
      return run;
    },
    async [Symbol.asyncDispose]() {
      for (const run of runs) run.kill("SIGKILL");
      await Promise.all(runs.map((run) => run.result));
      for (const launch of project.launches()) {
        for (const pid of [launch.pid, ...launch.grandchildren]) killOurs(pid, scriptPath);
      }
      await temp[Symbol.asyncDispose]();
    },
  };
  project.script(options.script ?? {});
  return project;
}

// --- internal ---

/** Kills a process of the fake; a pid that meanwhile belongs to somebody else is left alone. */
function killOurs(pid: number, scriptPath: string): void {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, "latin1");
    const command = readFileSync(`/proc/${pid}/cmdline`, "latin1");
    if (environment.includes(scriptPath) || command === "sleep\u0000600\u0000") process.kill(pid, "SIGKILL");
  } catch {
    // Gone already.
  }
}
