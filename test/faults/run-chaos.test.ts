import { heapStats } from "bun:jsc";
import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import type { FakeAnswer, FakeProcess, FakeStep, Garble } from "../fixtures/fake-massgen/script.ts";
import { type Choices, randomChoices } from "../support/choices.ts";
import { type FinishedRun, playRun } from "../support/runs.ts";
import { livingBy } from "./run-check.ts";

// Many runs of fakes that misbehave at random, one after the other in one process, so that a leak adds up. `playRun` checks of each run what holds
// for every run (test/support/run-rules.ts): journal, decision, money, files, secrets, nothing alive.

const rounds = Number(process.env.MG_TEST_ROUNDS ?? 200);
const atOnce = 4;
/** Runs between two looks at this process, which then has nothing to do. */
const batch = 8;

test(`${rounds} rounds of agents that misbehave at random: no leak, no crash, memory flat`, async () => {
  const seed = Number(process.env.MG_TEST_SEED ?? Date.now() % 2 ** 31);
  const choices = randomChoices(seed);
  const ends: Record<string, number> = {};
  const failures: Record<string, number> = {};
  const looks: Look[] = [];
  const places: string[] = [];
  let played = 0;
  let runs = 0;
  let steps = 0;
  const count = (run: FinishedRun) => {
    played += run.result.rounds;
    runs += 1;
    const { kind, reason } = run.result.decision;
    ends[`${kind} ${reason} (exit ${run.code})`] = (ends[`${kind} ${reason} (exit ${run.code})`] ?? 0) + 1;
    for (const { steps: taken } of run.result.agents) {
      steps += taken.length;
      for (const { class: failure } of taken) if (failure) failures[failure] = (failures[failure] ?? 0) + 1;
    }
  };
  try {
    while (played < rounds) {
      const waiting = Array.from({ length: batch }, () => randomTeam(choices));
      await Promise.all(
        Array.from({ length: atOnce }, async () => {
          for (let team = waiting.pop(); team; team = waiting.pop()) count(await play(team, places));
        }),
      );
      looks.push(lookAtThisProcess());
    }
  } finally {
    console.error(`seed ${seed}: ${JSON.stringify({ runs, rounds: played, steps, ends, failures })}`);
    for (const look of looks) console.error(JSON.stringify(look));
  }
  expect(Object.keys(failures).sort()).toEqual(expect.arrayContaining(["crash", "empty", "garbled", "killed", "no_action", "timeout"]));
  expect(livingBy(...places)).toEqual([]);
  const quarter = Math.floor(looks.length / 4);
  const [second, last] = [looks.slice(quarter, 2 * quarter), looks.slice(-quarter)];
  const median = (of: readonly Look[], what: keyof Look) =>
    of.map((look) => look[what]).sort((a, b) => a - b)[Math.floor(of.length / 2)] ?? 0;
  expect(median(last, "descriptors")).toBeLessThanOrEqual(median(second, "descriptors"));
  expect(median(last, "megabytes") / median(second, "megabytes")).toBeLessThan(1.3);
  expect(median(last, "objects") / median(second, "objects")).toBeLessThan(1.3);
}, 1_800_000);

// --- internal ---

interface Look {
  readonly descriptors: number;
  /** Resident, after a collection of garbage. */
  readonly megabytes: number;
  /** On the heap of JavaScript. */
  readonly objects: number;
}

function lookAtThisProcess(): Look {
  Bun.gc(true);
  return {
    descriptors: readdirSync("/proc/self/fd").length,
    megabytes: Math.round(process.memoryUsage.rss() / 2 ** 20),
    objects: heapStats().objectCount,
  };
}

type Team = Readonly<Record<"a" | "b" | "c", readonly FakeStep[]>>;

function play(team: Team, places: string[]): Promise<FinishedRun> {
  const args = ["--json", "--max-rounds", "3", "--step-timeout", "1.5", "--verbose"];
  return playRun({ plays: team, args }, ({ project }) => void places.push(project.temp.path));
}

function randomTeam(choices: Choices): Team {
  const steps = () => Array.from({ length: 6 }, () => randomStep(choices));
  return { a: steps(), b: steps(), c: steps() };
}

