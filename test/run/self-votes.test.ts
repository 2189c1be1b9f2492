import { describe, expect } from "bun:test";
import { readFileSync } from "node:fs";
import { tell } from "../support/story.ts";

// Self-votes count as MassGen counts them, are marked wherever votes are shown, and break no tie (design.md, "Forced").

describe("a vote for itself", () => {
  tell([
    {
      title: "counts towards a majority, and is marked in result, journal, document and status",
      plays: { a: "answer, vote a", b: "answer, vote a", c: "answer, vote c" },
      ends: "consensus majority a, exit 0",
      ballots: "a→a valid, b→a valid, c→c valid",
      look: async ({ result, events, directory, project }) => {
        expect(result.decision.tally).toEqual({ agent_a: 2, agent_c: 1 });
        expect(result.decision.ballots.map(({ voter, self }) => [voter, self])).toEqual([
          ["agent_a", true],
          ["agent_b", false],
          ["agent_c", true],
        ]);
        const journaled = events.flatMap((event) => (event.type === "ballots" ? event.ballots : []));
        expect(journaled.map(({ self }) => self)).toEqual([true, false, true]);

        const document = readFileSync(directory.finalAnswer, "utf8");
        expect(document).toMatch(/\| agent_a \|.*\| agent_a \(itself\) +\|/);
        expect(document).toMatch(/\| agent_b \|.*\| agent_a +\|/);
        expect(document).toContain("**agent_c** voted for its own answer");

        const status = (more: readonly string[]) => project.cli(["status", ...more]);
        expect((await status([])).stdout).toMatch(/agent_c .* itself .*\n.*agent_a 2, agent_c 1/);
        const { ballots } = JSON.parse((await status(["--json"])).stdout);
        expect(ballots).toMatchObject([{ self: true }, { self: false }, { self: true }]);
      },
    },
    {
      title: "breaks no tie: with two votes each, the one with more votes from others wins, though it answered last",
      plays: {
        a: "answer, vote a",
        b: "answer after a, vote a",
        c: "answer after b, vote d",
        d: "answer after c, vote c",
        e: "answer after d, vote d",
      },
      ends: "forced split_vote d, exit 0",
      ballots: "a→a valid, b→a valid, c→d valid, d→c valid, e→d valid",
      rule: /votes from other agents/,
    },
    {
      title: "by each for itself is no consensus: the first answer wins, and the rule says so",
      plays: { a: "answer after b, vote a", b: "answer, vote b" },
      ends: "forced split_vote b, exit 0",
      ballots: "a→a valid, b→b valid",
      rule: /answered first/,
    },
  ]);
});
