import { describe, expect } from "bun:test";
import type { TeamEvent } from "../../src/session/events.ts";
import { tell } from "../support/story.ts";

// Core loop 3 (design.md): which votes count. Many rows end by `--max-rounds`, so that the standing of a vote shows in who wins.

const first = "answer, vote a";

describe("what a vote says of names that are not in the team counts for nothing", () => {
  const many = Object.fromEntries(Array.from({ length: 700 }, (_, index) => [`ghost_${index}`, 9]));
  const seenBy = (events: readonly TeamEvent[]) =>
    events.flatMap((event) =>
      event.type === "step.finished" && event.action.kind === "vote" && event.action.agent === "agent_b" ? [event.action.seenSteps] : [],
    );
  for (const [what, ghosts] of [
    ["very many of them", many],
    ["one as long as the journal's line", { ["x".repeat(9000)]: 9 }],
  ] as const) {
    tell([
      {
        title: `${what}, beside the team's: the vote is valid`,
        plays: { a: first, b: ["answer", { vote: { target: "agent_a", seenSteps: { agent_a: 1, agent_b: 1, ...ghosts } } }] },
        ends: "consensus majority a, exit 0",
        ballots: "a→a valid, b→a valid",
        look: ({ events }) => expect(seenBy(events)).toEqual([{ agent_a: 1, agent_b: 1 }]),
      },
      {
        title: `${what}, alone: the vote is stale`,
        plays: { a: first, b: ["answer", { vote: { target: "agent_a", seenSteps: ghosts } }] },
        args: ["--max-rounds", "2"],
        ends: "forced max_rounds a, exit 0",
        ballots: "a→a valid, b→a stale",
        look: ({ events }) => expect(seenBy(events)).toEqual([null]),
      },
    ]);
  }
});

describe("stale: a newer answer exists than the voter was started with", () => {
  tell([
    {
      title: "an answer that lands while the voter runs makes its vote stale, though vote.json claims to have seen it",
      plays: {
        // Not before agent_b has been started.
        a: ["answer", { answer: { text: "x", workspace: false }, before: { launch: { agent: "agent_b", number: 2 } } }, "vote a"],
        b: ["answer", { vote: "agent_a", before: { step: { agent: "agent_a", number: 2 } } }, "vote a"],
      },
      rounds: ["a answered, b answered", "a answered, b voted a", "a voted a, b voted a"],
      ends: "consensus majority a, exit 0",
      look: ({ events }) => {
        const early = events.flatMap((event) => (event.type === "ballots" && event.round === 2 ? event.ballots : []));
        expect(early).toMatchObject([{ voter: "agent_b", standing: "stale" }]);
        const cast = events.flatMap((event) => (event.type === "step.finished" && event.action.kind === "vote" ? [event.action] : []))[0];
        expect(cast?.seenSteps).toEqual({ agent_a: 2, agent_b: 1 });
        expect(cast?.launchedWith.answers).toEqual({ agent_a: 1, agent_b: 1 });
        expect(early[0]?.why).toBe("agent_a has a newer answer (step 2) than when agent_b started");
      },
    },
    {
      title: "a vote that was cast before a newer answer of the same round is stale",
      plays: { a: "answer, vote a, vote a", b: "answer, answer after a, vote a" },
      rounds: ["a answered, b answered", "a voted a, b answered", "a voted a, b voted a"],
      ends: "consensus majority a, exit 0",
      look: ({ events, stderr }) => {
        const barrier = events.find((event) => event.type === "ballots" && event.round === 2);
        expect(barrier).toMatchObject({ tally: {}, ballots: [{ voter: "agent_a", standing: "stale" }] });
        expect(stderr).toContain("agent_a's vote for agent_a is stale: agent_b has a newer answer (step 2) than when agent_a started");
      },
    },
    {
      title: "a third agent's new answer makes a vote between two others stale",
      plays: { a: "answer, vote b, vote b", b: "answer, vote b, vote b", c: "answer, answer after b, vote b" },
      rounds: ["a answered, b answered, c answered", "a voted b, b voted b, c answered", "a voted b, b voted b, c voted b"],
      ends: "consensus majority b, exit 0",
    },
    {
      title: "a first answer that lands while others vote makes their votes stale",
      plays: { a: first, b: first, c: ["vote nobody", "answer after b", "vote a"] },
      rounds: ["a answered, b answered, c voted nobody", "a voted a, b voted a, c answered", "a voted a, b voted a, c voted a"],
      ends: "consensus majority a, exit 0",
    },
    {
      title: "an agent that answers after its vote has no ballot that counts",
      plays: { a: "answer, vote b, answer", b: "answer after a, answer, answer" },
      args: ["--max-rounds", "3"],
      ends: "forced max_rounds a, exit 0",
      ballots: "a→b stale",
      rule: /there were no votes to count, and agent_a answered first/,
    },
    {
      title: "a voter that starts later, when one step runs at a time, has seen the newer answer",
      plays: { a: "answer, answer, vote a", b: "answer, vote a" },
      args: ["--max-parallel", "1"],
      rounds: ["a answered, b answered", "a answered, b voted a", "a voted a"],
      ends: "consensus majority a, exit 0",
    },
    {
      title: "a retry is started with what exists by then",
      plays: { a: "answer, answer, vote a", b: ["answer", { fail: "server", before: { file: "finished-agent_a-2" } }, "vote a"] },
      rounds: ["a answered, b answered", "a answered, b failed(model) then voted a", "a voted a"],
      ends: "consensus majority a, exit 0",
    },
  ]);
});

