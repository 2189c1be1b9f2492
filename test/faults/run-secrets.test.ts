import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { FakeStep } from "../fixtures/fake-massgen/script.ts";
import type { TestProject } from "../support/project.ts";
import { filesBelow, isTheirs } from "../support/run-rules.ts";
import { argumentsOf, createRunProject, onlyRun, patience, type RunSpec } from "../support/runs.ts";
import { until } from "../support/temp.ts";
import { livingBy } from "./run-check.ts";
import { wrapSteps } from "./run-wrapper.ts";

// Keys and a run that is killed or stopped at a bad moment. Keys in whole runs: test/run/secrets.test.ts.

const fromFile = "xai-from-a-file-1234567890abcdef";
const names = ["XAI_API_KEY", "OPENAI_API_KEY"];
const prints: FakeStep = { process: { printEnv: names }, before: { announce: "hangs", forever: true } };
const spec: RunSpec = {
  plays: { a: [prints], b: "answer, vote b" },
  files: { ".env": `XAI_API_KEY=${fromFile}\n` },
  env: { XAI_API_KEY: "" },
};

/** Files of all runs, and of the cache, in which a key stands; MassGen's own are left out. */
function leaks(project: TestProject): string[] {
  const keys = [fromFile, project.env.OPENAI_API_KEY ?? ""];
  const sessions = join(project.directory, ".massgen-quality/sessions");
  const roots = [...readdirSync(sessions).map((id) => join(sessions, id)), project.env.XDG_CACHE_HOME ?? ""];
  return roots.flatMap((root) =>
    filesBelow(root, isTheirs).filter((path) => {
      const text = readFileSync(join(root, path), "latin1");
      return keys.some((key) => text.includes(key));
    }),
  );
}

const printed = async (project: TestProject) => {
  await project.untilAnnounced("hangs");
  await until(() => leaks(project).length === 2, "the keys in both logs, or this test would show nothing");
};

describe("keys that a step had printed", () => {
  test(
    "when mg-team was killed are out of its logs as soon as the run is resumed",
    async () => {
      await using project = createRunProject(spec);
      const run = project.start(argumentsOf(spec));
      await printed(project);
      run.kill("SIGKILL");
      await run.result;
      project.script({ quiet: true, agents: { agent_a: [{ process: { printEnv: names }, vote: "agent_b" }] } });
      const { code, stdout, stderr } = await project.cli(["resume", "--json", "--verbose"]);
      expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
      expect(leaks(project)).toEqual([]);
      for (const text of [stdout, stderr]) expect(text.includes(fromFile)).toBe(false);
    },
    patience,
  );

  test(
    "when mg-team was killed are out of its logs as soon as anything is run in the project",
    async () => {
      await using project = createRunProject(spec);
      const run = project.start(argumentsOf(spec));
      await printed(project);
      run.kill("SIGKILL");
      await run.result;
      project.script({ quiet: true });
      expect((await project.cli(argumentsOf({ ...spec, models: ["grok/model-a", "grok/model-b"] }))).code).toBe(0);
      expect(leaks(project)).toEqual([]);
    },
    patience,
  );

  for (const signals of [["SIGINT"], ["SIGTERM", "SIGTERM"], ["SIGHUP"]] as const) {
    test(
      `are out of its logs after ${signals.join(" and ")}`,
      async () => {
        await using project = createRunProject(spec);
        const run = project.start(argumentsOf(spec));
        await printed(project);
        for (const signal of signals) run.kill(signal);
        const { code, stdout, stderr } = await run.result;
        expect(code).toBeGreaterThan(128);
        expect(leaks(project)).toEqual([]);
        for (const text of [stdout, stderr]) expect(text.includes(fromFile)).toBe(false);
        expect(livingBy(project.temp.path)).toEqual([]);
      },
      patience,
    );
  }

  test(
    "by a process that outlives its step, in another encoding, and in pieces of lines, are out of them too",
    async () => {
      const loud: RunSpec = { ...spec, plays: { a: "answer, vote a", b: "answer, vote a" } };
      await using project = createRunProject(loud);
      const late = '(sleep 0.3; echo "late $XAI_API_KEY"; printf "no end of the line: %s" "$XAI_API_KEY" >&2) &';
      const odd =
        'printf "\\377 %s \\300\\n" "$XAI_API_KEY"; printf \'{"key":"%s"}\\n\' "$XAI_API_KEY"; printf "%s\\r%s\\n" "$XAI_API_KEY" "$OPENAI_API_KEY"';
      wrapSteps(project, "agent_a", { before: `${late}\n${odd}` });
      const { code, stdout, stderr } = await project.cli(argumentsOf(loud));
      expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
      const { runs } = onlyRun(project);
      expect(readFileSync(join(runs, "agent_a/r1/stdout.log"), "latin1")).toContain("late [redacted]");
      expect(readFileSync(join(runs, "agent_a/r1/stderr.log"), "latin1")).toContain("no end of the line: [redacted]");
      expect(leaks(project)).toEqual([]);
      for (const text of [stdout, stderr]) expect(text.includes(fromFile)).toBe(false);
    },
    patience,
  );
});
