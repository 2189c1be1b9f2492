import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { teamDirectory } from "../../src/session/directory.ts";
import type { RunResult } from "../../src/session/result.ts";
import { argumentsOf, createRunProject, linesOf, onlyRun, patience, type RunSpec } from "../support/runs.ts";
import { until } from "../support/temp.ts";
import { livingBy, reportedBy, tornFiles } from "./run-check.ts";

// Fault 19 at a whole run. Runs of one project at the same time, which share no directory: test/run/together.test.ts.

const spec: RunSpec = {
  plays: { a: ["answer", { vote: "agent_a", before: { announce: "hangs", file: "go" } }], b: "answer, vote a" },
  args: ["--json"],
};

test(
  "of five resumes of one crashed run at the same time one goes on, and the others exit 7 and name it",
  async () => {
    await using project = createRunProject(spec);
    const run = project.start(argumentsOf(spec));
    await project.untilAnnounced("hangs");
    run.kill("SIGKILL");
    await run.result;
    const resumes = Array.from({ length: 5 }, () => project.start(["resume", "--json"]));
    // The one that goes on launches agent_a again, which waits; by then the others have ended.
    await project.untilLaunched("agent_a", 3);
    const ended = new Set<number>();
    for (const { pid, result } of resumes) void result.then(() => ended.add(pid));
    await until(() => ended.size === 4, "the end of the others");
    project.signal("go");
    const results = await Promise.all(resumes.map(async ({ pid, result }) => ({ pid, ...(await result) })));
    const winners = results.filter(({ code }) => code === 0);
    expect(results.map(({ code }) => code).sort()).toEqual([0, 7, 7, 7, 7]);
    for (const { code, stdout, stderr } of results) {
      if (code === 0) continue;
      expect(stderr).toContain(`process ${winners[0]?.pid}`);
      expect(JSON.parse(stdout)).toMatchObject({ version: 1, error: { code: "locked" } });
    }
    const directory = onlyRun(project);
    const result: RunResult = JSON.parse(readFileSync(directory.result, "utf8"));
    expect(result).toMatchObject({ decision: { kind: "consensus", winner: "agent_a" } });
    expect(result.cost.total_usd).toBeCloseTo(reportedBy(directory), 9);
    expect(tornFiles(directory)).toEqual([]);
    expect(linesOf(readFileSync(directory.journal, "utf8")).filter(({ type }) => type === "run.resumed").length).toBe(1);
    expect(livingBy(project.temp.path)).toEqual([]);
  },
  patience,
);

test(
  "a new run that sweeps the project at the moment of a resume takes nothing from it",
  async () => {
    const quick: RunSpec = { ...spec, script: { rules: [{ when: { query: "^quick$" }, step: { answer: "quick" } }] } };
    await using project = createRunProject(quick);
    const run = project.start(argumentsOf(quick));
    await project.untilAnnounced("hangs");
    run.kill("SIGKILL");
    await run.result;
    const { id } = onlyRun(project);
    const resume = project.start(["resume", id, "--json"]);
    const others = Array.from({ length: 3 }, () =>
      project.start(
        argumentsOf({ ...quick, query: "quick", models: ["grok/model-a", "grok/model-b"], args: ["--json", "--max-rounds", "1"] }),
      ),
    );
    await project.untilLaunched("agent_a", 3);
    project.signal("go");
    const codes = await Promise.all([resume, ...others].map(async ({ result }) => (await result).code));
    expect(codes).toEqual([0, 0, 0, 0]);
    const sessions = join(project.directory, ".massgen-quality/sessions");
    const directories = readdirSync(sessions).map((name) => teamDirectory(join(sessions, name)));
    expect(directories.length).toBe(4);
    for (const directory of directories) expect(tornFiles(directory)).toEqual([]);
    const resumed: RunResult = JSON.parse(readFileSync(teamDirectory(join(sessions, id)).result, "utf8"));
    expect(resumed).toMatchObject({ decision: { kind: "consensus", winner: "agent_a" }, query: "Say hello" });
    expect(livingBy(project.temp.path)).toEqual([]);
  },
  patience,
);
