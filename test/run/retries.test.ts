import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { TeamEvent } from "../../src/session/events.ts";
import type { FakeStep } from "../fixtures/fake-massgen/script.ts";
import { patience, playRun } from "../support/runs.ts";
import { type Story, tell } from "../support/story.ts";

// Core loop 2 (design.md): a failed step is tried again at once, up to --retries, unless that cannot help.

const agree = "answer, vote a";

describe("how often", () => {
  tell([
    {
      title: "once by default: the second attempt's answer counts, and the agent has no failure",
      plays: { a: "fail server, answer, vote a", b: agree },
      rounds: ["a failed(model) then answered, b answered", "a voted a, b voted a"],
      ends: "consensus majority a, exit 0",
      look: ({ result, directory }) => {
        expect(result.agents[0]).toMatchObject({ status: "live", failure: null });
        expect(existsSync(join(directory.runs, "agent_a/r1/try2/stderr.log"))).toBe(true);
      },
    },
    {
      title: "after the second failure the agent is out, and the rest go on",
      plays: { a: "fail server", b: "answer, vote b", c: "answer, vote b" },
      rounds: ["a failed(model) then failed(model), b answered, c answered", "b voted b, c voted b"],
      ends: "consensus majority b, exit 0",
    },
    {
      title: "--retries 0 tries nothing again",
      plays: { a: "fail server, answer", b: "answer" },
      args: ["--retries", "0"],
      rounds: ["a failed(model), b answered"],
      ends: "single only_agent b, exit 0",
      look: ({ result }) => expect(result.agents[0]).toMatchObject({ status: "out", failure: { class: "model" } }),
    },
    {
      title: "a failure that no attempt can mend ends the attempts",
      plays: { a: "fail server, fail traceback, answer", b: "answer" },
      args: ["--retries", "3"],
      rounds: ["a failed(model) then failed(config), b answered"],
      ends: "single only_agent b, exit 0",
    },
    {
      title: "--retries 3: the fourth attempt may act, with a number and a directory of its own",
      plays: { a: ["fail server", { fail: { exit: 139 } }, "nothing", "answer", "vote a"], b: agree },
      args: ["--retries", "3"],
      rounds: ["a failed(model) then failed(crash) then failed(no_action) then answered, b answered", "a voted a, b voted a"],
      ends: "consensus majority a, exit 0",
      look: ({ directory, events }) => {
        for (const name of ["r1", "r1/try2", "r1/try3", "r1/try4"])
          expect(existsSync(join(directory.runs, "agent_a", name, "exit.json"))).toBe(true);
        expect(startsOf(events, "agent_a").map(({ kind, try: attempt }) => [kind, attempt])).toEqual([
          ["round", 1],
          ["retry", 2],
          ["retry", 3],
          ["retry", 4],
          ["round", 1],
        ]);
      },
    },
    {
      title: "each round has retries of its own",
      plays: { a: "fail server, answer, fail server, vote a", b: agree },
      rounds: ["a failed(model) then answered, b answered", "a failed(model) then voted a, b voted a"],
      ends: "consensus majority a, exit 0",
    },
    {
      title: "the retries of one agent do not wait for the others",
      plays: { a: "fail server, answer, vote a", b: ["answer after a", "vote a"] },
      rounds: ["a failed(model) then answered, b answered", "a voted a, b voted a"],
      ends: "consensus majority a, exit 0",
    },
    {
      title: "the cost of a failed attempt counts",
      plays: { a: [{ fail: "server", cost: { usd: 0.25, inputTokens: 10, outputTokens: 10 } }, "answer", "vote a"], b: agree },
      ends: "consensus majority a, exit 0",
      look: ({ result }) => {
        expect(result.cost.total_usd).toBe(0.29);
        expect(result.cost.by_agent.agent_a).toMatchObject({ usd: 0.27, known: "all", input_tokens: 2010 });
        expect(result.agents[0]?.steps.map(({ usd }) => usd)).toEqual([0.25, 0.01, 0.01]);
      },
    },
  ]);
});

