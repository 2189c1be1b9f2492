import { afterAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { realMassgen } from "../support/massgen.ts";
import { temporaryDirectory } from "../support/temp.ts";
import { createRealTeam, type FinishedRun } from "./real-team.ts";
import { renameOrchestrator } from "./renamed-massgen.ts";

// MassGen's ballot (massgen.md, "Two faults in its voting", 1) in whole runs on the real MassGen. Models here obey the enum that they are
// offered; those that answer with raw ids instead are in real.slow.test.ts. Every place of the voter in teams of 2, 3 and 5 is in
// test/massgen/ballot/classes.test.ts, on MassGen's own classes.

const patience = 900_000;
const plain = ["--synthesis", "markdown", "--no-docker"];
const trio = ["grok/grok-4-a", "grok/grok-4-b", "grok/grok-4-c"];

const team = createRealTeam({ models: trio });
afterAll(() => team[Symbol.asyncDispose]());

describe("three models, each voting for somebody else, by the names that the vote tool offers", () => {
  const scripts = {
    "grok-4-a": [{ answer: "Four, says the first" }, { vote: { preferring: "says the second" } }],
    "grok-4-b": [{ answer: "Four, says the second" }, { vote: { preferring: "says the third" } }],
    "grok-4-c": [{ answer: "Four, says the third" }, { vote: { preferring: "says the second" } }],
  };

  test(
    "with the repair, all are offered all, and they reach a consensus",
    async () => {
      const { code, result, file, events } = await team.run(scripts, ["What is 2+2?", ...plain]);
      expect(offered()).toEqual(Array(3).fill(["agent1", "agent2", "agent3"]));
      expect(votesOf(result)).toEqual(["agent_a→agent_b", "agent_b→agent_c", "agent_c→agent_b"]);
      expect(result.decision).toMatchObject({ kind: "consensus", reason: "majority", winner: "agent_b" });
      expect(result.decision.tally).toEqual({ agent_b: 2, agent_c: 1 });
      expect([code, result.rounds, result.warnings]).toEqual([0, 2, []]);

      expect(result.engine.ballot_fix).toBe("on");
      expect(events[0]).toMatchObject({ type: "run.started", engine: { ballot_fix: "on" } });
      // In the first round whoever starts last may see an answer already.
      expect(shownOf(events)).toEqual([...Array(3).fill(expect.stringMatching(/^(ready|applied)$/)), "applied", "applied", "applied"]);
      expect(file("synthesis/final_answer.md")).toContain("MassGen's ballot was repaired");
      // Nothing of it is left in what MassGen starts, and nobody was asked anything else.
      const asked = team.models.requests.filter(({ turn }) => turn !== null).map(({ text }) => text);
      for (const text of asked) expect(text).not.toContain("mg-team");
    },
    patience,
  );

  test(
    "without it each is offered only itself: the same scripts end in a split vote, decided by who answered first",
    async () => {
      const { code, result, file, events } = await team.run(scripts, ["What is 2+2?", ...plain, "--no-ballot-fix"]);
      expect(offered()).toEqual(Array(3).fill(["agent1"]));
      expect(votesOf(result)).toEqual(["agent_a→agent_a", "agent_b→agent_b", "agent_c→agent_c"]);
      expect(result.decision.ballots.map(({ self, standing }) => [self, standing])).toEqual(Array(3).fill([true, "valid"]));
      const first = events.find((event) => event.type === "step.finished")?.action as { agent: string };
      expect(result.decision).toMatchObject({ kind: "forced", reason: "split_vote", winner: first.agent });
      expect([code, result.rounds]).toEqual([0, 2]);

      expect(result.engine.ballot_fix).toBe("off");
      expect(events[0]).toMatchObject({ type: "run.started", engine: { ballot_fix: "off" } });
      expect(shownOf(events)).toEqual([]);
      expect(file("synthesis/final_answer.md")).toContain("MassGen's ballot was not repaired");
    },
    patience,
  );
});

test(
  "a voter without an answer of its own can vote, and its vote counts",
  async () => {
    const { code, result } = await team.run(
      {
        "grok-4-a": [{ answer: "Four, says the first" }, { vote: { preferring: "says the first" } }],
        "grok-4-b": [{ vote: { preferring: "says the first" } }],
        "grok-4-c": [{ vote: { preferring: "says the first" } }],
      },
      // One after the other, so that the first has answered when the others start.
      ["What is 2+2?", ...plain, "--max-parallel", "1"],
    );
    expect(votesOf(result)).toEqual(["agent_a→agent_a", "agent_b→agent_a", "agent_c→agent_a"]);
    expect(result.agents.map(({ steps }) => steps.map(({ action, class: failure }) => failure ?? action))).toEqual([
      ["new_answer", "vote"],
      ["vote"],
      ["vote"],
    ]);
    expect(result.decision).toMatchObject({ kind: "consensus", winner: "agent_a", tally: { agent_a: 3 } });
    expect(code).toBe(0);
  },
  patience,
);

test(
  "doctor says that the released MassGen needs the repair, also behind a wrapper",
  async () => {
    const { code, stdout } = await team.project.cli(["doctor"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/ok {4}ballot +needs the repair: this MassGen offers voters only themselves/);
  },
  patience,
);

test(
  "a MassGen whose classes have other names runs on without the repair, with a plain warning",
  async () => {
    await using overlay = temporaryDirectory();
    renameOrchestrator(realMassgen(), overlay.path);
    await using renamed = createRealTeam({ models: trio.slice(0, 2) });
    renamed.project.env.PYTHONPATH = overlay.path;
    const run = await renamed.run(
      {
        "grok-4-a": [{ answer: "Four" }, { vote: "agent_b" }],
        "grok-4-b": [{ answer: "4" }, { vote: "agent_b" }],
      },
      ["What is 2+2?", ...plain],
    );
    const { code, result, stderr, events, file } = run;
    expect(result.decision).toMatchObject({ kind: "consensus", winner: "agent_b", tally: { agent_b: 2 } });
    expect(code).toBe(0);

    const warning =
      "MassGen's code is not what the repair of its ballot knows (massgen.orchestrator has no class Orchestrator), so votes may miss their targets";
    expect(result.warnings).toEqual([warning]);
    expect(stderr).toContain(`warning: ${warning}`);
    expect(stderr).not.toContain("Traceback");
    expect(shownOf(events)).toEqual(Array(4).fill("unexpected"));
    // It was put in place, and did not take hold.
    expect(events[0]).toMatchObject({ engine: { ballot_fix: "on" } });
    expect(result.engine.ballot_fix).toBe("off");
    expect(file("synthesis/final_answer.md")).toContain("MassGen's ballot was not repaired");
    expect(readFileSync(join(run.result.session_dir, "runs/agent_a/r1/stderr.log"), "utf8")).toContain("mg-team ballot: unexpected code");
  },
  patience,
);

// --- internal ---

/** The enums of the vote tool, of the requests that were answered by a vote. */
function offered(): (readonly string[] | null)[] {
  return team.models.requests.filter(({ turn }) => turn?.vote !== undefined).map(({ voteEnum }) => voteEnum);
}

function votesOf({ decision }: FinishedRun["result"]): string[] {
  return decision.ballots.map(({ voter, target }) => `${voter}→${target}`);
}

/** What each step showed of the repair, in the order of their ends. */
function shownOf(events: FinishedRun["events"]): unknown[] {
  return events.flatMap((event) => (event.type === "step.finished" && event.ballot !== undefined ? [event.ballot] : []));
}
