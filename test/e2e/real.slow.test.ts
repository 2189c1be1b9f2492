import { expect, test } from "bun:test";
import { createRealTeam } from "./real-team.ts";

const trio = ["--models", "grok/grok-4-a", "grok/grok-4-b", "grok/grok-4-c"];
const pair = ["--models", "grok/grok-4-a", "grok/grok-4-b"];
const cheap = ["--synthesis", "markdown", "--no-docker"];
const limit = 900_000;

test(
  "three agents answer in parallel, vote by id, and the winner's file is delivered",
  async () => {
    await using team = createRealTeam(
      {
        "grok-4-a": [{ write: { "index.html": "<h1>Four</h1>\n" } }, { answer: "See index.html" }, { vote: "agent_a" }],
        "grok-4-b": [{ answer: "Five" }, { vote: "agent_a" }],
        "grok-4-c": [{ answer: "Six" }, { vote: "agent_b" }],
      },
      { tools: "files" },
    );
    const { code, result, file } = await team.run(["What is 2+2?", ...trio, ...cheap, "--no-ballot-fix"]);
    expect(code).toBe(0);
    expect(result.decision).toMatchObject({ kind: "consensus", reason: "majority", winner: "agent_a", tally: { agent_a: 2, agent_b: 1 } });
    expect(result.rounds).toBe(2);
    expect(file("synthesis/deliverable/index.html")).toBe("<h1>Four</h1>\n");
    expect(result.cost.known).toBe("all");
    expect(result.cost.total_usd).toBeGreaterThan(0);
  },
  limit,
);

test(
  "a vote that a newer answer overtakes is stale, and its voter is launched again",
  async () => {
    await using team = createRealTeam({
      "grok-4-a": [{ answer: "Four" }, { vote: "agent_b" }, { vote: "agent_b" }],
      "grok-4-b": [{ answer: "Five" }, { answer: "Four, I was wrong", hold: "until a has voted" }, { vote: "agent_b" }],
    });
    const running = team.run(["What is 2+2?", ...pair, ...cheap, "--no-ballot-fix"]);
    await team.untilStep("agent_a", 2, "vote.json");
    team.models.release("until a has voted");
    const { result, events } = await running;
    const standings = events.filter((event) => event.type === "ballots").map((event) => event.ballots);
    expect(standings[1]).toMatchObject([{ voter: "agent_a", target: "agent_b", standing: "stale" }]);
    expect(result.agents.map((agent) => agent.steps.length)).toEqual([3, 3]);
    expect(result.decision).toMatchObject({ kind: "consensus", winner: "agent_b" });
    expect(result.answer).toBe("Four, I was wrong");
  },
  limit,
);

test(
  "an agent whose key is refused is out, and the others decide",
  async () => {
    await using team = createRealTeam({
      "grok-4-a": [{ answer: "Four" }, { vote: "agent_b" }],
      "grok-4-b": [{ answer: "4" }, { vote: "agent_b" }],
      "grok-4-c": [{ status: 401 }],
    });
    const { code, result } = await team.run(["What is 2+2?", ...trio, ...cheap, "--no-ballot-fix"]);
    expect(code).toBe(0);
    expect(result.agents[2]).toMatchObject({ status: "out", failure: { class: "auth" } });
    expect(result.agents[2]?.failure?.message).toContain("401");
    expect(result.decision).toMatchObject({ kind: "consensus", winner: "agent_b" });
  },
  limit,
);

test(
  "a budget that MassGen's own numbers exceed stops the round in progress, and the best answer is kept",
  async () => {
    await using team = createRealTeam({
      "grok-4-a": [{ answer: "Four", usage: { input: 1_000_000, output: 1000 } }],
      "grok-4-b": [{ text: "Let me think.", hold: "for ever" }],
    });
    const { code, result } = await team.run(["What is 2+2?", ...pair, ...cheap, "--cost-budget", "1"]);
    expect(code).toBe(0);
    expect(result.decision).toMatchObject({ kind: "forced", reason: "cost_budget", winner: "agent_a" });
    expect(result.cost.by_agent.agent_a?.usd).toBeGreaterThan(3);
    expect(result.limits.reached).toBe("cost_budget");
  },
  limit,
);

test(
  "with the repaired ballot, models that obey the offered ids reach a consensus; the winner's model writes the synthesis",
  async () => {
    await using team = createRealTeam(
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
      { tools: "files" },
    );
    const { code, result, file } = await team.run(["What is 2+2?", ...pair, "--no-docker"]);
    expect(code).toBe(0);
    expect(result.engine.ballot_fix).toBe("on");
    expect(result.decision).toMatchObject({ kind: "consensus", winner: "agent_b", tally: { agent_b: 2 } });
    const votes = team.models.requests.filter((request) => request.turn?.vote !== undefined);
    expect(votes.map((request) => request.voteEnum)).toEqual([
      ["agent1", "agent2"],
      ["agent1", "agent2"],
    ]);
    expect(result.synthesis).toMatchObject({ kind: "agent", why_not_agent: null });
    expect(file("synthesis/final_answer.md")).toContain("Checked.");
    expect(file("synthesis/deliverable/more.txt")).toBe("checked\n");
  },
  limit,
);

test(
  "MassGen's own quickstart config, with all its servers, runs to a consensus",
  async () => {
    await using team = createRealTeam(
      {
        "grok-4-a": [{ write: { "four.txt": "4\n" } }, { answer: "See four.txt" }, { vote: "agent_a" }],
        "grok-4-b": [{ answer: "Five" }, { vote: "agent_a" }],
      },
      { tools: "full" },
    );
    const { code, result, file } = await team.run(["What is 2+2?", ...pair, ...cheap, "--no-ballot-fix"]);
    expect(code).toBe(0);
    expect(result.decision).toMatchObject({ kind: "consensus", winner: "agent_a" });
    expect(file("synthesis/deliverable/four.txt")).toBe("4\n");
  },
  limit,
);
