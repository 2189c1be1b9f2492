/**
 * How far apart the agents of a round start: from the first to the last of five, on the fake MassGen.
 * Run it with `bun run test/bench/launch.ts [RUNS]` (default 10); the goal is less than 100 ms. No part of the tests: it measures the machine, too.
 */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { compiledProgram } from "../support/binary.ts";
import { argumentsOf, createRunProject, linesOf, onlyRun, type RunSpec } from "../support/runs.ts";

const runs = Number(process.argv[2] ?? 10);
const agents = [..."abcde"];
const spec: RunSpec = { plays: Object.fromEntries(agents.map((letter) => [letter, "answer, vote a"])), args: ["--json"] };
const program = await compiledProgram();

/** Milliseconds between the first and the last of a round's steps. */
interface Spread {
  /** By `step.started` of the journal: when mg-team had started them. */
  readonly started: number;
  /** By the directories that the fakes claim as their first act: when their own code ran, the start of an interpreter included. */
  readonly acting: number;
}

async function measure(): Promise<Spread[]> {
  await using project = createRunProject(spec);
  const child = Bun.spawn([program, ...argumentsOf(spec)], {
    cwd: project.directory,
    env: project.env,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
  });
  if ((await child.exited) !== 0) throw new Error(`the run ended with exit ${child.exitCode}`);
  const events = linesOf(readFileSync(onlyRun(project).journal, "utf8"));
  return [1, 2].map((round) => {
    const started = events.flatMap((event) => (event.type === "step.started" && event.round === round ? [Date.parse(event.ts)] : []));
    if (started.length !== agents.length) throw new Error(`round ${round} started ${started.length} steps`);
    const claims = agents.map((letter) =>
      statSync(join(project.temp.path, "fake/script.json.state/launches", `agent_${letter}`, String(round))),
    );
    return { started: spread(started), acting: spread(claims.map(({ birthtimeMs, ctimeMs }) => birthtimeMs || ctimeMs)) };
  });
}

function spread(times: readonly number[]): number {
  return Math.max(...times) - Math.min(...times);
}

function show(name: string, values: readonly number[]): void {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number) => (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0).toFixed(0);
  console.log(`${name.padEnd(42)} median ${at(0.5)} ms, 90 % below ${at(0.9)} ms, worst ${at(1)} ms`);
}

const measured: Spread[] = [];
for (let run = 0; run < runs; run++) measured.push(...(await measure()));
console.log(`five agents, ${measured.length} rounds of ${runs} runs:`);
show(
  "from the first start to the last (mg-team)",
  measured.map(({ started }) => started),
);
show(
  "from the first act to the last (the steps)",
  measured.map(({ acting }) => acting),
);
const missed = measured.filter(({ started }) => started >= 100).length;
console.log(missed === 0 ? "every round started within 100 ms" : `${missed} of ${measured.length} rounds took 100 ms or more`);
