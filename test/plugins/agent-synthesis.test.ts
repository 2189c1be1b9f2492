import { describe, expect, spyOn, test } from "bun:test";
import fs, { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { CurrentAnswer, ExtraStep, ExtraStepResult } from "mg-team";
import agentSynthesis from "../../plugins/agent-synthesis/index.ts";
import { agentId } from "../../src/config/models.ts";
import { argumentLimitBytes, longestQueryBytes } from "../../src/preflight/query.ts";
import type { Limits } from "../../src/types.ts";
import { costOf, fakeTeam } from "../support/team.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temp.ts";
import { agentWith, resultWith } from "./markdown-input.ts";

/** Files by their names. */
type Files = Readonly<Record<string, string>>;

interface Scene {
  readonly temp: TemporaryDirectory;
  /** The answers by the letters of their agents: their files, or null for an answer without a workspace. Default: two without. */
  readonly answers?: Readonly<Record<string, Files | null>>;
  /** What the step brings; what is not said: the answer "Merged", no files. */
  readonly made?: Partial<ExtraStepResult>;
  /** Files of the step's workspace. */
  readonly files?: Files;
  readonly limits?: Partial<Limits>;
  readonly query?: string;
  readonly elapsed?: number;
  readonly spent?: number;
  readonly change?: Parameters<typeof resultWith>[0];
}

/** Plays the second round of onSynthesis; the winner is agent_b, whose files are in deliverable/ already. */
async function synthesise({ temp, answers = { a: null, b: null }, made = {}, files, ...scene }: Scene) {
  const directory = temp.join("synthesis");
  const write = (place: string, all: Files) => {
    mkdirSync(join(temp.path, place), { recursive: true });
    for (const [name, text] of Object.entries(all)) temp.write(`${place}/${name}`, text);
    return temp.join(place);
  };
  const current = Object.entries(answers).map(([letter, own]): CurrentAnswer => {
    const agent = letter.startsWith("agent_") ? letter : `agent_${letter}`;
    const workspace = own === null ? null : write(`session/agents/${agent}/001/workspace`, own);
    return { agent, model: `codex/model-${letter}`, step: 1, round: 1, text: `Answer of ${agent}`, workspace };
  });
  const ofWinner = answers.b ?? answers.agent_b ?? null;
  if (ofWinner !== null) write("synthesis/deliverable", ofWinner);
  const team = fakeTeam(scene.limits === undefined ? {} : { limits: scene.limits });
  const steps: ExtraStep[] = [];
  Object.assign(team, {
    answers: current,
    elapsedSeconds: scene.elapsed ?? 0,
    cost: costOf({ a: { usd: scene.spent ?? 0 } }),
    run: { ...team.run, query: scene.query ?? "Build a landing page", directory: temp.path },
    runStep: async (step: ExtraStep): Promise<ExtraStepResult> => {
      steps.push(step);
      const workspace = files === undefined ? null : write("made", files);
      return { answer: "Merged", workspace, failure: null, cost: { usd: 0.1, inputTokens: 1, outputTokens: 1 }, seconds: 1, ...made };
    },
  });
  agentSynthesis.apply(team, undefined);
  const path = temp.join("synthesis/final_answer.md");
  const deliverable = ofWinner === null ? null : temp.join("synthesis/deliverable");
  const result = resultWith({
    synthesis: { kind: "markdown", path, deliverable, winner: temp.join("synthesis/winner"), why_not_agent: null },
    ...scene.change,
  });
  const document = { kind: "agent", answer: "The winner's", madeBy: null, markdown: "", whyNotAgent: null, result, directory } as const;
  const settled = await team.hooks.onSynthesis.promise({ ...document });
  return {
    document: settled ?? document,
    result,
    step: steps[0],
    delivered: (name: string) => readFileSync(temp.join("synthesis/deliverable", name), "utf8"),
  };
}

describe("the task", () => {
  test("names the chosen answer first, where all answers and files are, and holds the query word for word", async () => {
    await using temp = temporaryDirectory();
    const query = "Write `a`.\n\nWHAT TO DO\n1. nothing\nTHE TASK";
    const { step } = await synthesise({ temp, query, answers: { a: { "a.txt": "a" }, b: { "b.txt": "b" }, c: null } });
    const sources = temp.join("synthesis/sources");
    expect(step?.query).toContain(`down to the line END OF THE TASK)\n${query}\nEND OF THE TASK\n`);
    expect(step?.query).toContain(
      `THE CHOSEN ANSWER (start from it)\n- agent_b: ${sources}/agent_b/answer.md, its files in ${temp.join("session/agents/agent_b/001/workspace")}\n`,
    );
    expect(step?.query).toContain(
      `THE OTHER ANSWERS\n- agent_a: ${sources}/agent_a/answer.md, its files in ${temp.join("session/agents/agent_a/001/workspace")}\n- agent_c: ${sources}/agent_c/answer.md\n`,
    );
    expect(readFileSync(join(sources, "agent_c/answer.md"), "utf8")).toBe("Answer of agent_c");
    expect(step?.context).toEqual([sources, ...["a", "b"].map((letter) => temp.join(`session/agents/agent_${letter}/001/workspace`))]);
    expect(step?.model).toBe("agent_b");
  });

  test("names no model", async () => {
    await using temp = temporaryDirectory();
    const { step } = await synthesise({ temp });
    expect(step?.query).not.toContain("model-");
    expect(step?.query).not.toContain("codex");
  });

  test("says what to do with files only where there are some", async () => {
    for (const [answers, words] of [
      [{ a: null, b: { "b.txt": "" } }, "Copy all files of the chosen answer into your own workspace"],
      [{ a: { "a.txt": "" }, b: null }, "The chosen answer has no files"],
      [{ a: null, b: null }, "Put any files that the task asks for"],
    ] as const) {
      await using temp = temporaryDirectory();
      expect((await synthesise({ temp, answers })).step?.query).toContain(words);
    }
  });

  test("begins in a session that does not exist yet, also after an earlier try", async () => {
    await using temp = temporaryDirectory();
    expect((await synthesise({ temp })).step?.sessionDir).toBe(temp.join("synthesis/session"));
    temp.write("synthesis/session/agents/agent_b/001/answer.json", "{}");
    expect((await synthesise({ temp })).step?.sessionDir).toBe(temp.join("synthesis/session_2"));
  });

  test("fits into one argument with the longest query, for the largest team in the deepest directory", async () => {
    await using temp = temporaryDirectory(`${"deep/".repeat(150)}${"directory/".repeat(150)}`);
    const answers = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [agentId(index), {}]));
    const { step } = await synthesise({ temp, answers, query: "é".repeat(longestQueryBytes / 2) });
    expect(Buffer.byteLength(step?.query ?? "")).toBeGreaterThan(longestQueryBytes);
    // With its closing NUL.
    expect(Buffer.byteLength(step?.query ?? "") + 1).toBeLessThan(argumentLimitBytes);
    const index = temp.join("synthesis/sources/answers.txt");
    expect(step?.query).toContain(`stands in ${index}`);
    const listed = readFileSync(index, "utf8");
    for (const agent of Object.keys(answers)) expect(listed).toContain(temp.join(`synthesis/sources/${agent}/answer.md`));
  });
});

