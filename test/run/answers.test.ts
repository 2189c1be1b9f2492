import { describe, expect } from "bun:test";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { FakeAnswer, FakeStep, Garble } from "../fixtures/fake-massgen/script.ts";
import { onlyRun } from "../support/runs.ts";
import { type Story, tell } from "../support/story.ts";

// What a step leaves on disk is the truth (core loop 2), and bytes that are not UTF-8 end the run (core loop 5).

const agree = "answer, vote a";
const spoilt = (garble: Garble): FakeStep => ({ answer: { text: "A fine answer", workspace: false, garble } });
const whole: FakeAnswer = { text: "A fine answer", workspace: false };

describe("an answer without anything to see is a failed step of class empty", () => {
  const texts: Readonly<Record<string, string>> = {
    "nothing at all": "",
    spaces: "   ",
    "line ends and tabs": " \n\t\r\n ",
    "a space without width": "\u200b\u200b",
    "a byte order mark inside the text": "\ufeff",
    "a no-break space": "\u00a0",
    "control characters": "\u0000\u0007",
  };
  tell(
    Object.entries(texts).map(
      ([what, text]): Story => ({
        title: `${what} is tried again, and is never a candidate`,
        plays: { a: agree, b: [{ answer: { text, workspace: false } }] },
        args: ["--retries", "2"],
        rounds: ["a answered, b failed(empty) then failed(empty) then failed(empty)"],
        ends: "single only_agent a, exit 0",
        look: ({ result }) => {
          expect(result.agents[1]?.failure).toMatchObject({
            class: "empty",
            message: expect.stringContaining("nothing in it that could be seen"),
          });
          expect(result.agents[1]?.failure?.log).toEndWith("003/answer.json");
        },
      }),
    ),
  );
  tell([
    {
      title: "an earlier answer of an agent that then answered blank can still win",
      plays: { a: "answer, vote b, vote b", b: "answer, blank, answer" },
      args: ["--retries", "0", "--max-rounds", "3"],
      rounds: ["a answered, b answered", "a voted b, b failed(empty)"],
      ends: "single only_agent a, exit 0",
    },
    {
      title: "a blank first try and a whole second one are one answer",
      plays: { a: agree, b: "blank, answer, vote a" },
      rounds: ["a answered, b failed(empty) then answered", "a voted a, b voted a"],
      ends: "consensus majority a, exit 0",
      look: ({ result }) =>
        expect(result.agents[1]?.steps.map(({ step, try: attempt }) => [step, attempt])).toEqual([
          [null, 1],
          [2, 2],
          [3, 1],
        ]),
    },
  ]);
});

describe("an answer file that peers skip is a failed step of class garbled, and the others go on", () => {
  const garbles: Readonly<Record<string, Garble>> = {
    "cut in half": "cut",
    empty: "empty",
    "with a byte order mark": "bom",
    "of some other text": { raw: "An answer, but no JSON" },
    "with a comma too much": { raw: '{"answer": "x",}' },
    "of NaN": { raw: '{"answer": NaN}' },
  };
  tell(
    Object.entries(garbles).map(
      ([what, garble]): Story => ({
        title: `a file ${what}`,
        plays: { a: agree, b: agree, c: [spoilt(garble)] },
        rounds: ["a answered, b answered, c failed(garbled) then failed(garbled)", "a voted a, b voted a"],
        ends: "consensus majority a, exit 0",
        look: ({ result, directory, stderr }) => {
          const failure = result.agents[2]?.failure;
          expect(failure?.log).toBe("session/agents/agent_c/002/answer.json");
          expect(existsSync(join(directory.root, failure?.log ?? ""))).toBe(true);
          expect(stderr).toContain("agent_c is out (garbled): answer.json of step 2");
        },
      }),
    ),
  );
  tell([
    {
      title: "no file at all, though last_action.json says that there is an answer",
      plays: { a: agree, b: agree, c: [spoilt("missing")] },
      rounds: ["a answered, b answered, c failed(no_action) then failed(no_action)", "a voted a, b voted a"],
      ends: "consensus majority a, exit 0",
    },
    {
      title: "a vote.json cut in half",
      plays: { a: agree, b: agree, c: ["answer", { vote: { target: "agent_a", garble: "cut" } }] },
      rounds: ["a answered, b answered, c answered", "a voted a, b voted a, c failed(garbled) then failed(garbled)"],
      ends: "consensus majority a, exit 0",
    },
    {
      title: "a vote.json that is a list",
      plays: { a: agree, b: agree, c: ["answer", { vote: { target: "agent_a", garble: "array" } }, "vote a"] },
      rounds: ["a answered, b answered, c answered", "a voted a, b voted a, c failed(garbled) then voted a"],
      ends: "consensus majority a, exit 0",
    },
  ]);
});

