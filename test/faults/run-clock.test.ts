import { afterEach, describe, expect, test } from "bun:test";
import { systemClock } from "../../src/clock.ts";
import { playRun, type RunSpec } from "../support/runs.ts";

// Fault 18 at a whole run: the clock on the wall is turned by an hour in the middle of it. `Date.now` is that clock; the runs are in this process.

const realNow = Date.now;
afterEach(() => turn(0));

function turn(hours: number): void {
  Date.now = hours === 0 ? realNow : () => realNow() + hours * 3_600_000;
  systemClock.date = Date.now;
}

for (const [what, hours] of [
  ["forward", 1],
  ["back", -1],
] as const) {
  describe(`the clock is turned ${what} by an hour`, () => {
    // Each answer comes once the one before has been seen.
    const answers: RunSpec = {
      plays: { b: "answer", c: "answer after b", a: "answer after c" },
      args: ["--max-rounds", "1", "--timeout", "60"],
    };

    test("between two answers: the first one is still the first, and no time has passed", async () => {
      const run = await playRun({
        ...answers,
        onEvent: (event) => {
          if (event.type === "step.finished" && event.action.agent === "agent_b") turn(hours);
        },
      });
      expect(run.result.decision).toMatchObject({ kind: "forced", reason: "max_rounds", winner: "agent_b" });
      expect(run.result.decision.rule).toContain("agent_b answered first");
      expect(run.result.duration_seconds).toBeLessThan(60);
      const elapsed = run.events.map((event) => event.elapsed);
      expect(elapsed).toEqual([...elapsed].sort((one, other) => one - other));
    }, 60_000);

    test("while a step hangs: its limit is kept, neither cut short nor stretched", async () => {
      const started = performance.now();
      const run = await playRun({
        plays: { a: [{ before: { forever: true } }], b: "answer" },
        args: ["--step-timeout", "3", "--retries", "0"],
        onEvent: (event) => {
          if (event.type === "step.started" && event.agent === "agent_a") turn(hours);
        },
      });
      const seconds = run.result.agents[0]?.steps[0]?.seconds ?? 0;
      expect(run.result.agents[0]?.failure?.class).toBe("timeout");
      expect(seconds).toBeGreaterThanOrEqual(3);
      expect(seconds).toBeLessThan(9);
      expect((performance.now() - started) / 1000).toBeLessThan(30);
    }, 60_000);

    test("while the whole run hangs: its time limit is kept", async () => {
      const run = await playRun({
        plays: { a: [{ before: { forever: true } }], b: "answer" },
        args: ["--timeout", "3"],
        onEvent: (event) => {
          if (event.type === "step.started" && event.agent === "agent_a") turn(hours);
        },
      });
      expect(run.result.decision).toMatchObject({ kind: "forced", reason: "timeout", winner: "agent_b" });
      expect(run.result.duration_seconds).toBeGreaterThanOrEqual(3);
      expect(run.result.duration_seconds).toBeLessThan(12);
    }, 60_000);
  });
}
