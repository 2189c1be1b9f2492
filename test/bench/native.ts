/**
 * `bun test/bench/native.ts [RUNS]`: three agents, two rounds (everybody answers, then votes), on instant models on a loopback port; first by
 * MassGen in its own multi-agent mode, then by the compiled mg-team with its native engine, on the same script, in turns. Prints the times and
 * the ratio of their medians, and exits 1 when mg-team takes more than a tenth. MassGen's mode ends with a final presentation by the winner, one
 * reply more; mg-team writes its document and the report. For an idle machine: six processes of ours share its cores with whatever else runs.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { RunResult } from "../../src/session/result.ts";
import type { ModelScripts } from "../massgen/models/script.ts";
import { startModelServer } from "../massgen/models/server.ts";
import { realMassgen } from "../support/massgen.ts";
import { temporaryDirectory } from "../support/temp.ts";

/** mg-team may take this part of MassGen's time. */
const most = 0.1;
const query = "What is 2+2?";
const names = ["m-a", "m-b", "m-c"] as const;

const scripts: ModelScripts = {
  "m-a": [{ answer: "Four, says A" }, { vote: { preferring: "says B" } }],
  "m-b": [{ answer: "Four, says B" }, { vote: { preferring: "says B" } }],
  "m-c": [{ answer: "Five, says C" }, { vote: { preferring: "says B" } }],
};

interface Measured {
  readonly seconds: number;
  /** Seconds of processor time, of all its processes: what a busy machine cannot change. */
  readonly processor: number;
  /** Resident memory of the largest process, in MB. */
  readonly megabytes: number;
}

async function timed(
  argv: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<Measured & { readonly stdout: string }> {
  const startedAt = performance.now();
  const child = Bun.spawn([...argv], { cwd, env: { ...env }, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [code, stdout, stderr] = await Promise.all([child.exited, new Response(child.stdout).text(), new Response(child.stderr).text()]);
  const seconds = (performance.now() - startedAt) / 1000;
  if (code !== 0) throw new Error(`${argv[0]} ended with ${code}: ${stderr.slice(-2000)}${stdout.slice(-2000)}`);
  const usage = child.resourceUsage();
  return { seconds, processor: Number(usage?.cpuTime.total ?? 0) / 1e6, megabytes: (usage?.maxRSS ?? 0) / 1024 ** 2, stdout };
}

/** One process, three agents, its own voting; no tools, as few settings as it takes. */
async function massgen(directory: string): Promise<Measured> {
  await using models = startModelServer(scripts);
  const program = realMassgen();
  const agents = names.map(
    (name, index) => `  - id: agent_${"abc"[index]}\n    backend: { type: grok, model: ${name}, base_url: "${models.baseUrl}" }\n`,
  );
  const config = join(directory, "team.yaml");
  mkdirSync(directory, { recursive: true });
  writeFileSync(config, `agents:\n${agents.join("")}ui: { display_type: simple, logging_enabled: false }\n`);
  const env = {
    PATH: `${dirname(program)}:/usr/bin:/bin`,
    HOME: directory,
    XAI_API_KEY: "xai-bench-0000000000000000",
    https_proxy: "http://127.0.0.1:9",
  };
  const measured = await timed([program, "--config", config, "--automation", "--no-session-registry", query], directory, env);
  const turns = models.requests.map(({ turn }) => turn);
  const [answers, votes] = [turns.filter((turn) => turn?.answer !== undefined), turns.filter((turn) => turn?.vote !== undefined)];
  if (answers.length < 3 || votes.length < 3) throw new Error(`MassGen took ${answers.length} answers and ${votes.length} votes`);
  return measured;
}

/** Six steps, each a process of its own, with journal, ballots and the final document. */
async function native(binary: string, directory: string): Promise<Measured> {
  await using models = startModelServer(scripts);
  mkdirSync(directory, { recursive: true });
  const env = { HOME: directory, XAI_API_KEY: "xai-bench-0000000000000000", XAI_BASE_URL: models.baseUrl };
  const args = ["--engine", "native", "--synthesis", "markdown", "--json", "--models", ...names.map((name) => `grok/${name}`), "--", query];
  const { stdout, ...measured } = await timed([binary, "run", ...args], directory, env);
  const { decision, rounds }: RunResult = JSON.parse(stdout);
  if (decision.kind !== "consensus" || rounds !== 2) throw new Error(`mg-team ended with ${decision.kind} after ${rounds} rounds`);
  return measured;
}

async function build(): Promise<string> {
  const root = resolve(import.meta.dir, "../..");
  const built = Bun.spawn([process.execPath, "run", "build.ts"], { cwd: root, stdout: "ignore", stderr: "inherit" });
  if ((await built.exited) !== 0) throw new Error("mg-team could not be built");
  return join(root, "dist/mg-team");
}

const runs = Number(process.argv[2] ?? 3);
const binary = await build();
await using temp = temporaryDirectory();
const [theirs, ours]: [Measured[], Measured[]] = [[], []];
for (let run = 1; run <= runs; run++) {
  theirs.push(await massgen(temp.join(`massgen${run}`)));
  ours.push(await native(binary, temp.join(`native${run}`)));
  const [one, two] = [theirs.at(-1), ours.at(-1)];
  process.stdout.write(`run ${run}: MassGen ${one?.seconds.toFixed(1)} s, mg-team ${two?.seconds.toFixed(2)} s\n`);
}
const median = (values: readonly number[]) => values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
const seconds = (list: readonly Measured[]) => median(list.map((each) => each.seconds));
const ratio = seconds(ours) / seconds(theirs);
const processor = (list: readonly Measured[]) => median(list.map((each) => each.processor)).toFixed(1);
const memory = Math.max(...theirs.map(({ megabytes }) => megabytes));
process.stdout.write(
  `three agents, two rounds, instant models, median of ${runs}: MassGen's own mode ${seconds(theirs).toFixed(1)} s (${processor(theirs)} s of processor, ${memory.toFixed(0)} MB), ` +
    `mg-team native ${seconds(ours).toFixed(2)} s (${processor(ours)} s of processor): ${(ratio * 100).toFixed(1)} % (at most ${most * 100} %)\n`,
);
process.exitCode = ratio <= most ? 0 : 1;