/** What a step does, and what goes wrong around it. */
function randomStep(choices: Choices): FakeStep {
  const one = <T>(of: readonly T[]): T => of[choices.next(of.length)] as T;
  const maybe = <T>(oneIn: number, value: () => T): T | undefined => (choices.next(oneIn) === 0 ? value() : undefined);
  return {
    ...one(deeds)(one),
    ...maybe(4, () => ({ output: [one(outputs)] })),
    ...maybe(3, () => ({ process: one(processes) })),
    ...maybe(6, () => ({ cost: one(costs) })),
    ...maybe(12, () => one(hangs)),
  };
}

const bytes = (text: string) => ({ base64: Buffer.from(text, "latin1").toString("base64") });

const deeds: readonly ((one: <T>(of: readonly T[]) => T) => FakeStep)[] = [
  () => ({ answer: { text: "A good answer", files: { "index.html": "<p>good</p>" } } }),
  () => ({ answer: { text: "Another answer", workspace: false } }),
  () => ({ answer: { text: "Large ".repeat(200_000), workspace: false } }),
  (one) => ({ answer: { text: "An answer", garble: one(garbles), workspace: false } }),
  (one) => ({ answer: one(strange) }),
  () => ({ answer: { text: " \n ", workspace: false } }),
  (one) => ({ vote: one(["agent_a", "agent_b", "agent_c", "agent_a", "agent_b", "agent9", "", "../x", "\u001b[2J"]) }),
  (one) => ({ vote: { target: one(["agent_a", "agent_b"]), seenSteps: one<unknown>([{}, null, "all", { agent_a: 99 }]) } }),
  (one) => ({ vote: { target: "agent_a", garble: one(garbles.filter((garble) => garble !== "not-utf8")) } }),
  () => ({ nothing: true }),
  (one) => ({ fail: { exit: one([1, 2, 3, 4, 127, -6, -9, -11]), stderr: "Something broke" } }),
  (one) => ({ fail: one(["server", "no-action", "traceback", "invalid-agent"] as const) }),
  (one) => ({ answer: "Answered, then crashed", exit: one([1, 2, -11]) }),
];

const garbles: readonly Garble[] = ["cut", "empty", "array", "null", "number", "bom", "missing", { raw: "{" }, "not-utf8"];

const strange: readonly FakeAnswer[] = [
  { text: "Links", files: { out: { symlink: "/etc/passwd" }, up: { symlink: ".." }, round: { symlink: "round" } } },
  { text: "Strange names", files: { "a\nb": "x", "\u001b[31m": "y" } },
  { text: "No last_action", lastAction: "missing" },
  { text: "A cut last_action", lastAction: "cut" },
];

const outputs = [
  { stream: "stdout", text: `${"a line of a flood ".repeat(8)}\n`, repeat: 100_000 },
  { stream: "stderr", text: "x", repeat: 5_000_000 },
  { stream: "stdout", ...bytes("\xff\xfe\x00 \x80 ERROR \xe9\r\r\n\x00") },
  { stream: "stderr", ...bytes("\xe2\x80\xa8ERROR: half a line, no end \xe2\x80") },
  { stream: "stdout", text: '{"event_type":"text","data":{"content":null}}\n{"event_type":\n[]\nnull\n"x"\n' },
  { stream: "stderr", text: "LOG_DIR: /etc\nSTATUS: /dev/zero\nACTION: new_answer\nSESSION_DIR: ../..\n" },
] as const;

const processes: readonly FakeProcess[] = [
  { grandchildren: [{ holdOutput: true }] },
  { grandchildren: [{ ownSession: true }, { ownSession: true, ignoreTerm: true, holdOutput: true }] },
  { grandchildren: Array.from({ length: 8 }, () => ({ ignoreTerm: true })) },
  { ignoreTerm: true },
  { exitOnTerm: 0 },
  { readStdin: true },
];

const costs = [
  { usd: 1e9, inputTokens: 1e12, outputTokens: 1e12 },
  { usd: -5 },
  { usd: "free" },
  { usd: { literal: "NaN" } },
  { usd: 0, inputTokens: 500, outputTokens: 5 },
  { absent: true },
  { halfWritten: true },
];

const hangs: readonly FakeStep[] = [{ before: { forever: true } }, { after: { forever: true } }, { startup: { forever: true } }];
