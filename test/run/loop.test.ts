import { describe } from "bun:test";
import { tell } from "../support/story.ts";

// Every row of "The core loop" (design.md) as a whole run, by its number there. `checkRun` also counts every barrier's votes again.

const agree = "answer, vote a";

describe("1, 4d: rounds of steps until more than half agree", () => {
  tell([
    {
      title: "two agents that vote for the same answer reach a consensus",
      plays: { a: agree, b: agree },
      rounds: ["a answered, b answered", "a voted a, b voted a"],
      ends: "consensus majority a, exit 0",
      ballots: "a→a valid, b→a valid",
      rule: /^2 of 2 agents voted for agent_a, which is more than half\.$/,
    },
    {
      title: "three agents need two votes, whoever casts them",
      plays: { a: "answer, vote c", b: "answer, vote c", c: "answer, vote a" },
      rounds: ["a answered, b answered, c answered", "a voted c, b voted c, c voted a"],
      ends: "consensus majority c, exit 0",
      rule: /^2 of 3 agents voted for agent_c/,
    },
    {
      title: "four agents need three votes",
      plays: { a: "answer, vote b", b: "answer, vote b", c: "answer, vote b", d: "answer, vote a" },
      ends: "consensus majority b, exit 0",
      rule: /^3 of 4 agents/,
    },
    {
      title: "five agents need three votes",
      plays: { a: "answer, vote e", b: "answer, vote e", c: "answer, vote e", d: "answer, vote a", e: "answer, vote b" },
      ends: "consensus majority e, exit 0",
      rule: /^3 of 5 agents/,
    },
    {
      title: "an agent that never answers may vote, and the answer of the other wins",
      plays: { a: "answer, vote a", b: "vote a" },
      rounds: ["a answered, b voted a", "a voted a, b voted a"],
      ends: "consensus majority a, exit 0",
    },
    {
      title: "the winner need not have voted for itself",
      plays: { a: "answer, vote b", b: "answer, vote a", c: "answer, vote b" },
      ends: "consensus majority b, exit 0",
      ballots: "a→b valid, b→a valid, c→b valid",
    },
    {
      title: "an agent stands for its newest answer",
      plays: { a: "answer first, answer second, vote a", b: "answer, vote a, vote a" },
      rounds: ["a answered, b answered", "a answered, b voted a", "a voted a, b voted a"],
      ends: "consensus majority a, exit 0",
      look: ({ result }) => {
        if (result.answer !== "second") throw new Error(`the answer is ${result.answer}`);
      },
    },
  ]);
});

describe("1: only who has no valid ballot is launched again", () => {
  tell([
    {
      title: "valid voters rest while an agent that voted for nobody acts again",
      plays: { a: "answer, vote a", b: "answer, vote a", c: "answer, vote nobody, vote a" },
      rounds: ["a answered, b answered, c answered", "a voted a, b voted a, c voted nobody", "c voted a"],
      ends: "consensus majority a, exit 0",
    },
    {
      title: "an agent that answered waits for the barrier, then takes part again like any other",
      plays: { a: "answer, vote a", b: "answer, vote a", c: "answer after a, answer, vote a" },
      rounds: ["a answered, b answered, c answered", "a voted a, b voted a, c answered", "a voted a, b voted a, c voted a"],
      ends: "consensus majority a, exit 0",
    },
    {
      title: "one new answer makes every vote stale, and all voters act again",
      plays: { a: "answer, vote a", b: "answer, vote a", c: "answer, vote a", d: "answer, vote a, vote a", e: "answer, answer, vote a" },
      rounds: [
        "a answered, b answered, c answered, d answered, e answered",
        "a voted a, b voted a, c voted a, d voted a, e answered",
        "a voted a, b voted a, c voted a, d voted a, e voted a",
      ],
      ends: "consensus majority a, exit 0",
    },
  ]);
});