describe("an answer file that would fail every other agent ends the run: force, and the file is named", () => {
  const poisons: Readonly<Record<string, Garble>> = {
    "bytes that are not UTF-8": "not-utf8",
    "a list instead of an object": "array",
    "null instead of an object": "null",
    "an answer that is a number": "number",
    "half a character": { raw: '{"answer": "x\\ud83d"}' },
    "a lone byte 0xff in a valid object": {
      base64: Buffer.from([...Buffer.from('{"answer": "'), 0xff, ...Buffer.from('"}')]).toString("base64"),
    },
  };
  tell(
    Object.entries(poisons).map(
      ([what, garble]): Story => ({
        title: `${what}: no further launch, the votes and answers so far decide`,
        plays: {
          a: "answer, vote b",
          b: "answer after a, vote nobody after a",
          c: ["answer after b", { ...spoilt(garble), before: { file: "finished-agent_b-2" } }],
        },
        rounds: ["a answered, b answered, c answered", "a voted b, b voted nobody, c failed(garbled)"],
        ends: "forced agents_failed b, exit 0",
        rule: /session\/agents\/agent_c\/002\/answer\.json is damaged/,
        look: ({ launches, stderr }) => {
          expect(launches.filter(({ kind }) => kind === "step").length).toBe(6);
          expect(stderr).toContain("session/agents/agent_c/002/answer.json");
        },
      }),
    ),
  );
  tell([
    {
      title: "in the first round, with nothing else on disk, there is no answer",
      plays: { a: [{ ...spoilt("not-utf8"), before: { file: "finished-agent_b-1" } }], b: "fail auth" },
      rounds: ["a failed(garbled), b failed(auth)"],
      ends: "none agents_failed, exit 5",
    },
    {
      title: "peers that run at that time may still answer, and the first of their answers wins",
      // Both must have read the session before.
      plays: {
        a: [{ ...spoilt("not-utf8"), startup: { file: "b-reads" }, before: { file: "c-reads" } }],
        b: [{ answer: whole, before: { announce: "b-reads", file: "finished-agent_c-1" } }],
        c: [{ answer: whole, before: { announce: "c-reads", file: "finished-agent_a-1" } }],
      },
      rounds: ["a failed(garbled), b answered, c answered"],
      ends: "forced agents_failed c, exit 0",
    },
    {
      title: "a consensus that is complete all the same wins",
      plays: {
        a: "answer, vote a, vote a",
        b: "answer, vote a after a",
        c: ["answer", { ...spoilt("not-utf8"), before: { file: "finished-agent_b-2" } }],
      },
      ends: "consensus majority a, exit 0",
    },
    {
      title: "an agent that waits for its turn is not launched any more",
      plays: { a: [spoilt("not-utf8")], b: agree, c: agree },
      args: ["--max-parallel", "1"],
      rounds: ["a failed(garbled)"],
      ends: "none agents_failed, exit 5",
      look: ({ launches }) => expect(launches.filter(({ kind }) => kind === "step").length).toBe(1),
    },
  ]);
});

