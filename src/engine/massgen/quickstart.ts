import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../clock.ts";
import { keyVariables } from "../../config/keys.ts";
import { TeamError } from "../../errors.ts";
import { type ChildExit, startChild } from "../../process/child.ts";
import { makeDirectory } from "../../session/atomic.ts";
import { quoted } from "../../text.ts";
import type { Agent } from "../../types.ts";
import { createCauses } from "./causes.ts";
import { explainFailure } from "./failure.ts";
import type { MassgenInstall } from "./install.ts";
import { massgenEnvironment } from "./step-environment.ts";
import { plainLine } from "./words.ts";

export interface QuickstartOptions {
  readonly install: MassgenInstall;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly docker: boolean;
  /** Working directory, with logs; made when it is missing. MassGen leaves things in it. */
  readonly runDir: string;
  readonly clock: Clock;
  readonly cookie: string;
  readonly redact: (text: string) => string;
  readonly warn: (message: string) => void;
}

/** It takes about 10 s, but pulls a docker image first where docker answers, and installs skills from the network. In seconds. */
export const quickstartLimitSeconds = 900;

/** Why we stop it once it says that the config is written. */
const written = "written";

/**
 * Lets MassGen write a config for one agent (massgen.md, "Making a config") and gives its text.
 * @throws TeamError `config` with the cause and what to do
 */
export async function runQuickstart(agent: Agent, options: QuickstartOptions): Promise<string> {
  const { runDir, clock, redact } = options;
  const out = join(runDir, "quickstart.yaml");
  makeDirectory(runDir);
  rmSync(out, { force: true });
  const causes = createCauses();
  const talk = { succeeded: false, needs: null as string | null };
  const ended = new AbortController();
  const { argv, env } = quickstartCommand(agent, out, options);
  const child = startChild(
    {
      argv,
      cwd: runDir,
      env,
      logDir: runDir,
      cookie: options.cookie,
      redact,
      onLine(stream, line) {
        const text = plainLine(line);
        if (text === "STATUS: SUCCESS") {
          talk.succeeded = true;
          // What follows is only the installation of skill packages, see noInstalls.
          void child.stop(written);
        } else if (text === "STATUS: NEEDS_CONFIG") talk.needs = "";
        else if (talk.needs === "" && text.startsWith("-> ")) talk.needs = text.slice(3);
        else causes.line(stream, line);
      },
    },
    clock,
  );
  async function stopAfter(seconds: number): Promise<void> {
    await clock.sleep(seconds, ended.signal);
    if (!ended.signal.aborted) await child.stop("timeout");
  }
  void stopAfter(quickstartLimitSeconds);
  const exit = await child.exited;
  ended.abort();

  const text = readOut(out);
  if (text !== null && (talk.succeeded || exit.stopCause !== null)) {
    return text;
  }
  throw failureOf(agent, options, exit, talk.needs, causes);
}

/** Command and environment. Pure. */
export function quickstartCommand(
  agent: Agent,
  out: string,
  { install, env, docker }: Pick<QuickstartOptions, "install" | "env" | "docker">,
): { readonly argv: readonly string[]; readonly env: Readonly<Record<string, string>> } {
  const argv = [
    ...install.argv,
    "--quickstart",
    "--headless",
    "--config",
    out,
    "--config-backend",
    agent.backend,
    "--config-model",
    agent.modelName,
    "--config-agent-id",
    agent.id,
    ...(docker ? ["--config-docker"] : []),
  ];
  // It refuses a backend whose first key variable is empty, although logins and second names (GOOGLE_API_KEY) do at run time, and it
  // neither uses a key nor writes one down. So every variable has something in it.
  const placeholders = Object.fromEntries(keyVariables.filter((name) => !env[name]).map((name) => [name, "placeholder"]));
  // There is no flag for "no docker", only docker that does not answer; else it would pull an image for minutes.
  const noDocker: Record<string, string> = docker ? {} : { DOCKER_HOST: "unix:///dev/null" };
  return { argv, env: massgenEnvironment(env, install, { ...placeholders, ...noDocker, ...noInstalls }).env };
}

// --- internal ---

/**
 * Behind the config, quickstart runs `npm install -g openskills` for the whole machine and clones skill packages (massgen.md, "Making a config").
 * Nobody asked mg-team for that, and the config does without: npm stays off the network, git too.
 */
const noInstalls = { npm_config_offline: "true", GIT_ALLOW_PROTOCOL: "file" };

function readOut(path: string): string | null {
  try {
    const text = readFileSync(path, "utf8");
    return text.trim() === "" ? null : text;
  } catch {
    return null;
  }
}

function failureOf(
  agent: Agent,
  { runDir, redact }: QuickstartOptions,
  exit: ChildExit,
  needs: string | null,
  causes: ReturnType<typeof createCauses>,
): TeamError {
  const what = `MassGen could not make a config for ${agent.model}`;
  if (needs !== null) {
    // Every key that it knows has something in it, so it asks for one only where it does not know the backend.
    const unknown = /requires an API key/.test(needs)
      ? `it does not know the backend ${quoted(agent.backend)}`
      : plainLine(redact(needs), 200);
    const why = unknown === "" ? "it needs more than it was given" : unknown;
    const hint = `See which backends it knows: massgen --list-backends. Or write a config yourself: models: [{ model: ${agent.model}, config: ./agent.yaml }]`;
    return new TeamError("config", `${what}: ${why}`, hint);
  }
  const { message, log } = explainFailure({
    exit,
    cause: causes.best(),
    backend: agent.backend,
    runDir,
    timeoutSeconds: quickstartLimitSeconds,
    redact,
  });
  return new TeamError("config", `${what}: ${message}`, `Its log: ${log}. Then: mg-team doctor`);
}