describe("4a: no agent is left", () => {
  tell([
    {
      title: "without any answer there is none, and the exit code says so",
      plays: { a: "fail auth", b: "fail auth" },
      rounds: ["a failed(auth), b failed(auth)"],
      ends: "none agents_failed, exit 5",
      rule: /no agent has submitted an answer/,
    },
    {
      title: "the answers of agents that are out can still win",
      plays: { a: "answer, fail auth", b: "answer after a, fail auth" },
      rounds: ["a answered, b answered", "a failed(auth), b failed(auth)"],
      ends: "forced agents_failed a, exit 0",
      rule: /agent_a answered first/,
    },
    {
      title: "votes that were cast before everybody failed decide among the answers",
      plays: { a: "answer, vote b, fail auth", b: "answer after a, answer, fail auth" },
      rounds: ["a answered, b answered", "a voted b, b answered", "a failed(auth), b failed(auth)"],
      ends: "forced agents_failed b, exit 0",
      ballots: "a→b stale",
      rule: /no vote was valid, and agent_b had the most stale votes/,
    },
  ]);
});

describe("4b, 4c: one agent is left", () => {
  tell([
    {
      title: "its answer is taken directly",
      plays: { a: "answer", b: "fail auth" },
      rounds: ["a answered, b failed(auth)"],
      ends: "single only_agent a, exit 0",
    },
    {
      title: "its answer is taken even when the other's answer got a vote",
      plays: { a: "answer, vote b", b: "answer, fail auth" },
      rounds: ["a answered, b answered", "a voted b, b failed(auth)"],
      ends: "single only_agent a, exit 0",
    },
    {
      title: "without an answer of its own, those of the others decide",
      plays: { a: "vote b", b: "answer, fail auth" },
      rounds: ["a voted b, b answered", "a voted b, b failed(auth)"],
      ends: "forced only_agent b, exit 0",
    },
    {
      title: "where nobody has an answer it is launched again until it has one",
      plays: { a: "vote b, vote b, answer", b: "fail auth" },
      rounds: ["a voted b, b failed(auth)", "a voted b", "a answered"],
      ends: "single only_agent a, exit 0",
    },
    {
      title: "where nobody ever answers, its rounds are the limit",
      plays: { a: "vote b", b: "fail auth" },
      args: ["--max-rounds", "3"],
      rounds: ["a voted b, b failed(auth)", "a voted b", "a voted b"],
      ends: "none max_rounds, exit 5",
    },
    {
      title: "of five agents the last one decides alone",
      plays: { a: "fail auth", b: "answer, fail auth", c: "answer, fail auth", d: "answer, vote b", e: "fail auth" },
      rounds: ["a failed(auth), b answered, c answered, d answered, e failed(auth)", "b failed(auth), c failed(auth), d voted b"],
      ends: "single only_agent d, exit 0",
    },
    {
      title: "two left of three go on with the votes of two",
      plays: { a: "answer, vote a", b: "answer, vote a", c: "fail auth" },
      ends: "consensus majority a, exit 0",
      rule: /^2 of 2 agents/,
    },
    {
      title: "a vote of an agent that is out counts no more for a consensus",
      plays: { a: "answer, vote b, vote b", b: "answer, vote b, vote b", c: "answer, vote a, fail auth", d: "answer, answer, vote a" },
      rounds: [
        "a answered, b answered, c answered, d answered",
        "a voted b, b voted b, c voted a, d answered",
        "a voted b, b voted b, c failed(auth), d voted a",
      ],
      ends: "consensus majority b, exit 0",
      rule: /^2 of 3 agents/,
    },
  ]);
});

