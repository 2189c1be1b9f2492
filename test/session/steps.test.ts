import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { TeamError } from "../../src/errors.ts";
import { longestReason } from "../../src/session/step-content.ts";
import { listAgents, newestStep, readAgentSteps, readAnswer, snapshotSession, stepLimits } from "../../src/session/steps.ts";

let root = "";
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "steps-"));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

let count = 0;

/** A session directory with these files below `agents/`. */
function session(files: Readonly<Record<string, string | Uint8Array>>): string {
  const directory = join(root, `s${count++}`);
  for (const [name, content] of Object.entries(files)) {
    const path = join(directory, "agents", name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
  return directory;
}

const answer = (text: unknown) => JSON.stringify({ agent_id: "agent_a", answer: text, timestamp: "2026-01-01T00:00:00Z" });
const vote = (fields: object) => JSON.stringify({ voter: "agent_a", target: "agent_b", reason: "good", seen_steps: {}, ...fields });
const bytes = (...parts: (string | number)[]) => Buffer.concat(parts.map((part) => Buffer.from(typeof part === "string" ? part : [part])));

function only(files: Readonly<Record<string, string | Uint8Array>>) {
  const [step] = readAgentSteps(session(files), "agent_a");
  if (!step) throw new Error("no step");
  return step;
}

describe("an answer", () => {
  test("is read with its number", () => {
    expect(only({ "agent_a/007/answer.json": answer("42") })).toMatchObject({ kind: "new_answer", step: 7 });
  });

  const blanks = ["", " ", "\n\t ", "\u200b\u200d", "\ufeff", "\u00a0\u2003", "\u2800", "\u3164", "\u0000\u0001", "\u00ad", "\u{e0020}"];
  test.each(blanks.map((text) => JSON.stringify(text)))("of %s is blank", (text) => {
    expect(only({ "agent_a/001/answer.json": `{"answer": ${text}}` }).kind).toBe("blank");
  });

  test("that is null or missing is blank, as MassGen shows nothing of it", () => {
    expect(only({ "agent_a/001/answer.json": answer(null) }).kind).toBe("blank");
    expect(only({ "agent_a/001/answer.json": "{}" }).kind).toBe("blank");
  });

  test.each(["0", "👍", "é", "\u0301", "."])("of %j is not blank", (text) => {
    expect(only({ "agent_a/001/answer.json": answer(text) }).kind).toBe("new_answer");
  });

  // Each was given to massgen 0.1.97's own reader; "fatal" rows raised what it does not catch.
  const garbled: readonly (readonly [string, string | Uint8Array, boolean, string])[] = [
    ["bytes that are not UTF-8", bytes('{"answer": "caf', 0xe9, '"}'), true, "UTF-8"],
    ["UTF-16", new Uint8Array(Buffer.from('\ufeff{"answer": "x"}', "utf16le")), true, "UTF-8"],
    ["a surrogate as bytes", bytes('{"answer": "', 0xed, 0xa0, 0x80, '"}'), true, "UTF-8"],
    ["an array", '["a"]', true, "a list"],
    ["a bare string", '"a"', true, "a string"],
    ["null", "null", true, "null"],
    ["a number as the answer", answer(42), true, "a number"],
    ["true as the answer", answer(true), true, "true"],
    ["an object as the answer", answer({ a: 1 }), true, "an object"],
    ["half of a surrogate pair", '{"answer": "x\\ud83d"}', true, "half a character"],
    ["a list as the answer", answer(["a"]), false, "a list"],
    ["half a file", answer("a long answer").slice(0, 30), false, "not whole JSON"],
    ["nothing", "", false, "empty"],
    ["a byte order mark", `\ufeff${answer("x")}`, false, "byte order mark"],
    ["a raw NUL", bytes('{"answer": "a', 0, 'b"}'), false, "not whole JSON"],
  ];
  test.each(garbled)("with %s is garbled", (_, content, fatal, why) => {
    const step = only({ "agent_a/001/answer.json": content });
    expect(step).toMatchObject({ kind: "garbled", fatal, why: expect.stringContaining(why) });
  });

  test("hides a vote beside it, even when it is garbled", () => {
    expect(only({ "agent_a/001/answer.json": "{", "agent_a/001/vote.json": vote({}) }).kind).toBe("garbled");
  });

  test("larger than the limit is not read", () => {
    const text = Buffer.alloc(stepLimits.answerBytes + 1, 0x20);
    expect(only({ "agent_a/001/answer.json": text })).toMatchObject({ kind: "garbled", why: "is larger than 16 MiB", fatal: false });
  });

  test("that is a directory would fail every peer", () => {
    expect(only({ "agent_a/001/answer.json/x": "" })).toMatchObject({ kind: "garbled", fatal: true });
  });
});

describe("a vote", () => {
  test("is read as written", () => {
    const step = only({ "agent_a/002/vote.json": vote({ seen_steps: { agent_b: 1, agent_a: 0 } }) });
    expect(step).toMatchObject({ kind: "vote", step: 2, target: "agent_b", reason: "good", seenSteps: { agent_b: 1, agent_a: 0 } });
  });

  const unusable = [undefined, null, {}, [], [1], "agent_b", 3, { agent_b: -1 }, { agent_b: 1.5 }, { agent_b: "1" }, { agent_b: null }];
  test.each(unusable.map((seen) => [seen]))("with seen_steps %j has none", (seen) => {
    expect(only({ "agent_a/001/vote.json": vote({ seen_steps: seen }) })).toMatchObject({ kind: "vote", seenSteps: null });
  });

  test.each([[[]], [{}], [1], [null], [true], [undefined]])("for %j is garbled but no danger to peers", (target) => {
    expect(only({ "agent_a/001/vote.json": vote({ target }) })).toMatchObject({ kind: "garbled", fatal: false });
  });

  test("that is an array is garbled, which MassGen does not mind", () => {
    expect(only({ "agent_a/001/vote.json": "[]" })).toMatchObject({ kind: "garbled", fatal: false });
  });

  test("with bytes that are not UTF-8 would fail every peer", () => {
    expect(only({ "agent_a/001/vote.json": bytes('{"target": "', 0xff, '"}') })).toMatchObject({ kind: "garbled", fatal: true });
  });

  test("may name nobody", () => {
    expect(only({ "agent_a/001/vote.json": vote({ target: "" }) })).toMatchObject({ kind: "vote", target: "" });
  });

  test("keeps a reason that is no text empty, and cuts a long one", () => {
    expect(only({ "agent_a/001/vote.json": vote({ reason: 3 }) })).toMatchObject({ reason: "" });
    const step = only({ "agent_a/001/vote.json": vote({ reason: "x".repeat(9000) }) });
    expect(step.kind === "vote" && step.reason.length).toBe(longestReason);
  });

  test("keeps an agent with a dangerous name as an ordinary key", () => {
    const step = only({ "agent_a/001/vote.json": '{"target": "x", "seen_steps": {"__proto__": 3}}' });
    expect(step.kind === "vote" && Object.entries(step.seenSteps ?? {})).toEqual([["__proto__", 3]]);
  });
});

describe("a session directory", () => {
  test("that is missing has no agents, steps or answers", () => {
    expect(listAgents(join(root, "none"))).toEqual([]);
    expect(readAgentSteps(join(root, "none"), "agent_a")).toEqual([]);
    expect(newestStep(join(root, "none"), "agent_a")).toBe(0);
    expect(snapshotSession(join(root, "none"))).toEqual({ answers: {}, blank: [] });
  });

  test("orders steps by number, not by name, and gives only those after another", () => {
    const directory = session({
      "agent_a/999/answer.json": answer("x"),
      "agent_a/1000/answer.json": answer("x"),
      "agent_a/002/vote.json": vote({}),
      "agent_a/003/other.txt": "",
    });
    expect(readAgentSteps(directory, "agent_a").map(({ step, kind }) => [step, kind])).toEqual([
      [2, "vote"],
      [3, "none"],
      [999, "new_answer"],
      [1000, "new_answer"],
    ]);
    expect(readAgentSteps(directory, "agent_a", 999).map(({ step }) => step)).toEqual([1000]);
    expect(newestStep(directory, "agent_a")).toBe(1000);
  });

  test("counts only directories named by digits", () => {
    const files = [
      "last_action.json",
      "1a/answer.json",
      ".1/answer.json",
      "-1/answer.json",
      "1.0/answer.json",
      "²/answer.json",
      "0/answer.json",
    ];
    const directory = session(
      Object.fromEntries([...files, "99999999999999999999/answer.json"].map((name) => [`agent_a/${name}`, answer("x")])),
    );
    writeFileSync(join(directory, "agents/agent_a/5"), "a file");
    expect(readAgentSteps(directory, "agent_a")).toEqual([]);
  });

  test("is never left by a link: neither an agent, a step, nor an answer", () => {
    const outside = session({ "agent_x/001/answer.json": answer("secret") });
    const directory = session({ "agent_a/001/answer.json": answer("mine") });
    symlinkSync(join(outside, "agents/agent_x"), join(directory, "agents/agent_b"));
    symlinkSync(join(outside, "agents/agent_x/001"), join(directory, "agents/agent_a/002"));
    mkdirSync(join(directory, "agents/agent_a/003"));
    symlinkSync(join(outside, "agents/agent_x/001/answer.json"), join(directory, "agents/agent_a/003/answer.json"));
    expect(listAgents(directory)).toEqual(["agent_a"]);
    const steps = readAgentSteps(directory, "agent_a");
    expect(steps.map(({ step, kind }) => [step, kind])).toEqual([
      [1, "new_answer"],
      [3, "garbled"],
    ]);
    expect(snapshotSession(directory)).toEqual({ answers: { agent_a: 1 }, blank: ["agent_a"] });
  });

  test("may be reached by a link, and hold links that stay inside", () => {
    const directory = session({ "agent_a/001/answer.json": answer("mine") });
    mkdirSync(join(directory, "agents/agent_a/002"));
    symlinkSync("../001/answer.json", join(directory, "agents/agent_a/002/answer.json"));
    const link = join(root, `link${count++}`);
    symlinkSync(directory, link);
    expect(readAgentSteps(link, "agent_a").map(({ kind }) => kind)).toEqual(["new_answer", "new_answer"]);
  });

  test.each(["../agent_a", "..", ".", "", "a/b", "a\0b"])("has no agent called %j", (agent) => {
    const directory = session({ "agent_a/001/answer.json": answer("x") });
    expect(readAgentSteps(join(directory, "agents"), agent)).toEqual([]);
    expect(readAgentSteps(directory, agent)).toEqual([]);
  });

  test("with a pipe for an answer does not hang", async () => {
    const directory = session({ "agent_a/001/x": "" });
    await Bun.$`mkfifo ${join(directory, "agents/agent_a/001/answer.json")}`.quiet();
    expect(readAgentSteps(directory, "agent_a")).toMatchObject([{ kind: "garbled", why: "is no regular file" }]);
  });
});

describe("a snapshot", () => {
  test("has the newest whole answer of each agent; votes and cut files do not count", () => {
    const directory = session({
      "agent_a/001/answer.json": answer("old"),
      "agent_a/002/answer.json": answer("new"),
      "agent_a/003/vote.json": vote({}),
      "agent_b/001/answer.json": answer("whole"),
      "agent_b/002/answer.json": '{"answer": "cut',
      "agent_c/001/vote.json": vote({}),
    });
    expect(snapshotSession(directory)).toEqual({ answers: { agent_a: 2, agent_b: 1 }, blank: [] });
  });

  test("names the agents whose newest answer is blank, and keeps their older answer", () => {
    const directory = session({
      "agent_a/001/answer.json": answer("old"),
      "agent_a/002/answer.json": answer(""),
      "agent_b/001/answer.json": answer("  "),
      "agent_c/001/answer.json": answer(""),
      "agent_c/002/answer.json": answer("back again"),
    });
    expect(snapshotSession(directory)).toEqual({ answers: { agent_a: 1, agent_c: 2 }, blank: ["agent_a", "agent_b"] });
  });
});

describe("reading an answer", () => {
  test("gives its text and its workspace", () => {
    const directory = session({ "agent_a/001/answer.json": answer("é 👍 \u0000"), "agent_a/001/workspace/index.html": "<p>" });
    const { text, workspace } = readAnswer(directory, "agent_a", 1);
    expect(text).toBe("é 👍 \u0000");
    expect(workspace).toBe(join(directory, "agents/agent_a/001/workspace"));
  });

  test("gives no workspace that is a link", () => {
    const directory = session({ "agent_a/001/answer.json": answer("x") });
    symlinkSync(tmpdir(), join(directory, "agents/agent_a/001/workspace"));
    expect(readAnswer(directory, "agent_a", 1).workspace).toBeNull();
  });

  test("says so when it is gone", () => {
    const directory = session({ "agent_a/001/vote.json": vote({}) });
    expect(() => readAnswer(directory, "agent_a", 1)).toThrow(TeamError);
    expect(() => readAnswer(directory, "agent_a", 2)).toThrow("the answer of agent_a in step 2 is not in");
  });
});
