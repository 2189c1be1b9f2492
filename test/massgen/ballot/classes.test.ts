import { beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { capture } from "../../../src/engine/capture.ts";
import { temporaryDirectory } from "../../support/temp.ts";
import { massgenPython, placed } from "./support.ts";

/** One step of one agent, for drive.py. */
interface Case {
  readonly voter: string;
  /** The text of each agent's answer, or what its answer.json holds when it begins with a brace. */
  readonly answers: Readonly<Record<string, string>>;
  /** What the model votes for, call by call: a place in the enum that it was offered, or a name. */
  readonly votes: readonly (number | string)[];
  readonly repair?: boolean;
  readonly upstream?: "tracker" | "orchestrator" | "labels only";
  /** max_new_answers_per_agent */
  readonly limit?: number;
}

interface Result {
  readonly enum: readonly string[];
  readonly tools: readonly string[];
  /** Label → answer, as the prompt shows them. */
  readonly shown: Readonly<Record<string, string>>;
  readonly mapping: Readonly<Record<string, string>>;
  readonly target: string | null;
  readonly asked: number;
  readonly starts: number;
  readonly prompt: string;
  readonly verdict: string | null;
  readonly cli: readonly (readonly string[])[];
  readonly costs: readonly string[];
}

const team = (size: number) => ["agent_a", "agent_b", "agent_c", "agent_d", "agent_e"].slice(0, size);
const answersOf = (agents: readonly string[]) => Object.fromEntries(agents.map((agent) => [agent, `answer-of-${agent}`]));

/** Every voter of a team, with and without an answer of its own, voting for everybody it may vote for. */
const everyVote = [2, 3, 5].flatMap((size) =>
  team(size).flatMap((voter) =>
    [true, false].flatMap((own) => {
      const answering = team(size).filter((agent) => own || agent !== voter);
      return answering.map((target, place) => ({ team: team(size), voter, answering, target, votes: [place] }));
    }),
  ),
);

const sparse = [
  { team: ["agent_b", "agent_d"], voter: "agent_b", answering: ["agent_d"], target: "agent_d", votes: [0] },
  { team: ["agent_a", "agent_aa", "agent_b"], voter: "agent_b", answering: ["agent_a", "agent_aa"], target: "agent_aa", votes: [1] },
];

const peers = answersOf(["agent_a", "agent_c"]);
const all = answersOf(team(3));
const single = {
  rawId: { voter: "agent_b", answers: peers, votes: ["agent_c"] },
  rawIdUnrepaired: { voter: "agent_b", answers: peers, votes: ["agent_c"], repair: false },
  secondThought: { voter: "agent_b", answers: peers, votes: ["agent9", "agent2", 0] },
  broken: { voter: "agent_b", answers: { agent_a: '{"agent_id":', agent_c: "answer-of-agent_c" }, votes: [0] },
  nobody: { voter: "agent_b", answers: {}, votes: [0] },
  onlyOwn: { voter: "agent_b", answers: answersOf(["agent_b"]), votes: [0] },
  limited: { voter: "agent_b", answers: all, votes: [2], limit: 1 },
  unlimited: { voter: "agent_b", answers: all, votes: [2], limit: 5 },
  unrepaired: { voter: "agent_b", answers: all, votes: [0], repair: false },
  unrepairedWithout: { voter: "agent_b", answers: peers, votes: [0], repair: false },
  tracker: { voter: "agent_b", answers: all, votes: [2], upstream: "tracker" },
  orchestrator: { voter: "agent_b", answers: all, votes: [2], upstream: "orchestrator" },
  labelsOnly: { voter: "agent_b", answers: all, votes: [2], upstream: "labels only" },
} as const satisfies Record<string, Case>;

const results = new Map<Case, Result>();
const of = (step: Case): Result => results.get(step) ?? ({ error: "not driven" } as never);
const matrix = [...everyVote, ...sparse].map((vote) => ({ ...vote, answers: answersOf(vote.answering) }));

let renamed: Driven;

beforeAll(async () => {
  const cases: Case[] = [...matrix, ...Object.values(single)];
  const others: Case[] = [single.unrepaired, single.rawId].map((step) => ({ ...step, repair: true }));
  const [driven, second] = await Promise.all([drive(cases), drive(others, ["initialize_session=begin_session"])]);
  for (const [index, step] of cases.entries()) results.set(step, driven.found[index] as Result);
  renamed = second;
}, 120_000);

test.each(matrix)("$voter of $team votes for $target when $answering have answered", (vote) => {
  const { team, voter, answering, target } = vote;
  const ids = [...new Set([...answering, voter])].sort();
  const names = answering.map((agent) => `agent${ids.indexOf(agent) + 1}`);
  const result = of(vote);
  expect(team).toEqual(ids);
  expect(result.enum).toEqual(names);
  expect(result.shown).toEqual(Object.fromEntries(answering.map((agent, index) => [`${names[index]}.1`, `answer-of-${agent}`])));
  expect(result).toMatchObject({ target, asked: 1, verdict: "applied", starts: 2, prompt: "What is 6 times 7?" });
  expect(result.cli).toEqual([names, names, names]);
});

test("models that answer with raw ids are understood, with the repair as without", () => {
  expect(of(single.rawId)).toMatchObject({ target: "agent_c", asked: 1 });
  expect(of(single.rawIdUnrepaired)).toMatchObject({ target: "agent_c", asked: 1 });
});

test("a name that stands for nobody, or for an agent without an answer, is refused, and the model is asked again", () => {
  expect(of(single.secondThought)).toMatchObject({ target: "agent_a", asked: 3 });
});

test("an agent whose answer cannot be read is not on the ballot, and the others keep their names", () => {
  expect(of(single.broken)).toMatchObject({ enum: ["agent3"], shown: { "agent3.1": "answer-of-agent_c" }, target: "agent_c" });
});

test("while no peer has answered the repair says that it is ready, and a vote ends as without it", () => {
  expect(of(single.nobody)).toMatchObject({ verdict: "ready", enum: ["agent1"], target: null, asked: 3 });
  expect(of(single.onlyOwn)).toMatchObject({ verdict: "ready", enum: ["agent1"], target: "agent_b", asked: 1 });
});

test("an answer limit counts the agent's own earlier answer, as in MassGen's multi-agent mode, and its ballot is the same", () => {
  expect(of(single.limited)).toMatchObject({ tools: ["vote"], enum: ["agent1", "agent2", "agent3"], target: "agent_c" });
  expect(of(single.unlimited)).toMatchObject({ tools: ["new_answer", "vote"], enum: ["agent1", "agent2", "agent3"], target: "agent_c" });
});

test("without the repair a voter is offered only itself, under a name that stands for nobody when it has no answer", () => {
  expect(of(single.unrepaired)).toMatchObject({ enum: ["agent1"], target: "agent_b", verdict: null });
  expect(of(single.unrepaired).shown).toMatchObject({ agent_a: "answer-of-agent_a", agent_c: "answer-of-agent_c" });
  expect(of(single.unrepairedWithout)).toMatchObject({ enum: ["agent1"], target: null, asked: 3 });
});

test("MassGen's own status file is written as ever, with peers in the tracker", () => {
  expect(of(single.rawId).costs).toEqual(of(single.rawIdUnrepaired).costs);
  expect(of(single.rawId).costs).toContain("total_estimated_cost");
});

describe("a MassGen mended upstream", () => {
  test.each(["tracker", "orchestrator"] as const)("in the %s needs no repair and gets none", (where) => {
    const result = of(single[where]);
    expect(result).toMatchObject({ verdict: "not needed", enum: ["agent1", "agent2", "agent3"], target: "agent_c", starts: 2 });
    expect(Object.keys(result.shown).sort()).toEqual(["agent1.1", "agent2.1", "agent3.1"]);
  });

  test("only where answers are shown still gets a whole ballot", () => {
    expect(of(single.labelsOnly)).toMatchObject({ verdict: "applied", enum: ["agent1", "agent2", "agent3"], target: "agent_c" });
  });
});

test("a MassGen with other names runs as it would without the repair, which says so", () => {
  const verdict = "unexpected code: AttributeError: 'CoordinationTracker' object has no attribute 'initialize_session'";
  expect(renamed.found).toMatchObject([
    { enum: ["agent1"], target: "agent_b", verdict, starts: 2 },
    { enum: ["agent1"], target: "agent_c", verdict },
  ]);
  expect(renamed.stderr).toContain(`\nmg-team ballot: ${verdict}\n`);
});

// --- internal ---

interface Driven {
  readonly found: readonly Result[];
  readonly stderr: string;
}

async function drive(cases: readonly Case[], renames: readonly string[] = []): Promise<Driven> {
  await using temp = temporaryDirectory();
  const env = { ...process.env, HOME: temp.path, PYTHONPATH: undefined };
  const { env: repair } = await placed(temp, env);
  const words = [temp.write("cases.json", JSON.stringify(cases)), temp.join("results.json"), ...renames];
  const argv = [massgenPython, join(import.meta.dir, "drive.py"), "--step", ...words];
  const { exit, stderr } = await capture(argv, { env: { ...env, ...repair }, limitSeconds: 110 });
  if (exit.code !== 0) throw new Error(`drive.py exited with ${exit.code}: ${stderr.slice(-2000)}`);
  return { found: JSON.parse(readFileSync(temp.join("results.json"), "utf8")), stderr };
}