describe("what counts is what is on disk", () => {
  tell([
    {
      title: "an answer counts though its process exits 2 after it",
      plays: { a: [{ answer: whole, exit: 2 }, "vote a"], b: agree },
      rounds: ["a answered, b answered", "a voted a, b voted a"],
      ends: "consensus majority a, exit 0",
    },
    {
      title: "a vote counts though its process is killed after it",
      plays: { a: ["answer", { vote: "agent_a", exit: -9 }], b: agree },
      rounds: ["a answered, b answered", "a voted a, b voted a"],
      ends: "consensus majority a, exit 0",
    },
    {
      title: "a missing last_action.json changes nothing",
      plays: { a: [{ answer: { ...whole, lastAction: "missing" } }, { vote: { target: "agent_a", lastAction: "missing" } }], b: agree },
      ends: "consensus majority a, exit 0",
    },
    {
      title: "a last_action.json cut in half, or with lies in it, changes nothing",
      plays: {
        a: [{ answer: { ...whole, lastAction: "cut" } }, "vote a"],
        b: [{ answer: { ...whole, lastAction: { set: { action: "vote", vote_target: "agent_b", step_number: 99 } } } }, "vote a"],
      },
      rounds: ["a answered, b answered", "a voted a, b voted a"],
      ends: "consensus majority a, exit 0",
    },
    {
      title: "exit 0 without anything new is a failure, not the last step once more",
      plays: { a: "answer, nothing", b: "answer, vote a" },
      rounds: ["a answered, b answered", "a failed(no_action) then failed(no_action), b voted a"],
      ends: "single only_agent b, exit 0",
    },
    {
      title: "exit 0 without anything at all is a failure",
      plays: { a: "nothing", b: agree },
      rounds: ["a failed(no_action) then failed(no_action), b answered"],
      ends: "single only_agent b, exit 0",
    },
  ]);

  tell([
    {
      title: "the text of an answer arrives whole: line ends, emoji, JSON escapes, 200 KB",
      plays: { a: [{ answer: { text: `Zeile\r\n"quoted" \\ \u2028 🎉\n${"lang ".repeat(40_000)}`, workspace: false } }], b: "fail auth" },
      ends: "single only_agent a, exit 0",
      look: ({ result, directory }) => {
        expect(result.answer).toStartWith('Zeile\r\n"quoted" \\ \u2028 🎉\n');
        expect(result.answer?.length).toBeGreaterThan(200_000);
        expect(readFileSync(join(directory.winner, "answer.md"), "utf8")).toBe(result.answer ?? "");
      },
    },
  ]);
});

describe("an answer that is gone when it has won", () => {
  const vanish = (...letters: string[]): Pick<Story, "onEvent"> => ({
    onEvent(event, { project }) {
      const gone = letters.map((letter) => join(onlyRun(project).session, `agents/agent_${letter}/001`));
      if (event.type === "ballots" && event.round === 2) for (const path of gone) rmSync(path, { recursive: true, force: true });
    },
  });
  tell([
    {
      ...vanish("a"),
      title: "another answer is delivered, by the forced rule, and the result says why",
      plays: { a: "answer after c, vote a", b: "answer after a, vote a", c: "answer, vote b" },
      ends: "forced majority b, exit 0",
      rule: /^agent_a was chosen, but its answer cannot be read any more; agent_b had the most valid votes \(1\)\.$/,
      look: ({ result, stderr }) => {
        expect(result.answer).toBe("An answer, number 1");
        expect(result.warnings).toContainEqual(expect.stringContaining("the answer of agent_a in step 1 is not in"));
        expect(stderr).toContain("the answer of agent_a in step 1 is not in");
      },
    },
    {
      ...vanish("a", "b"),
      title: "without any other there is a result all the same, exit 5",
      plays: { a: "answer, vote a", b: "answer, vote a" },
      ends: "none majority, exit 5",
    },
  ]);
});
