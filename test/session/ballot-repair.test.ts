import { expect, test } from "bun:test";
import { repairedBallot } from "../../src/session/ballot-repair.ts";
import type { EventBody } from "../../src/session/events.ts";
import type { BallotRepair } from "../../src/types.ts";
import { fold, started, stepFinished } from "../support/events.ts";

test.each<[readonly BallotRepair[], "on" | "off"]>([
  [[], "on"],
  [["ready"], "on"],
  [["ready", "applied"], "on"],
  [["ready", "not_needed"], "off"],
  [["unexpected"], "off"],
  [["silent"], "off"],
  [["silent", "applied"], "on"],
])("a repair that was put in place and showed itself as %p was %s", (shown, expected) => {
  expect(repairedBallot("on", new Set(shown))).toBe(expected);
});

test("one that was not put in place was off, unless an earlier process of the run had it", () => {
  expect(repairedBallot("off", new Set())).toBe("off");
  expect(repairedBallot("off", new Set(["applied"]))).toBe("on");
});

test("what steps showed is in the journal, so that a resumed run knows it", () => {
  const shows = (letter: string, ballot: BallotRepair) => ({ ...stepFinished(letter, { answer: 1 }), ballot }) as EventBody;
  const state = fold([started("ab"), shows("a", "ready"), shows("b", "silent"), stepFinished("a", { answer: 2 }, { round: 2 })]);
  expect([...state.ballotRepairs]).toEqual(["ready", "silent"]);
});