describe("4e: everybody has a valid vote, and nobody more than half", () => {
  tell([
    {
      title: "two agents that vote for themselves: the first answer wins",
      plays: { a: "answer after b, vote a", b: "answer, vote b" },
      rounds: ["a answered, b answered", "a voted a, b voted b"],
      ends: "forced split_vote b, exit 0",
      rule: /agent_b answered first/,
    },
    {
      title: "two agents that vote for each other: the first answer wins",
      plays: { a: "answer after b, vote b", b: "answer, vote a" },
      ends: "forced split_vote b, exit 0",
    },
    {
      title: "a tie is decided by the votes of others before the first answer",
      plays: { a: "answer, vote a", b: "answer after a, vote b", c: "answer after b, vote b", d: "answer after c, vote a" },
      ends: "forced split_vote a, exit 0",
      ballots: "a→a valid, b→b valid, c→b valid, d→a valid",
      rule: /agent_a answered first/,
    },
    {
      title: "a vote of another agent weighs more than one's own in a tie",
      plays: {
        a: "answer, vote a",
        b: "answer after a, vote c",
        c: "answer after b, vote d",
        d: "answer after c, vote d",
        e: "answer after d, vote c",
      },
      ends: "forced split_vote c, exit 0",
      ballots: "a→a valid, b→c valid, c→d valid, d→d valid, e→c valid",
      rule: /had the most votes from other agents/,
    },
    {
      title: "three agents with a vote each: the first answer wins",
      plays: { a: "answer after c, vote a", b: "answer after a, vote b", c: "answer, vote c" },
      ends: "forced split_vote c, exit 0",
    },
    {
      title: "four agents, two against two",
      plays: { a: "answer after b, vote b", b: "answer, vote a", c: "answer after a, vote b", d: "answer after c, vote a" },
      ends: "forced split_vote b, exit 0",
    },
    {
      title: "five agents, two against two against one",
      plays: {
        a: "answer after e, vote e",
        b: "answer after a, vote d",
        c: "answer after b, vote d",
        d: "answer after c, vote e",
        e: "answer, vote c",
      },
      ends: "forced split_vote e, exit 0",
      ballots: "a→e valid, b→d valid, c→d valid, d→e valid, e→c valid",
    },
    {
      title: "two of five votes are the most but no majority",
      plays: { a: "answer, vote a", b: "answer, vote c", c: "answer, vote d", d: "answer, vote b", e: "answer, vote c" },
      ends: "forced split_vote c, exit 0",
      rule: /agent_c had the most valid votes \(2\)/,
    },
  ]);
});

describe("4f: rounds are used up", () => {
  tell([
    {
      title: "after its only round an agent that must act ends the run: the first answer wins",
      plays: { a: "answer after b", b: "answer" },
      args: ["--max-rounds", "1"],
      rounds: ["a answered, b answered"],
      ends: "forced max_rounds b, exit 0",
      rule: /its only round/,
    },
    {
      title: "agents that always answer end after their last round",
      plays: { a: "answer", b: "answer after a, answer" },
      args: ["--max-rounds", "3"],
      rounds: ["a answered, b answered", "a answered, b answered", "a answered, b answered"],
      ends: "forced max_rounds a, exit 0",
      rule: /all of its 3 rounds/,
    },
    {
      title: "the default is five rounds",
      plays: { a: "answer", b: "answer after a, answer" },
      rounds: [
        "a answered, b answered",
        "a answered, b answered",
        "a answered, b answered",
        "a answered, b answered",
        "a answered, b answered",
      ],
      ends: "forced max_rounds a, exit 0",
    },
    {
      title: "a consensus in the last round counts",
      plays: { a: "answer, vote a", b: "answer, vote a" },
      args: ["--max-rounds", "2"],
      ends: "consensus majority a, exit 0",
    },
    {
      title: "with one valid vote against stale ones, the valid one decides",
      plays: { a: "answer, vote b", b: "answer, vote nobody", c: "answer after a, vote nobody" },
      args: ["--max-rounds", "2"],
      ends: "forced max_rounds b, exit 0",
      ballots: "a→b valid, b→nobody invalid, c→nobody invalid",
      rule: /agent_b had the most valid votes \(1\)/,
    },
    {
      title: "stale votes decide when no vote is valid",
      plays: { a: "answer, vote c", b: "answer after a, vote c", c: "answer after b, answer" },
      args: ["--max-rounds", "2"],
      ends: "forced max_rounds c, exit 0",
      ballots: "a→c stale, b→c stale",
      rule: /no vote was valid, and agent_c had the most stale votes \(2\)/,
    },
    {
      title: "an agent that rests with a valid vote is no reason to end the run",
      plays: { a: "answer, vote a", b: "answer, vote a", c: "vote nobody, vote nobody, vote a" },
      args: ["--max-rounds", "3"],
      rounds: ["a answered, b answered, c voted nobody", "a voted a, b voted a, c voted nobody", "c voted a"],
      ends: "consensus majority a, exit 0",
    },
    {
      title: "retries are not rounds",
      plays: { a: "fail server, answer, fail server, vote a", b: "answer, vote a" },
      args: ["--max-rounds", "2"],
      rounds: ["a failed(model) then answered, b answered", "a failed(model) then voted a, b voted a"],
      ends: "consensus majority a, exit 0",
    },
  ]);
});
