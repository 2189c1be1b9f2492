import { accessSync, constants, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../clock.ts";
import { defaultChoices } from "../config/choices.ts";
import { agentId } from "../config/models.ts";
import { runOptions, sharedOptions } from "../config/options.ts";
import { writeRunFile } from "../config/run-file.ts";
import type { OutputSettings, PluginRequest, RunSettings } from "../config/settings.ts";
import { pluginsOf } from "../config/sources.ts";
import { isGiven } from "../config/tokenise.ts";
import { createNativeEngine } from "../engine/native/engine.ts";
import { ExitCode, TeamError } from "../errors.ts";
import { demoModels, demoQuery } from "../native/demo/script.ts";
import { createTeamDirectory } from "../session/directory.ts";
import { acquireLock } from "../session/lock.ts";
import { emptyState } from "../session/state.ts";
import { shellWord } from "../text.ts";
import type { Agent } from "../types.ts";
import type { Command, CommandContext } from "./command.ts";
import { demoGuide } from "./demo-guide.ts";
import { executeRun } from "./execute.ts";
import { loadPlugins } from "./load-plugins.ts";
import { selfCommand } from "./self.ts";
import { streamsOf } from "./streams.ts";
import { version } from "./version.ts";
import { createWarnings } from "./warnings.ts";

/** Shows the whole program at work: real processes, files and votes; only what the three models say is written down beforehand. */
export const command: Command = {
  name: "demo",
  summary: "Watch a run with three scripted models: no key, no network, no cost",
  definition: {
    meta: {
      name: "demo",
      description:
        "Runs a team of three scripted models on a small task, from the first answers over stale votes to a consensus and a finished deliverable. " +
        "Everything but the models is real. It needs no key, no network and no MassGen, and takes a few seconds.",
    },
    args: {
      plugin: runOptions.plugin,
      json: sharedOptions.json,
      events: runOptions.events,
      "no-report": runOptions["no-report"],
    },
  },
  help: { examples: ["mg-team demo", "mg-team demo --json", "mg-team demo --plugin ./plugins/my-report.ts"] },
  async run(context) {
    const plugins = pluginsOf(context.options, context.cwd);
    const projectDir = placeFor(context);
    const output = outputOf(context);
    const { log } = context;
    log.info("a demonstration: three scripted models work on one task. No key, no network, no cost; all else is real.");
    log.info(`the task: ${demoQuery}`);
    const code = await runDemo(context, projectDir, plugins, output);
    if (code === ExitCode.ok && output.mode === "text") for (const line of nextSteps(projectDir, context.cwd)) log.info(line);
    return code;
  },
};

// --- internal ---

async function runDemo(
  context: CommandContext,
  projectDir: string,
  asked: readonly PluginRequest[],
  output: OutputSettings,
): Promise<ExitCode> {
  const { environment, options, log, signals } = context;
  const clock = systemClock;
  const plugins = [...(await loadPlugins(asked, [])), { plugin: demoGuide, options: undefined, file: null }];
  const directory = createTeamDirectory(projectDir, clock.date());
  const startedAt = clock.now();
  await using _lock = acquireLock(directory.root);
  const settings = settingsOf(projectDir, !isGiven(options, "no-report"));
  const file = { settings, docker: false, plugins: asked, withoutPlugins: [], strict: false };
  // Scripted models reach nothing that a resume would have to ask for.
  await writeRunFile(directory, file, null);
  const redact = (text: string) => text;
  const engine = createNativeEngine({
    program: selfCommand(),
    version,
    env: environment,
    redact,
    cookie: directory.cookie,
    warn: log.warn,
    clock,
  });
  return await executeRun({
    file,
    directory,
    engine,
    plugins,
    state: emptyState(),
    warnings: [],
    engineWarnings: createWarnings(),
    output,
    redact,
    signals,
    clock,
    startedAt,
    streams: streamsOf(context, output),
  });
}

/** The current directory, like any run; a temporary one where that cannot be written. */
function placeFor({ cwd, log }: CommandContext): string {
  try {
    accessSync(cwd, constants.W_OK | constants.X_OK);
    return cwd;
  } catch {
    const directory = temporaryPlace();
    log.info(`this directory cannot be written, so the files go to ${directory}`);
    return directory;
  }
}

function temporaryPlace(): string {
  try {
    return mkdtempSync(join(tmpdir(), "mg-team-demo-"));
  } catch (error) {
    const hint = "Change to a directory that can be written.";
    throw new TeamError("preflight", `neither this directory nor ${tmpdir()} can be written`, hint, { cause: error });
  }
}

function outputOf({ options, environment }: CommandContext): OutputSettings {
  const on = (name: string) => isGiven(options, name);
  if (on("json") && on("events")) throw new TeamError("usage", "--json and --events exclude each other", "Keep one of them: --json");
  const plain = on("no-color") || (environment.NO_COLOR ?? "") !== "" || environment.TERM === "dumb";
  return {
    mode: on("json") ? "json" : on("events") ? "events" : "text",
    quiet: on("quiet"),
    verbose: on("verbose"),
    color: !plain,
    notify: false,
  };
}

function settingsOf(projectDir: string, report: boolean): RunSettings {
  const agents = demoModels.map(
    (name, index): Agent => ({ id: agentId(index), model: `demo/${name}`, backend: "demo", modelName: name, engine: "native" }),
  );
  const { maxRounds, costBudget, stepTimeoutSeconds, retries, maxParallel, allowUnpriced } = defaultChoices;
  const limits = { maxRounds, timeoutSeconds: 300, costBudget, stepTimeoutSeconds, retries, maxParallel, allowUnpriced };
  return {
    query: demoQuery,
    agents,
    limits,
    docker: "off",
    context: [],
    criteriaPath: null,
    synthesis: "agent",
    synthesizer: null,
    prices: {},
    ballotFix: "off",
    engine: "native",
    massgenCommand: null,
    massgenSource: null,
    report,
    projectDir,
  };
}

function nextSteps(projectDir: string, cwd: string): readonly string[] {
  const change = projectDir === cwd ? [] : [`  cd ${shellWord(projectDir)}`];
  return [
    "that was all of it. What to look at next:",
    ...change,
    "  mg-team status      who answered, who voted for whom, and which votes were stale",
    "  mg-team show        the answers of the agents, one after the other",
    "  mg-team doctor      whether this machine is ready for real models",
    'Then ask something of your own:  mg-team "Build a landing page" with codex, gemini, and claude',
  ];
}
