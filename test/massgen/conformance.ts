import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { helpText } from "../fixtures/fake-massgen/arguments.ts";
import { quickstartYaml } from "../fixtures/fake-massgen/quickstart.ts";
import { type Observed, observations } from "./observe.ts";
import { oddQuery, type StartName, starts } from "./starts.ts";
import type { Target } from "./target.ts";

/** What massgen.md says about MassGen, checked on `target`. The fake and the real one must both pass. */
export function conformance(target: Target): void {
  const start = observations(target, starts);
  const property = (title: string, name: StartName, check: (seen: Observed) => void) =>
    test(title, async () => check(await start(name)), target.patience * 1000);

  describe(`${target.name}: what it prints`, () => {
    property("with --stream-events stdout is JSON lines only", "answer", ({ stdout }) => {
      const events = jsonLines(stdout);
      expect(events.map((event) => event.event_type)).toContain("round_start");
      for (const event of events) {
        expect(Object.keys(event)).toEqual(["timestamp", "event_type", "agent_id", "round_number", "data"]);
      }
      expect(events.at(-1)).toMatchObject({
        event_type: "answer_submitted",
        agent_id: "agent_a",
        data: { content: "four", answer_number: 1 },
      });
    });
    property("with --stream-events the status lines are on stderr, STATUS twice", "answer", (seen) => {
      expect(statusLines(seen.stderr)).toEqual([
        `LOG_DIR: ${seen.logDir}`,
        `STATUS: ${seen.logDir}/turn_1/attempt_1/status.json`,
        `SESSION_DIR: ${seen.sessionDir}`,
        "ACTION: new_answer",
        `STATUS: ${seen.sessionDir}/agents/agent_a/last_action.json`,
      ]);
    });
    property("with --automation alone the status lines are on stdout", "vote", (seen) => {
      expect(statusLines(seen.stderr)).toEqual([]);
      expect(statusLines(seen.stdout).map((line) => line.split(":")[0])).toEqual(["LOG_DIR", "STATUS", "SESSION_DIR", "ACTION", "STATUS"]);
    });
    property("without both the first two status lines are missing", "blank", (seen) => {
      expect(statusLines(seen.stdout).map((line) => line.split(":")[0])).toEqual(["SESSION_DIR", "ACTION", "STATUS"]);
    });
    property("a vote is an event", "blankPeer", ({ stdout }) => {
      expect(jsonLines(stdout).at(-1)).toMatchObject({ event_type: "vote", agent_id: "agent_a", data: { target_id: "agent_b" } });
    });
    property("two warnings of Python are on stderr", "help", ({ stderr }) => {
      expect(stderr.split("\n").filter((line) => line.includes("DeprecationWarning:"))).toHaveLength(2);
    });
    property("--help lists the flags that the fixture lists", "help", ({ code, stdout }) => {
      expect(code).toBe(0);
      expect(stdout).toBe(helpText);
    });
  });

  describe(`${target.name}: what it leaves`, () => {
    property("answer.json and last_action.json have the fields of massgen.md, cost is empty", "answer", (seen) => {
      expect(seen.code).toBe(0);
      expect(Object.keys(seen.json("agent_a/001/answer.json"))).toEqual(["agent_id", "answer", "timestamp"]);
      expect(seen.json("agent_a/001/answer.json")).toMatchObject({ agent_id: "agent_a", answer: "four" });
      const last = seen.json("agent_a/last_action.json");
      expect(Object.keys(last)).toEqual(lastActionKeys);
      expect(last).toMatchObject({
        agent_id: "agent_a",
        action: "new_answer",
        answer_text: "four",
        vote_target: null,
        step_number: 1,
        cost: {},
      });
    });
    property("a query with a leading dash, quotes and odd characters arrives as it was given", "answer", (seen) => {
      expect(seen.metrics?.meta).toMatchObject({ question: oddQuery });
    });
    property("an @path that exists becomes its absolute path", "vote", (seen) => {
      expect(seen.metrics?.meta).toMatchObject({ question: `Sum ${seen.cwd}/notes.txt up` });
    });
    property("a priced model has a cost in metrics_summary.json and status.json", "answer", (seen) => {
      expect(seen.metrics?.totals).toMatchObject({ input_tokens: 1000, output_tokens: 100 });
      expect(seen.metrics).toHaveProperty("totals.estimated_cost", expect.any(Number));
      expect(seen.metrics).not.toHaveProperty("totals.estimated_cost", 0);
      expect(seen.status).not.toHaveProperty("costs.total_estimated_cost", 0);
    });
    property("a model that is not in the price table costs 0.0 with tokens above zero", "vote", (seen) => {
      expect(seen.metrics?.totals).toMatchObject({ estimated_cost: 0, input_tokens: 1000, output_tokens: 100 });
    });
    property("a vote's seen_steps is read from disk after the vote: an answer that landed meanwhile counts as seen", "vote", (seen) => {
      const vote = seen.json("agent_a/002/vote.json");
      expect(Object.keys(vote)).toEqual(["voter", "target", "reason", "seen_steps", "timestamp"]);
      expect(vote).toMatchObject({ voter: "agent_a", target: "agent_b", seen_steps: { agent_a: 1, agent_b: 2 } });
    });
    property("step numbers go on, and last_action.json has no seen_steps", "vote", (seen) => {
      const last = seen.json("agent_a/last_action.json");
      expect(Object.keys(last)).toEqual(lastActionKeys);
      expect(last).toMatchObject({ action: "vote", vote_target: "agent_b", answer_text: null, step_number: 2, workspace_path: null });
    });
    property("peer files that are cut, empty, or start with a BOM are skipped with a warning", "vote", ({ code, stderr }) => {
      expect(code).toBe(0);
      for (const name of ["agent_b/002/answer.json", "agent_c/001/answer.json", "agent_d/001/answer.json"]) {
        expect(stderr).toMatch(new RegExp(`Failed to parse .*${name}`));
      }
    });
    property("a blank answer is accepted with exit 0", "blank", (seen) => {
      expect(seen.code).toBe(0);
      expect(seen.json("agent_a/001/answer.json").answer).toBe("");
    });
    property("a peer may vote for a blank answer", "blankPeer", (seen) => {
      expect(seen.code).toBe(0);
      expect(seen.json("agent_a/001/vote.json")).toMatchObject({ target: "agent_b", seen_steps: { agent_b: 1 } });
    });
    property("a workspace holds the agent's files beside MassGen's own", "files", (seen) => {
      const workspace = join(seen.sessionDir, "agents/agent_a/001/workspace");
      expect(seen.json("agent_a/last_action.json").workspace_path).toBe(workspace);
      expect(seen.files.filter((file) => file.startsWith("agent_a/001/workspace/"))).toContain("agent_a/001/workspace/index.html");
      for (const name of [".git", ".massgen_scratch", "execution_trace.md"]) expect(seen.workspace).toContain(name);
    });
  });

  describe(`${target.name}: how it fails`, () => {
    const nothingWritten = (seen: Observed) => expect(seen.files.filter((file) => file.startsWith("agent_a/"))).toEqual([]);
    property("a model that calls no workflow tool: exit 2, and no metrics_summary.json", "noAction", (seen) => {
      expect(seen.code).toBe(2);
      expect(seen.stderr).toEndWith("❌ Step mode: agent did not produce an answer or vote\n");
      expect(seen.stderr).toContain("Agent failed to use workflow tools after 3 attempts");
      expect(seen.metrics).toBeNull();
      nothingWritten(seen);
    });
    property("votes for nobody: exit 2 after three attempts", "invalidAgent", (seen) => {
      expect(seen.code).toBe(2);
      expect(seen.stderr).toContain("Invalid agent_id after 3 attempts");
      nothingWritten(seen);
    });
    property("a wrong key: exit 2, with the provider's 401 on stderr", "auth", (seen) => {
      expect(seen.code).toBe(2);
      expect(seen.stderr).toContain("Error code: 401 - {'error': {'message': 'Incorrect API key provided");
      nothingWritten(seen);
    });
    property("its own timeout: exit 2", "timeout", (seen) => {
      expect(seen.code).toBe(2);
      expect(seen.stderr).toContain("No answers available from any agents due to timeout");
      nothingWritten(seen);
    });
    property("no key: exit 1", "noKey", (seen) => {
      expect(seen.code).toBe(1);
      expect(seen.stderr).toContain("❌ Configuration error: Grok API key not found");
    });
    property("a peer's answer that is not UTF-8: exit 2, said on stdout", "notUtf8", (seen) => {
      expect(seen.code).toBe(2);
      expect(seen.stdout).toContain("❌ Error: 'utf-8' codec can't decode byte 0xe9");
      nothingWritten(seen);
    });
    property("a peer's vote that is not UTF-8: exit 2", "voteNotUtf8", (seen) => {
      expect(seen.code).toBe(2);
      expect(seen.stdout).toContain("❌ Error: 'utf-8' codec can't decode byte 0xe9");
    });
    property("a peer's answer.json that is an array: exit 2", "array", (seen) => {
      expect(seen.code).toBe(2);
      expect(seen.stdout).toContain("❌ Error: 'list' object has no attribute 'get'");
    });
    property("a peer's answer that is a number: exit 2", "number", (seen) => {
      expect(seen.code).toBe(2);
      expect(seen.stdout).toContain("❌ Error: 'int' object is not subscriptable");
    });
    property("a peer's answer that is an object: exit 2", "object", (seen) => {
      expect(seen.code).toBe(2);
      expect(seen.stdout).toContain("❌ Error: unhashable type: 'slice'");
    });
    property("a peer's answer that is a list: no harm", "list", (seen) => {
      expect(seen.code).toBe(0);
      expect(seen.json("agent_a/001/answer.json").answer).toBe("four");
    });
    property("a peer's answer with half a character cannot be sent: exit 2", "surrogate", (seen) => {
      expect(seen.code).toBe(2);
      expect(seen.stderr).toContain("'utf-8' codec can't encode character '\\ud800'");
      nothingWritten(seen);
    });
    property("an @path that does not exist: exit 1", "missingReference", (seen) => {
      expect(seen.code).toBe(1);
      expect(seen.stderr).toContain("❌ Configuration error: Context paths not found:\n  - angular/core\n");
    });
    property("two agents in the config: exit 1, said on stdout", "twoAgents", (seen) => {
      expect(seen.code).toBe(1);
      expect(seen.stdout).toContain("Step mode requires exactly one agent in config, got 2");
    });
    property("an empty query: exit 1", "noQuery", (seen) => {
      expect(seen.code).toBe(1);
      expect(seen.stdout).toContain("--step requires a question/task");
    });
    property("no session directory: exit 1", "noSession", (seen) => {
      expect(seen.code).toBe(1);
      expect(seen.stdout).toContain("--step requires --session-dir");
    });
    property("no config file: exit 1", "noConfig", (seen) => {
      expect(seen.code).toBe(1);
      expect(seen.stderr).toContain(`❌ Configuration error: Configuration file not found: ${seen.cwd}/none.yaml`);
    });
    property("a criterion without text: exit 1", "badCriteria", (seen) => {
      expect(seen.code).toBe(1);
      expect(seen.stdout).toContain("--eval-criteria item 1 missing 'text' field");
    });
    property("an unknown flag: exit 2 with the usage on stderr", "unknownFlag", (seen) => {
      expect(seen.code).toBe(2);
      expect(seen.stderr).toContain("usage: massgen [-h]");
      expect(seen.stderr).toContain("massgen: error: unrecognized arguments: --bogus");
    });
    property("SIGINT in mid-step: exit 0 or 4, and nothing written", "interrupt", (seen) => {
      expect(seen.code === 0 || seen.code === 4).toBe(true);
      nothingWritten(seen);
    });
    property("SIGTERM in mid-step ends it by that signal, and nothing is written", "terminate", (seen) => {
      expect(seen.signal).toBe("SIGTERM");
      nothingWritten(seen);
    });
  });

  describe(`${target.name}: making a config`, () => {
    property("--quickstart --headless writes one agent's YAML, byte for byte as the fixture", "quickstart", (seen) => {
      expect(seen.code).toBe(0);
      expect(seen.stdout).toContain("\nSTATUS: SUCCESS\n");
      const request = { out: "", backend: "grok", model: "grok-4.20-0309-reasoning", agentId: "agent_b", docker: false, contextPath: null };
      expect(seen.made).toBe(quickstartYaml(request));
    });
    property("without a key it says NEEDS_CONFIG, exits 0 and writes no config", "quickstartNoKey", (seen) => {
      expect(seen.code).toBe(0);
      expect(seen.stdout).toContain("\nSTATUS: NEEDS_CONFIG\n");
      expect(seen.made).toBeNull();
    });
  });
}

// --- internal ---

const lastActionKeys = [
  "agent_id",
  "action",
  "answer_text",
  "vote_target",
  "vote_reason",
  "timestamp",
  "step_number",
  "duration_seconds",
  "cost",
  "workspace_path",
];

function statusLines(text: string): string[] {
  return text.split("\n").filter((line) => /^(LOG_DIR|STATUS|SESSION_DIR|ACTION): /.test(line));
}

function jsonLines(text: string): Record<string, unknown>[] {
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}