describe("stale: what vote.json says it has seen", () => {
  for (const [what, seenSteps] of [
    ["is missing", null],
    ["is empty", {}],
    ["is a list", [1, 1]],
    ["is a text", "all of them"],
    ["holds no numbers", { agent_a: "1", agent_b: "1" }],
    ["lacks an agent", { agent_a: 1 }],
    ["is older than the newest answer", { agent_a: 1, agent_b: 0 }],
  ] as const) {
    tell([
      {
        title: `a vote whose seen_steps ${what} is stale`,
        plays: { a: "answer, vote a, vote a", b: ["answer", { vote: { target: "agent_a", seenSteps } }, "vote a"] },
        rounds: ["a answered, b answered", "a voted a, b voted a", "b voted a"],
        ends: "consensus majority a, exit 0",
      },
    ]);
  }
  tell([
    {
      title: "claims about agents that are not in the team, and about steps to come, make no vote invalid",
      plays: { a: first, b: ["answer", { vote: { target: "agent_a", seenSteps: { agent_a: 9, agent_b: 1, agent_z: 3 } } }] },
      rounds: ["a answered, b answered", "a voted a, b voted a"],
      ends: "consensus majority a, exit 0",
    },
  ]);
});

describe("invalid: the target has no answer", () => {
  for (const [whom, target, why] of [
    ["agent9", "agent9", "agent9 is not an agent of this team"],
    ["nobody", "", "nobody is not an agent of this team"],
    ["an anonymous name of MassGen", "agent1", "agent1 is not an agent of this team"],
    ["a name with a space", "agent_a ", "agent_a  is not an agent of this team"],
    ["a name in capitals", "AGENT_A", "AGENT_A is not an agent of this team"],
    ["a path", "../agent_a", "../agent_a is not an agent of this team"],
  ] as const) {
    tell([
      {
        title: `a vote for ${whom} is invalid, and its voter acts again`,
        plays: { a: first, b: ["answer", { vote: target }, "vote a"] },
        rounds: ["a answered, b answered", `a voted a, b voted ${target || "nobody"}`, "b voted a"],
        ends: "consensus majority a, exit 0",
        look: ({ events }) => {
          const ballot = events.flatMap((event) => (event.type === "ballots" && event.round === 2 ? event.ballots : []))[1];
          expect(ballot).toMatchObject({ voter: "agent_b", target, standing: "invalid", why });
        },
      },
    ]);
  }
  tell([
    {
      title: "a vote for an agent without an answer is invalid",
      plays: { a: "answer, vote c, vote a", b: first, c: "vote a, vote a" },
      rounds: ["a answered, b answered, c voted a", "a voted c, b voted a, c voted a", "a voted a"],
      ends: "consensus majority a, exit 0",
      look: ({ events }) => {
        const ballots = events.flatMap((event) => (event.type === "ballots" && event.round === 2 ? event.ballots : []));
        expect(ballots.find(({ voter }) => voter === "agent_a")).toMatchObject({ standing: "invalid", why: "agent_c has no answer" });
      },
    },
    {
      title: "a vote for itself without an answer is invalid",
      plays: { a: first, b: "vote b, vote b, vote a" },
      rounds: ["a answered, b voted b", "a voted a, b voted b", "b voted a"],
      ends: "consensus majority a, exit 0",
    },
    {
      title: "an invalid vote never wins: the first answer does, and the result names the vote",
      plays: { a: "answer after b, vote agent9", b: "answer, vote nobody" },
      args: ["--max-rounds", "2"],
      ends: "forced max_rounds b, exit 0",
      ballots: "a→agent9 invalid, b→nobody invalid",
      rule: /there were no votes to count, and agent_b answered first/,
    },
    {
      title: "a vote for an agent whose newest answer on disk is blank is invalid: the voter was shown the blank one",
      plays: { a: "answer, answer, vote b", b: "answer after a, blank", c: "answer after b, answer, vote b" },
      args: ["--retries", "0", "--max-rounds", "3"],
      rounds: ["a answered, b answered, c answered", "a answered, b failed(empty), c answered", "a voted b, c voted b"],
      ends: "forced max_rounds a, exit 0",
      ballots: "a→b invalid, c→b invalid",
      look: ({ result }) => {
        expect(result.decision.ballots[0]?.why).toBe("the newest answer of agent_b was blank when agent_a started");
      },
    },
    {
      title: "a vote for an agent that is out but has an answer is valid",
      plays: { a: "answer, answer, vote b", b: "answer, fail auth", c: "answer, answer, vote b" },
      ends: "consensus majority b, exit 0",
      ballots: "a→b valid, c→b valid",
    },
  ]);
});

