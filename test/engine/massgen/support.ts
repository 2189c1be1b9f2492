import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Clock, systemClock } from "../../../src/clock.ts";
import type { Engine, StepReport, StepSpec } from "../../../src/engine/engine.ts";
import { createMassgenEngine, type MassgenEngineOptions } from "../../../src/engine/massgen/engine.ts";
import { createRedactor } from "../../../src/session/redact.ts";
import type { Agent, StepCost } from "../../../src/types.ts";
import { installCommand } from "../../fixtures/fake-massgen/install.ts";
import type { FakeScript, LaunchRecord } from "../../fixtures/fake-massgen/script.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../support/temp.ts";

export const secret = "hunter2-hunter2";

/** A clock that waits a twentieth of what it is asked for, so that tests need not. */
export const fastClock: Clock = {
  now: () => systemClock.now() * 20,
  date: systemClock.date,
  sleep: (seconds, signal) => systemClock.sleep(seconds / 20, signal),
};

/** A team directory with an engine on the fake MassGen, or on a program of its own. */
export interface Bench extends AsyncDisposable {
  readonly temp: TemporaryDirectory;
  readonly engine: Engine;
  readonly session: string;
  readonly warnings: string[];
  /** What the fake was given, in order. */
  launches(): LaunchRecord[];
  spec(more?: Partial<StepSpec>): StepSpec;
  /** Starts a step and waits for its end. */
  run(more?: Partial<StepSpec>): Promise<Ran>;
}

export interface Ran {
  readonly report: StepReport;
  readonly phases: readonly string[];
  readonly costs: readonly StepCost[];
}

export const agentA: Agent = { id: "agent_a", model: "grok/grok-x", backend: "grok", modelName: "grok-x" };

export function bench(script: FakeScript, more: Partial<MassgenEngineOptions> & { readonly program?: string } = {}): Bench {
  const temp = temporaryDirectory("team é");
  const scriptPath = temp.write("script.json", JSON.stringify(script));
  const program = more.program === undefined ? installCommand(temp.join("bin dir")) : temp.write("bin dir/massgen", more.program);
  const argv = more.program === undefined ? [program] : ["/bin/sh", program];
  const warnings: string[] = [];
  const engine = createMassgenEngine({
    install: {
      argv,
      version: "0.1.97",
      flags: new Set(["--step", "--stream-events", "--no-parse-at-references", "--no-session-registry"]),
      source: "test",
    },
    env: { PATH: process.env.PATH, HOME: temp.path, FAKE_MASSGEN_SCRIPT: scriptPath, XAI_API_KEY: secret },
    redact: createRedactor([secret]),
    cookie: "test-cookie",
    projectDir: temp.path,
    cacheDir: temp.join("cache"),
    warn: (message) => warnings.push(message),
    clock: fastClock,
    ...more,
  });
  const session = temp.join("session");
  temp.write("session/agents/.keep", "");
  const configPath = temp.write("configs/agent_a_step.yaml", "agents:\n- id: agent_a\n  backend: { type: grok, model: grok-x }\n");
  let count = 0;
  const spec = (changes: Partial<StepSpec> = {}): StepSpec => ({
    agent: agentA,
    query: "Say hello",
    sessionDir: session,
    configPath,
    criteriaPath: null,
    runDir: temp.join("runs", String(++count)),
    args: [],
    env: {},
    timeoutSeconds: null,
    ...changes,
  });
  return {
    temp,
    engine,
    session,
    warnings,
    spec,
    launches: () =>
      readFileSync(join(`${scriptPath}.state`, "launches.jsonl"), "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as LaunchRecord),
    async run(changes) {
      const phases: string[] = [];
      const costs: StepCost[] = [];
      const onProgress = ({ phase, tool }: { readonly phase: string; readonly tool?: string }) =>
        phases.push(tool ? `${phase} ${tool}` : phase);
      const step = engine.start(spec(changes), { onProgress, onCost: (cost) => costs.push(cost) });
      return { report: await step.report, phases, costs };
    },
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  };
}
