import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import type { RunResult } from "../../src/session/result.ts";
import type { TestProject } from "../support/project.ts";
import { argumentsOf, createRunProject, onlyRun, patience, type RunSpec } from "../support/runs.ts";
import { until } from "../support/temp.ts";
import { livingBy, tornFiles } from "./run-check.ts";
import { wrapSteps } from "./run-wrapper.ts";

// Fault 16 at a whole run: mg-team as PID 1 of a container without an init, whose steps leave 1000 orphans that nobody reaps. Only root may try it here.

const namespace = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"];
const isPossible = Bun.spawnSync([...namespace, "true"], { stderr: "ignore", env: process.env }).exitCode === 0;
const orphans = 1000;

/** Forks them, and ends before they do: their new parent is PID 1. They hold the step's output, and end by themselves or are ended. */
const program = `
import os, sys, time
end, held = os.pipe()
if os.fork() == 0:
    os.close(held)
    for _ in range(int(sys.argv[1])):
        if os.fork() == 0:
            os.read(end, 1)
            time.sleep(float(sys.argv[2]))
            os._exit(0)
    os._exit(0)
os.wait()
`;

function withOrphans(project: TestProject, seconds: number): void {
  wrapSteps(project, "agent_a", { before: `python3 '${project.temp.write("orphans.py", program)}' ${orphans} ${seconds}` });
}

function zombies(): number {
  const stats = readdirSync("/proc").flatMap((name) => {
    try {
      return /^\d+$/.test(name) ? [readFileSync(`/proc/${name}/stat`, "latin1")] : [];
    } catch {
      return []; // gone meanwhile
    }
  });
  return stats.filter((stat) => stat.slice(stat.lastIndexOf(")")).startsWith(") Z")).length;
}

describe.if(isPossible)("as PID 1 without an init, with 1000 orphans a step", () => {
  for (const [what, seconds] of [
    ["that end by themselves", 0],
    ["that have to be ended", 600],
  ] as const) {
    test(
      `${what}: the run ends in time, with its exit code and answer`,
      async () => {
        const spec: RunSpec = { plays: { a: "answer, vote a", b: "answer, vote a" } };
        await using project = createRunProject(spec);
        withOrphans(project, seconds);
        const before = zombies();
        let most = 0;
        const watch = setInterval(() => {
          most = Math.max(most, zombies() - before);
        }, 250);
        const { code, stderr } = await project.cli(argumentsOf(spec), { wrapper: namespace });
        clearInterval(watch);
        expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
        const directory = onlyRun(project);
        const result: RunResult = JSON.parse(readFileSync(directory.result, "utf8"));
        expect(result).toMatchObject({ decision: { kind: "consensus", winner: "agent_a" }, cost: { known: "all", total_usd: 0.04 } });
        expect(result.agents.flatMap(({ steps }) => steps.map(({ action }) => action))).toEqual([
          "new_answer",
          "vote",
          "new_answer",
          "vote",
        ]);
        expect(tornFiles(directory)).toEqual([]);
        // Else the test would show nothing.
        expect(most).toBeGreaterThan(orphans);
        await until(() => livingBy(project.temp.path).length === 0, "the end of all processes");
      },
      patience,
    );
  }

  test(
    "TERM ends it with 143 and a forced result",
    async () => {
      const spec: RunSpec = { plays: { a: [{ before: { announce: "hangs", forever: true } }], b: "answer" } };
      await using project = createRunProject(spec);
      withOrphans(project, 600);
      const run = project.start(argumentsOf(spec), { wrapper: namespace });
      await project.untilAnnounced("hangs");
      await until(() => run.output.stdout.includes('"type":"step.finished"'), "agent_b's answer");
      const first = readFileSync(`/proc/${run.pid}/task/${run.pid}/children`, "utf8").trim();
      process.kill(Number(first), "SIGTERM");
      const at = performance.now();
      expect((await run.result).code).toBe(143);
      expect((performance.now() - at) / 1000).toBeLessThan(10);
      const result: RunResult = JSON.parse(readFileSync(onlyRun(project).result, "utf8"));
      expect(result).toMatchObject({ exit_code: 143, decision: { kind: "forced", reason: "interrupted", winner: "agent_b" } });
      await until(() => livingBy(project.temp.path).length === 0, "the end of all processes");
    },
    patience,
  );
});
