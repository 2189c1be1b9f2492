import { chmodSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { installCommand } from "../fixtures/fake-massgen/install.ts";
import type { FakeScript, FakeStep } from "../fixtures/fake-massgen/script.ts";
import { type TemporaryDirectory, untilExists } from "../support/temp.ts";
import type { ModelScripts, Turn } from "./models/script.ts";
import { startModelServer } from "./models/server.ts";

/** What an agent does, in words that both the fake and the models behind the real MassGen understand. */
export type Behaviour =
  | { readonly answer: string; readonly files?: Readonly<Record<string, string>> }
  | { readonly vote: string }
  | { readonly fails: "auth" | "no-action" | "invalid-agent" | "timeout" };

/** One start of MassGen. */
export interface Start {
  readonly behaviour?: Behaviour;
  /** Content of files below `agents/` of the session directory, before the start. */
  readonly session?: Readonly<Record<string, string | Uint8Array>>;
  /** Files in the working directory. */
  readonly files?: Readonly<Record<string, string>>;
  /** Called while the agent thinks, before it acts. */
  readonly during?: (place: { readonly sessionDir: string }) => void;
  /** Sent while the agent thinks; it never gets to act. */
  readonly kill?: "SIGINT" | "SIGTERM";
  /** Agents of the config; default one, agent_a. */
  readonly agents?: readonly string[];
  /** Default `grok-4`, which is in MassGen's price table. */
  readonly model?: string;
  /** The agent has a workspace and file tools. */
  readonly workspace?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** The command line; `{config}`, `{session}` and `{cwd}` become paths. */
  readonly argv: readonly string[];
}

export interface Outcome {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly cwd: string;
  readonly sessionDir: string;
}

/** The program under test: the fake, or the real one with scripted models behind it. */
export interface Target {
  readonly name: string;
  /** Starts at the same time. */
  readonly parallel: number;
  /** Seconds that one test may wait, the other starts included. */
  readonly patience: number;
  run(start: Start, temp: TemporaryDirectory): Promise<Outcome>;
}

export const fakeTarget: Target = {
  name: "the fake",
  parallel: 4,
  patience: 20,
  async run(start, temp) {
    const massgen = installCommand(temp.join("bin"));
    const script: FakeScript = { requireKeys: true, agents: { agent_a: [fakeStep(start)] } };
    const env = { FAKE_MASSGEN_SCRIPT: temp.write("fake/script.json", JSON.stringify(script)) };
    const held = waits(start) ? untilExists(temp.join("fake/held")) : null;
    return launch(massgen, start, temp, { baseUrl: "http://127.0.0.1:9/v1", env, held, release: () => void temp.write("fake/go", "") });
  },
};

/** `massgen`: path of the executable in its virtual environment, whose other programs it needs on PATH. */
export function realTarget(massgen: string): Target {
  return {
    name: "massgen 0.1.97",
    parallel: 2,
    patience: 420,
    async run(start, temp) {
      await using server = startModelServer(modelScripts(start));
      // Keeps `--quickstart` from installing skills: no network, and no npm that could install globally.
      temp.write("bin/npm", "#!/bin/sh\nexit 1\n");
      chmodSync(temp.join("bin/npm"), 0o755);
      const env = {
        PATH: `${temp.join("bin")}:${dirname(massgen)}:/usr/bin:/bin`,
        https_proxy: "http://127.0.0.1:9",
        no_proxy: "127.0.0.1",
      };
      const held = waits(start) ? server.held("gate") : null;
      return await launch(massgen, start, temp, { baseUrl: server.baseUrl, env, held, release: () => server.release("gate") });
    },
  };
}

// --- internal ---

interface Surroundings {
  readonly baseUrl: string;
  readonly env: Readonly<Record<string, string>>;
  /** Resolves when the agent thinks; null when nobody waits for that. */
  readonly held: Promise<void> | null;
  readonly release: () => void;
}

async function launch(massgen: string, start: Start, temp: TemporaryDirectory, around: Surroundings): Promise<Outcome> {
  const cwd = temp.join("run");
  const home = temp.join("home");
  const sessionDir = temp.join("session");
  for (const path of [cwd, home, sessionDir]) mkdirSync(path, { recursive: true });
  for (const [name, content] of Object.entries(start.session ?? {})) temp.write(`session/agents/${name}`, content);
  for (const [name, content] of Object.entries(start.files ?? {})) temp.write(`run/${name}`, content);
  const config = temp.write("config.yaml", configYaml(start, around.baseUrl));
  const argv = start.argv.map((word) => word.replace("{config}", config).replace("{session}", sessionDir).replace("{cwd}", cwd));
  const child = Bun.spawn([massgen, ...argv], {
    cwd,
    env: {
      PATH: "/usr/bin:/bin",
      HOME: home,
      LANG: "C.UTF-8",
      PYTHONUNBUFFERED: "1",
      XAI_API_KEY: "xai-test",
      ...around.env,
      ...start.env,
    },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    detached: true,
  });
  const streams = Promise.all([child.stdout.text(), child.stderr.text()]);
  if (around.held !== null) {
    await Promise.race([around.held, child.exited]);
    start.during?.({ sessionDir });
    if (start.kill === undefined) around.release();
    else child.kill(start.kill);
  }
  await child.exited;
  const [stdout, stderr] = await streams;
  const signal = child.signalCode === null ? null : String(child.signalCode);
  return { code: signal === null ? child.exitCode : null, signal, stdout, stderr, cwd, sessionDir };
}

/** Without file tools, planning and checklist, whose servers take the real one half a minute to start. */
function configYaml(start: Start, baseUrl: string): string {
  const agents = (start.agents ?? ["agent_a"]).map(
    (id) =>
      `- id: ${id}\n  backend:\n    type: grok\n    model: ${start.model ?? "grok-4"}\n    base_url: ${baseUrl}\n${start.workspace === true ? "    cwd: workspace\n" : ""}`,
  );
  const storage = start.workspace === true ? "  snapshot_storage: snapshots\n  agent_temporary_workspace: temp_workspaces\n" : "";
  return `agents:\n${agents.join("")}orchestrator:\n  voting_sensitivity: lenient\n${storage}ui:\n  display_type: simple\n  logging_enabled: true\n`;
}

function waits(start: Start): boolean {
  return start.during !== undefined || start.kill !== undefined;
}

function fakeStep(start: Start): FakeStep {
  const { behaviour } = start;
  const before = waits(start) ? { before: { file: "go", announce: "held" } } : {};
  if (behaviour === undefined) return before;
  if ("fails" in behaviour) return { ...before, fail: behaviour.fails };
  if ("vote" in behaviour) return { ...before, vote: behaviour.vote, ...unpriced(start) };
  const { answer, files } = behaviour;
  return {
    ...before,
    answer: { text: answer.replace("{workspace}", "{{workspace}}"), files: files ?? {}, workspace: start.workspace === true },
    ...unpriced(start),
  };
}

function unpriced(start: Start): Pick<FakeStep, "cost"> {
  return start.model === undefined ? {} : { cost: { usd: 0, inputTokens: 1000, outputTokens: 100 } };
}

function modelScripts(start: Start): ModelScripts {
  const turns = turnsOf(start.behaviour);
  const [first = {}] = turns;
  return { [start.model ?? "grok-4"]: waits(start) ? [{ ...first, hold: "gate" }, ...turns.slice(1)] : turns };
}

function turnsOf(behaviour: Behaviour | undefined): Turn[] {
  if (behaviour === undefined) return [{ text: "Let me think." }];
  if ("vote" in behaviour) return [{ vote: behaviour.vote }];
  if ("answer" in behaviour) return [...(behaviour.files === undefined ? [] : [{ write: behaviour.files }]), { answer: behaviour.answer }];
  switch (behaviour.fails) {
    case "auth":
      return [{ status: 401 }];
    case "no-action":
      return [{ text: "I would say 4." }];
    case "invalid-agent":
      return [{ vote: "agent9" }];
    case "timeout":
      return [{ answer: "too late", hold: "never" }];
  }
}
