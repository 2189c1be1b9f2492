import { expect, test } from "bun:test";
import { playRun } from "../support/runs.ts";

test("a team of forty, with long model names, is journaled whole: every ballot of every barrier, every line below 8 KiB", async () => {
  const name = `openai/${"m".repeat(60)}`;
  const models = Array.from({ length: 40 }, (_, index) => `${name}${index}`);
  const { result, events } = await playRun({ models, args: ["--max-parallel", "6"] });
  expect(result.decision).toMatchObject({ kind: "consensus", winner: "agent_a", tally: { agent_a: 40 } });
  const barriers = events.filter((event) => event.type === "ballots" && event.round === 2);
  expect(barriers.flatMap((event) => (event.type === "ballots" ? event.ballots.map(({ voter }) => voter) : []))).toHaveLength(40);
}, 120_000);
