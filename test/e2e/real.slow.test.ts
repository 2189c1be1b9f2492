import { afterAll, expect, test } from "bun:test";
import { createRealTeam } from "./real-team.ts";

const trio = ["--models", "grok/grok-4-a", "grok/grok-4-b", "grok/grok-4-c"];
const pair = ["--models", "grok/grok-4-a", "grok/grok-4-b"];
/** The models name agents as the prompt shows them, which works without the repair of the ballot. */
const plain = ["--synthesis", "markdown", "--no-docker", "--no-ballot-fix"];
const patience = 900_000;

/** Agents without tools, for the runs that need none. */
const talkers = createRealTeam();
afterAll(() => talkers[Symbol.asyncDispose]());

test(
  "three agents answer in parallel, vote by id, and the winner's file is delivered",
  async () => {
    await using team = createRealTeam({ tools: "files" });
    const { code, result, file } = await team.run(
      {
        "grok-4-a": [{ write: { "index.html": "<h1>Four</h1>\n" } }, { answer: "See index.html" }, { vote: "agent_a" }],
        "grok-4-b": [{ answer: "Five" }, { vote: "agent_a" }],
        "grok-4-c": [{ answer: "Six" }, { vote: "agent_b" }],
      },
      ["What is 2+2?", ...trio, ...plain],
    );
    expect(code).toBe(0);
    expect(result.decision).toMatchObject({ kind: "consensus", reason: "majority", winner: "agent_a", tally: { agent_a: 2, agent_b: 1 } });
    expect(result.rounds).toBe(2);
    expect(file("synthesis/deliverable/index.html")).toBe("<h1>Four</h1>\n");
    expect(result.cost.known).toBe("all");
    expect(result.cost.total_usd).toBeGreaterThan(0);
  },
  patience,
);

test(
  "a vote that a newer answer overtakes is stale, and its voter is launched again",
  async () => {
    const running = talkers.run(
      {
        "grok-4-a": [{ answer: "Four" }, { vote: "agent_b" }],
        "grok-4-b": [{ answer: "Five" }, { answer: "Four, I was wrong", hold: "until a has voted" }, { vote: "agent_b" }],
      },
      ["What is 2+2?", ...pair, ...plain],
    );
    await Promise.race([talkers.models.held("until a has voted"), running]);
    await talkers.untilFile("session/agents/agent_a/002/vote.json");
    talkers.models.release("until a has voted");
    const { result, events } = await running;
    const standings = events.filter((event) => event.type === "ballots").map((event) => event.ballots);
    expect(standings[1]).toMatchObject([{ voter: "agent_a", target: "agent_b", standing: "stale" }]);
    expect(result.agents.map((agent) => agent.steps.length)).toEqual([3, 3]);
    expect(result.decision).toMatchObject({ kind: "consensus", winner: "agent_b" });
    expect(result.answer).toBe("Four, I was wrong");
  },
  patience,
);

test(
  "an agent whose key is refused is out, and the others decide",
  async () => {
    const { code, result } = await talkers.run(
      {
        "grok-4-a": [{ answer: "Four" }, { vote: "agent_b" }],
        "grok-4-b": [{ answer: "4" }, { vote: "agent_b" }],
        "grok-4-c": [{ status: 401 }],
      },
      ["What is 2+2?", ...trio, ...plain],
    );
    expect(code).toBe(0);
    expect(result.agents[2]).toMatchObject({ status: "out", failure: { class: "auth" } });
    expect(result.agents[2]?.failure?.message).toContain("401");
    expect(result.decision).toMatchObject({ kind: "consensus", winner: "agent_b" });
  },
  patience,
);

test(
  "a budget that MassGen's own numbers exceed stops the round in progress, and the best answer is kept",
  async () => {
    const { code, result } = await talkers.run(
      {
        "grok-4-a": [{ answer: "Four", usage: { input: 1_000_000, output: 1000 } }],
        "grok-4-b": [{ answer: "never said", hold: "for ever" }],
      },
      ["What is 2+2?", ...pair, ...plain, "--cost-budget", "1"],
    );
    expect(code).toBe(0);
    expect(result.decision).toMatchObject({ kind: "forced", reason: "cost_budget", winner: "agent_a" });
    expect(result.cost.by_agent.agent_a?.usd).toBeGreaterThan(3);
    expect(result.limits.reached).toBe("cost_budget");
  },
  patience,
);

test(
  "with MassGen's whole quickstart config and the repaired ballot, models that obey the offered ids agree, and the winner writes the synthesis",
  async () => {
    await using team = createRealTeam({ tools: "full" });
    const { code, result, file } = await team.run(
      {
        "grok-4-a": [{ answer: "Four, says the first" }, { vote: { preferring: "says the second" } }],
        "grok-4-b": [
          { write: { "four.txt": "4\n" } },
          { answer: "Four, says the second" },
          { vote: { preferring: "says the second" } },
          { write: { "four.txt": "4\n", "more.txt": "checked\n" } },
          { answer: "# Four\n\nChecked." },
        ],
      },
      ["What is 2+2?", ...pair, "--no-docker"],
    );
    expect(code).toBe(0);
    expect(result.engine.ballot_fix).toBe("on");
    const votes = team.models.requests.filter((request) => request.turn?.vote !== undefined);
    expect(votes.map((request) => request.voteEnum)).toEqual([
      ["agent1", "agent2"],
      ["agent1", "agent2"],
    ]);
    expect(result.decision).toMatchObject({ kind: "consensus", winner: "agent_b", tally: { agent_b: 2 } });
    expect(result.synthesis).toMatchObject({ kind: "agent", why_not_agent: null });
    expect(file("synthesis/final_answer.md")).toContain("Checked.");
    expect(file("synthesis/deliverable/more.txt")).toBe("checked\n");
  },
  patience,
);