describe("votes for oneself", () => {
  tell([
    {
      title: "with an answer they count",
      plays: { a: "answer, vote a", b: "answer, vote b", c: "answer, vote b" },
      ends: "consensus majority b, exit 0",
      look: ({ result }) => expect(result.decision.ballots.map(({ self }) => self)).toEqual([true, true, false]),
    },
    {
      title: "five agents that all vote for themselves end at once: the first answer wins",
      plays: {
        a: "answer after b, vote a",
        b: "answer, vote b",
        c: "answer after a, vote c",
        d: "answer after c, vote d",
        e: "answer after d, vote e",
      },
      ends: "forced split_vote b, exit 0",
    },
    {
      title: "a long reason is kept short in journal and result",
      plays: { a: first, b: ["answer", { vote: { target: "agent_a", reason: "because ".repeat(5000) } }] },
      ends: "consensus majority a, exit 0",
      look: ({ result }) => {
        const reason = result.decision.ballots[1]?.reason ?? "";
        expect(reason).toStartWith("because because");
        expect(reason.length).toBeLessThanOrEqual(2000);
      },
    },
    {
      title: "a reason with control characters and a colour does no harm on the terminal",
      plays: { a: first, b: ["answer", { vote: { target: "agent_\u001b[31mx\u0007", reason: "\u001b]0;title\u0007" } }, "vote a"] },
      ends: "consensus majority a, exit 0",
      look: ({ stderr }) => expect(stderr).not.toMatch(/[\u0007\u001b]/),
    },
  ]);
});