describe("which failures", () => {
  const again: Readonly<Record<string, FakeStep>> = {
    model: { fail: "server" },
    crash: { fail: { exit: 139, stderr: "Segmentation fault" } },
    killed: { fail: { exit: -9 } },
    no_action: { nothing: true },
    empty: { answer: { text: "", workspace: false } },
    garbled: { answer: { text: "x", workspace: false, garble: "cut" } },
  };
  const never: Readonly<Record<string, FakeStep>> = {
    auth: { fail: "auth" },
    config: { fail: "config" },
    timeout: { fail: "timeout" },
  };
  tell(
    Object.entries(again).map(
      ([kind, step]): Story => ({
        title: `${kind} is tried again`,
        plays: { a: [step, "answer", "vote a"], b: agree },
        rounds: [`a failed(${kind}) then answered, b answered`, "a voted a, b voted a"],
        ends: "consensus majority a, exit 0",
      }),
    ),
  );
  tell(
    Object.entries(never).map(
      ([kind, step]): Story => ({
        title: `${kind} is not tried again`,
        plays: { a: [step, "answer"], b: "answer" },
        args: ["--retries", "5"],
        rounds: [`a failed(${kind}), b answered`],
        ends: "single only_agent b, exit 0",
      }),
    ),
  );
  tell([
    {
      title: "a step that ran into its own time limit is not tried again",
      plays: { a: [{ before: { announce: "a-hangs", forever: true } }], b: "answer" },
      timeIsUp: ["a-hangs", "finished-agent_b-1"],
      args: ["--step-timeout", "600", "--timeout", "200000", "--retries", "5"],
      rounds: ["a failed(timeout), b answered"],
      ends: "single only_agent b, exit 0",
      look: ({ result, stderr }) => {
        expect(result.agents[0]?.failure?.message).toBe("stopped: it did not act within its 600 s");
        expect(stderr).toContain("agent_a is out (timeout)");
      },
    },
  ]);

  test.concurrent(
    "quota waits as long as the provider asks before the next attempt",
    async () => {
      const { events, result } = await playRun({ plays: { a: "fail quota, answer, vote a", b: agree } });
      const [first, second] = startsOf(events, "agent_a");
      const end = events.find((event) => event.type === "step.finished" && event.action.agent === "agent_a" && event.retry);
      if (!first || !second || !end) throw new Error("there was no retry");
      expect(second.elapsed - end.elapsed).toBeGreaterThanOrEqual(0.99);
      expect(second.elapsed - end.elapsed).toBeLessThan(60);
      expect(result.decision.kind).toBe("consensus");
    },
    patience,
  );

  test.concurrent(
    "a quota for longer than the run has left keeps nobody waiting: the agent is out, the others go on",
    async () => {
      const { result, events } = await playRun({
        plays: { a: [{ fail: { stderr: "Error code: 429 - rate limit, try again in 250s" } }], b: agree, c: "answer, vote a" },
        args: ["--timeout", "200", "--retries", "3"],
      });
      expect(startsOf(events, "agent_a")).toHaveLength(1);
      expect(result.agents[0]).toMatchObject({ status: "out", failure: { class: "quota" } });
      expect(result.duration_seconds).toBeLessThan(150);
    },
    patience,
  );

  test.concurrent(
    "a provider that asks for more than five minutes is not asked again before, nor waited for: the agent is out, with what it said",
    async () => {
      const { result, events } = await playRun({
        plays: { a: [{ fail: { stderr: "Error code: 429 - rate limit, try again in 1h2m" } }], b: agree, c: "answer, vote a" },
        args: ["--timeout", "2h", "--retries", "3"],
      });
      expect(startsOf(events, "agent_a")).toHaveLength(1);
      expect(result.agents[0]).toMatchObject({
        status: "out",
        failure: { class: "quota", message: expect.stringContaining("try again in 1h2m") },
      });
    },
    patience,
  );

  test.concurrent(
    "a run that stops does not wait for a quota",
    async () => {
      const { result, events } = await playRun({
        plays: { a: [{ fail: { stderr: "Error code: 429 - rate limit, try again in 200s" } }], b: "answer" },
        timeIsUp: ["finished-agent_a-1", "finished-agent_b-1"],
        args: ["--timeout", "1000"],
      });
      const [began = 0, ended = 0] = [events[0], events.at(-1)].map((event) => Date.parse(event?.ts ?? ""));
      expect(ended - began).toBeLessThan(100_000);
      expect(result.decision).toMatchObject({ kind: "forced", reason: "timeout", winner: "agent_b" });
    },
    patience,
  );
});

describe("a stop ends retries", () => {
  tell([
    {
      title: "a step that fails while the run stops is interrupted, not failed",
      plays: { a: [{ before: { announce: "a-hangs", forever: true }, process: { exitOnTerm: 2 } }], b: "answer" },
      timeIsUp: ["a-hangs", "finished-agent_b-1"],
      args: ["--timeout", "1000"],
      rounds: ["a interrupted, b answered"],
      ends: "forced timeout b, exit 0",
      look: ({ result }) => expect(result.agents[0]).toMatchObject({ status: "live", failure: null }),
    },
  ]);
});

function startsOf(events: readonly TeamEvent[], agent: string) {
  return events.flatMap((event) => (event.type === "step.started" && event.agent === agent ? [event] : []));
}
