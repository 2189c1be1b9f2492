import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { cookieVariable } from "../../src/process/environment.ts";
import { findMarked } from "../../src/process/processes.ts";
import { findTeamDirectory, listTeamIds } from "../../src/session/directory.ts";
import type { RunResult } from "../../src/session/result.ts";
import type { FakeScript, FakeStep } from "../fixtures/fake-massgen/script.ts";
import { randomChoices } from "../support/choices.ts";
import { createProject, type TestProject } from "../support/project.ts";
import { reportedBy, tornFiles } from "./run-check.ts";

// Fault 6: `kill -9` of mg-team at random moments of a run of three agents and three rounds, then `resume`.

/** How many moments; half of the runs are killed a second time while they are being resumed. */
const moments = Number(process.env.MG_TEST_MOMENTS ?? 50);
/** How many runs at the same time. */
const atOnce = 3;

const cost = { usd: 0.01, inputTokens: 1000, outputTokens: 100, live: [{ usd: 0.004, inputTokens: 400, outputTokens: 40 }] };
const answer = (text: string, seconds: number): FakeStep => ({
  answer: { text, files: { "index.html": text } },
  before: { seconds },
  cost,
});
const vote = (target: string, seconds: number): FakeStep => ({ vote: target, before: { seconds }, cost });

/** By what is in the session, so that a step that is run again does the same again, also after a kill that left an empty step directory. */
const script: FakeScript = {
  rules: [
    { when: { session: "synthesis" }, step: answer("b, and what a had", 0.2) },
    { when: { agent: "agent_a", answers: { agent_a: 0 } }, step: answer("a first", 0.05) },
    { when: { agent: "agent_a", answers: { agent_a: 1 } }, step: answer("a second", 0.1) },
    { when: { agent: "agent_a" }, step: vote("agent_b", 0.02) },
    { when: { agent: "agent_b", answers: { agent_b: 0 } }, step: answer("b first", 0.02) },
    { when: { agent: "agent_b", answers: { agent_a: 1 } }, step: vote("agent_a", 0.05) },
    { when: { agent: "agent_b" }, step: vote("agent_b", 0.1) },
    { when: { agent: "agent_c", answers: { agent_c: 0 } }, step: answer("c first", 0.1) },
    { when: { agent: "agent_c" }, step: vote("agent_a", 0.1) },
  ],
};
const args = ["A task", "--models", "codex", "gemini", "grok", "--no-docker"];
type Synthesis = "markdown" | "agent";

describe("kill -9 at a random moment, then resume", () => {
  test.each<[Synthesis, number]>([
    ["markdown", moments],
    ["agent", Math.ceil(moments / 2)],
  ])(
    `ends as the undisturbed run does, with all money, with synthesis %s at %i moments`,
    async (synthesis, count) => {
      const undisturbed = await play(synthesis, null);
      expect(undisturbed.result.synthesis).toMatchObject({ kind: synthesis, why_not_agent: null });
      expect(undisturbed.result.decision).toMatchObject({ kind: "consensus", winner: "agent_b", tally: { agent_b: 2, agent_a: 1 } });
      const seed = Number(process.env.MG_TEST_SEED ?? Date.now() % 2 ** 31);
      const choices = randomChoices(seed);
      const plans = Array.from({ length: count }, () => ({
        first: choices.next(synthesis === "agent" ? 1600 : 1100),
        second: choices.next(2) === 0 ? choices.next(900) : null,
      }));
      const outcomes: Outcome[] = [];
      const workers = Array.from({ length: atOnce }, async () => {
        for (let plan = plans.shift(); plan; plan = plans.shift()) outcomes.push(await play(synthesis, plan));
      });
      await Promise.all(workers);
      const of = (what: (outcome: Outcome) => number) => outcomes.reduce((sum, outcome) => sum + what(outcome), 0);
      const counts = {
        runs: outcomes.length,
        lost: of(({ result, delivered }) => (result.answer === undisturbed.result.answer && delivered === undisturbed.delivered ? 0 : 1)),
        otherDecisions: of(({ result }) => (isSame(result, undisturbed.result) ? 0 : 1)),
        wrongMoney: of(({ result, reported }) => (Math.abs((result.cost.total_usd ?? 0) - reported) < 1e-9 ? 0 : 1)),
        liveProcesses: of(({ alive }) => alive),
        tornFiles: of(({ torn }) => torn),
      };
      console.error(`seed ${seed}, ${synthesis}: ${JSON.stringify({ ...counts, killedBeforeTheEnd: of(({ kills }) => kills) })}`);
      expect(counts).toEqual({ runs: count, lost: 0, otherDecisions: 0, wrongMoney: 0, liveProcesses: 0, tornFiles: 0 });
      // A test in which no kill hits anything would show nothing.
      expect(of(({ kills }) => kills)).toBeGreaterThan(count / 2);
    },
    { timeout: 600_000 },
  );
});

// --- internal ---

interface Outcome {
  readonly result: RunResult;
  /** The file of the deliverable. */
  readonly delivered: string;
  /** US dollars that the steps themselves report, one by one. */
  readonly reported: number;
  readonly alive: number;
  readonly torn: number;
  /** How many kills hit a running mg-team. */
  readonly kills: number;
}

/** @param plan milliseconds after the journal appears (and after the resume begins); null leaves the run alone */
async function play(synthesis: Synthesis, plan: { readonly first: number; readonly second: number | null } | null): Promise<Outcome> {
  await using project = createProject({ script });
  let kills = 0;
  const killed = async (words: readonly string[], after: number | null): Promise<void> => {
    const run = project.start(words);
    if (after !== null) {
      const ended = await Promise.race([
        run.result.then(() => true),
        ready(project)
          .then(() => Bun.sleep(after))
          .then(() => false),
      ]);
      if (!ended) {
        run.kill("SIGKILL");
        kills += 1;
      }
    }
    await run.result;
  };
  await killed([...args, "--synthesis", synthesis], plan?.first ?? null);
  if (plan && plan.second !== null) await killed(["resume"], plan.second);
  const last = plan ? await project.cli(["resume", "--json"]) : null;
  if (last && last.code !== 0) throw new Error(`resume exited with ${last.code}: ${last.stderr}`);
  const directory = findTeamDirectory(project.directory);
  const result: RunResult = JSON.parse(readFileSync(directory.result, "utf8"));
  const alive = findMarked(cookieVariable, new Set([directory.cookie])).length;
  const delivered = readFileSync(join(directory.deliverable, "index.html"), "utf8");
  return { result, delivered, reported: reportedBy(directory), alive, torn: tornFiles(directory).length, kills };
}

async function ready(project: TestProject): Promise<void> {
  for (;;) {
    const [id] = listTeamIds(project.directory);
    if (id && existsSync(findTeamDirectory(project.directory, id).journal)) return;
    await Bun.sleep(2);
  }
}

/** Winner, tally, the round of the decision, who wrote the document; times and costs differ. */
function isSame({ decision, rounds, synthesis }: RunResult, other: RunResult): boolean {
  const essence = (of: RunResult["decision"]) => JSON.stringify([of.kind, of.reason, of.winner, of.tally, of.rule]);
  return essence(decision) === essence(other.decision) && rounds === other.rounds && synthesis.kind === other.synthesis.kind;
}
