import { expect, test } from "bun:test";
import { findAction } from "../../../src/engine/massgen/report.ts";
import { temporaryDirectory } from "../../support/temp.ts";

const answer = (text: string) => JSON.stringify({ answer: text });
const vote = (target: unknown) => JSON.stringify({ target, reason: "good", seen_steps: { agent_b: 1 } });

test("an action is the step that is new; older ones are not taken again", async () => {
  await using session = temporaryDirectory();
  session.write("agents/agent_a/001/answer.json", answer("old"));
  expect(findAction(session.path, "agent_a", 1)).toEqual({ action: null, spoilt: null, poison: null, warnings: [] });
  session.write("agents/agent_a/002/vote.json", vote("agent_b"));
  expect(findAction(session.path, "agent_a", 1).action).toEqual({
    kind: "vote",
    step: 2,
    target: "agent_b",
    reason: "good",
    seenSteps: { agent_b: 1 },
  });
});

test("an empty step directory, as a step that was killed leaves it, is no action", async () => {
  await using session = temporaryDirectory();
  session.write("agents/agent_a/001/workspace/x", "");
  expect(findAction(session.path, "agent_a", 0)).toMatchObject({ action: null, spoilt: null });
});

test("of several new actions the last whole one counts, and that is said", async () => {
  await using session = temporaryDirectory();
  session.write("agents/agent_a/001/answer.json", answer("one"));
  session.write("agents/agent_a/002/answer.json", answer("two"));
  session.write("agents/agent_a/003/answer.json", "{");
  const found = findAction(session.path, "agent_a", 0);
  expect(found).toMatchObject({ action: { kind: "new_answer", step: 2 }, spoilt: null });
  expect(found.warnings).toEqual(["agent_a left 2 actions in one step (1, 2); the last one counts"]);
});

test("a blank answer is empty, a spoilt one garbled, each with its file", async () => {
  await using session = temporaryDirectory();
  const file = session.write("agents/agent_a/001/answer.json", answer(" \n"));
  expect(findAction(session.path, "agent_a", 0).spoilt).toMatchObject({ class: "empty", file });
  const cut = session.write("agents/agent_a/002/answer.json", answer("long").slice(0, 9));
  expect(findAction(session.path, "agent_a", 1).spoilt).toEqual({
    class: "garbled",
    message: "answer.json of step 2 is not whole JSON",
    file: cut,
  });
  const odd = session.write("agents/agent_a/003/vote.json", vote(3));
  expect(findAction(session.path, "agent_a", 2).spoilt).toMatchObject({ class: "garbled", file: odd });
});

test("a file that would fail every peer is named, beside a whole action too", async () => {
  await using session = temporaryDirectory();
  const poison = session.write("agents/agent_a/001/answer.json", Buffer.from([0x7b, 0xe9]));
  expect(findAction(session.path, "agent_a", 0)).toMatchObject({ action: null, poison });
  session.write("agents/agent_a/002/answer.json", answer("whole"));
  expect(findAction(session.path, "agent_a", 0)).toMatchObject({ action: { step: 2 }, poison });
  expect(findAction(session.path, "agent_a", 1).poison).toBeNull();
});