describe("there is none", () => {
  const cases: readonly [string, string, Omit<Scene, "temp">][] = [
    ["one answer only", "there is only one answer, so there is nothing to merge", { answers: { b: null } }],
    ["less than half a minute left", "only 29s of the time limit was left", { limits: { timeoutSeconds: 100 }, elapsed: 71 }],
    [
      "less time left than any answer took",
      "only 1m of the time limit was left, and no answer took less than 1m 1s",
      { limits: { timeoutSeconds: 100 }, elapsed: 40, change: { agents: [agentWith("a", ["answer"]), agentWith("b", ["answer"])] } },
    ],
    ["the budget used up", "the budget is used up", { limits: { costBudget: 1 }, spent: 1 }],
    ["too little money for the dearest step", "it would likely exceed the budget", { limits: { costBudget: 1 }, spent: 0.95 }],
  ];
  test.each(cases)("with %s", async (_, why, scene) => {
    await using temp = temporaryDirectory();
    const { document, step } = await synthesise({ temp, ...scene });
    expect(step).toBeUndefined();
    expect(document).toMatchObject({ whyNotAgent: why, madeBy: null, answer: "The winner's" });
  });

  test("when the step brings no answer, and nothing of the winner's is touched", async () => {
    await using temp = temporaryDirectory();
    const answers = { a: null, b: { "b.txt": "b" } };
    const made = { answer: null, failure: "it voted instead of answering" };
    const { document, delivered } = await synthesise({ temp, answers, made, files: { "b.txt": "spoilt" } });
    const why = "the synthesis step brought no answer (it voted instead of answering)";
    expect(document).toMatchObject({ whyNotAgent: why, madeBy: null, answer: "The winner's" });
    expect(delivered("b.txt")).toBe("b");
  });

  test("when its sources cannot be written", async () => {
    await using temp = temporaryDirectory();
    temp.write("synthesis/sources", "a file is in the way");
    const { document } = await synthesise({ temp });
    expect(document.whyNotAgent).toMatch(/^it could not be made \(.*sources/);
  });
});

describe("the files", () => {
  const b = { "index.html": "<h1>B</h1>", "style.css": "h1 {}", "empty.txt": "", "notes/a.md": "a" };

  test("take the place of the winner's, and all is well when none is lost", async () => {
    await using temp = temporaryDirectory();
    const files = { ...b, "index.html": "<h1>A and B</h1>", "more.js": "1" };
    const { document, result, delivered } = await synthesise({ temp, answers: { a: null, b }, files });
    expect(document).toMatchObject({ answer: "Merged", madeBy: "codex/model-b", whyNotAgent: null });
    expect(delivered("index.html")).toBe("<h1>A and B</h1>");
    expect(delivered("more.js")).toBe("1");
    expect(result.warnings).toEqual([]);
  });

  test("that are gone or emptied against the winner's are named", async () => {
    await using temp = temporaryDirectory();
    const { result } = await synthesise({ temp, answers: { a: null, b }, files: { "index.html": " \n", "empty.txt": "" } });
    expect(result.warnings).toEqual([
      "the synthesis left out files of the winner: notes/a.md and style.css; they are in winner/",
      "the synthesis emptied files of the winner: index.html; they are whole in winner/",
    ]);
  });

  test("of a long list of losses the first are named", async () => {
    await using temp = temporaryDirectory();
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`file-${index}.txt`, "x"]));
    const { result } = await synthesise({ temp, answers: { a: null, b: many }, files: { "other.txt": "x" } });
    expect(result.warnings[0]).toMatch(/file-0\.txt, .*, and 980 more files; they are in winner\/$/);
    expect(result.warnings[0]?.length).toBeLessThan(500);
  });

  test("of a synthesis without any are the winner's, and that is said", async () => {
    await using temp = temporaryDirectory();
    const { result, delivered } = await synthesise({ temp, answers: { a: null, b } });
    expect(delivered("style.css")).toBe("h1 {}");
    expect(result.warnings).toEqual(["the synthesis left no files, so deliverable/ holds the winner's"]);
  });

  test("of a synthesis whose winner had none become the deliverable", async () => {
    await using temp = temporaryDirectory();
    const { result, delivered } = await synthesise({ temp, answers: { a: { "a.txt": "a" }, b: null }, files: { "a.txt": "a" } });
    expect(delivered("a.txt")).toBe("a");
    expect(result.synthesis.deliverable).toBe(temp.join("synthesis/deliverable"));
    expect(result.warnings).toEqual([]);
  });

  test("that cannot be put in place leave the winner's answer and files, with the reason", async () => {
    await using temp = temporaryDirectory();
    const rename = spyOn(fs, "renameSync").mockImplementation(() => {
      throw Object.assign(new Error("no room"), { code: "ENOSPC" });
    });
    try {
      const { document, delivered } = await synthesise({ temp, answers: { a: null, b }, files: { "index.html": "new" } });
      expect(document).toMatchObject({ madeBy: null, answer: "The winner's" });
      expect(document.whyNotAgent).toMatch(/^it could not be made \(.*deliverable/);
      expect(delivered("index.html")).toBe("<h1>B</h1>");
    } finally {
      rename.mockRestore();
    }
  });
});

test("the first round of the hook, for the Markdown document, starts nothing", async () => {
  await using temp = temporaryDirectory();
  const team = fakeTeam();
  agentSynthesis.apply(team, undefined);
  const document = {
    kind: "markdown",
    answer: "x",
    madeBy: null,
    markdown: "",
    whyNotAgent: null,
    result: resultWith(),
    directory: temp.path,
  } as const;
  await team.hooks.onSynthesis.promise({ ...document });
  expect(existsSync(temp.join("sources"))).toBe(false);
});
