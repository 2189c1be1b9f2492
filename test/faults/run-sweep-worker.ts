// Plays short runs of the CLI with a fault in one system call of each, in a process namespace of its own (see run-sweep.ts): reads tasks from stdin, one
// JSON a line, and prints what came of each. Nothing but these runs is alive here, so that whatever is left over is seen.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type TeamDirectory, teamDirectory } from "../../src/session/directory.ts";
import type { RunResult } from "../../src/session/result.ts";
import type { CliResult } from "../support/cli.ts";
import type { TestProject } from "../support/project.ts";
import { argumentsOf, createRunProject, linesOf } from "../support/runs.ts";
import { until } from "../support/temp.ts";
import { livingBy, reportedBy, tornFiles } from "./run-check.ts";
import {
  type Baseline,
  expectedAnswer,
  type Fault,
  isOurs,
  type Played,
  pointsOf,
  sweptCalls,
  sweptRun,
  type Task,
  watchedPaths,
} from "./run-sweep.ts";

const say = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`);

// The first run makes the cached probe and configs, so that all others make the same calls.
await warmUp();
for await (const line of console) {
  if (line === "") continue;
  const task: Task = JSON.parse(line);
  say(task.kind === "baseline" ? await baseline() : await play(task.fault));
}

async function warmUp(): Promise<void> {
  await using project = createRunProject(sweptRun);
  await project.cli(argumentsOf(sweptRun));
}

async function baseline(): Promise<Baseline> {
  await using project = createRunProject(sweptRun);
  const { ended, trace } = await traced(project, null);
  if (ended.code !== 0) throw new Error(`without a fault it exits ${ended.code}: ${ended.stderr}`);
  return {
    points: pointsOf(trace, project.directory).map((point) => ({ ...point, path: point.path?.replace(project.temp.path, "") ?? null })),
  };
}

async function play(fault: Fault): Promise<Played> {
  await using project = createRunProject(sweptRun);
  const wrong: string[] = [];
  const { ended, trace } = await traced(project, fault);
  const killed = ended.signal === "SIGKILL";
  const hit = killed ? (trace.at(-1) ?? null) : (trace.find((text) => text.includes("(INJECTED)")) ?? null);
  const played = {
    fault,
    hit: hit?.replaceAll(project.temp.path, "") ?? null,
    ours: hit !== null && isOurs(hit, project.directory),
    code: ended.code,
    said: ended.stderr,
  };
  // Of files that are not ours it is only interesting that such a run, too, is over.
  if (!played.ours) return { ...played, again: null, wrong: [] };
  const first = newestRun(project);
  if (!killed) {
    // Its own end: nothing alive, everything whole, and no success that is none.
    if (livingBy(project.temp.path).length > 0) wrong.push("something is alive after it has ended");
    if (first) wrong.push(...tornFiles(first).map((path) => `not whole when it has ended: ${path}`));
    if (![0, 3, 7].includes(ended.code ?? -1)) wrong.push(`it exits ${ended.code}`);
    const result = first ? resultOf(first) : null;
    if (result && ended.code !== null && result.exit_code !== ended.code)
      wrong.push(`it exits ${ended.code}, result.json says ${result.exit_code}`);
    if (ended.code === 0) wrong.push(...notDelivered(first, result));
  }

  // The fault is gone. What can be resumed is, what was never begun is run again.
  const begun = first !== null && existsSync(first.config);
  const again = await project.cli(begun ? ["resume", "--json"] : argumentsOf(sweptRun));
  const what = begun ? "resume" : "run";
  if (again.code !== 0) wrong.push(`${what} exits ${again.code}: ${again.stderr.trim().slice(-300)}`);
  const last = begun ? first : newestRun(project);
  const result = last ? resultOf(last) : null;
  wrong.push(...notDelivered(last, result));
  if (last && result) {
    const [total, reported] = [result.cost.total_usd ?? 0, reportedBy(last)];
    if (Math.abs(total - reported) > 1e-9) wrong.push(`the steps report $${reported}, the result says $${total}`);
    wrong.push(...tornFiles(last).map((path) => `not whole at the end: ${path}`));
  }
  await until(() => livingBy(project.temp.path).length === 0, "the end of all", 7).catch(() => wrong.push("something is alive at the end"));
  return { ...played, again: { command: what, code: again.code }, wrong };
}

/** What is missing from a run that says it has succeeded. */
function notDelivered(directory: TeamDirectory | null, result: RunResult | null): string[] {
  if (directory === null || result === null) return ["there is no result"];
  const wrong: string[] = [];
  const { kind, winner } = result.decision;
  if (kind !== "consensus" || winner !== "agent_a") wrong.push(`the decision is ${kind} for ${winner}`);
  if (result.answer !== expectedAnswer || result.exit_code !== 0)
    wrong.push(`the answer is ${result.answer} with exit code ${result.exit_code}`);
  const document = textOf(directory.finalAnswer);
  if (!document.includes(expectedAnswer)) wrong.push("final_answer.md has no answer");
  if (textOf(join(directory.deliverable, "index.html")) !== expectedAnswer) wrong.push("the deliverable is not whole");
  const events = linesOf(textOf(directory.journal));
  if (events.at(-1)?.type !== "run.finished") wrong.push(`the journal ends with ${events.at(-1)?.type}`);
  return wrong;
}

async function traced(project: TestProject, fault: Fault | null): Promise<{ ended: CliResult; trace: string[] }> {
  const file = project.temp.join("trace");
  const calls = fault ? fault.call : sweptCalls.join(",");
  const inject = fault ? ["-e", `inject=${fault.call}:${fault.fault}:when=${fault.when}`] : [];
  const watched = fault?.path ? watchedPaths(project.temp.path + fault.path, new Date(), 30).flatMap((path) => ["-P", path]) : [];
  // Without -f: the main thread of mg-team alone, where all its files are written; neither its other threads nor its children.
  const wrapper = ["strace", "-qq", "-y", "-s", "0", "-o", file, "-e", `trace=${calls}`, ...inject, ...watched];
  const ended = await project.cli(argumentsOf(sweptRun), { wrapper });
  const isCall = (text: string) => /^\w+\(/.test(text);
  return { ended, trace: readFileSync(file, "utf8").split("\n").filter(isCall) };
}

function newestRun(project: TestProject): TeamDirectory | null {
  const sessions = join(project.directory, ".massgen-quality/sessions");
  const name = existsSync(sessions) ? readdirSync(sessions).sort().at(-1) : undefined;
  return name === undefined ? null : teamDirectory(join(sessions, name));
}

function resultOf({ result }: TeamDirectory): RunResult | null {
  return existsSync(result) ? JSON.parse(readFileSync(result, "utf8")) : null;
}

function textOf(path: string): string {
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}
