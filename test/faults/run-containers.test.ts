import { describe, expect, test } from "bun:test";
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RunResult } from "../../src/session/result.ts";
import type { FakeStep } from "../fixtures/fake-massgen/script.ts";
import type { TestProject } from "../support/project.ts";
import { argumentsOf, createRunProject, onlyRun, patience, type RunSpec } from "../support/runs.ts";
import { until } from "../support/temp.ts";
import { livingBy } from "./run-check.ts";
import { wrapSteps } from "./run-wrapper.ts";

// Fault 17 at a whole run: steps that start a container by a docker client. The client is a fake (test/process/fake-docker.sh) whose containers are files.

const hangs: FakeStep = { before: { announce: "hangs", forever: true } };

interface Docker {
  /** Names of the containers that are there. */
  containers(): string[];
}

/** Every step of agent_a starts a container that mounts something of the step's directory, without a name that is known; so does a stranger. */
function withDocker(project: TestProject): Docker {
  const state = project.temp.join("docker");
  mkdirSync(state);
  mkdirSync(project.temp.join("tools"));
  const docker = project.temp.join("tools", "docker");
  copyFileSync(join(import.meta.dir, "../process/fake-docker.sh"), docker);
  chmodSync(docker, 0o755);
  wrapSteps(project, "agent_a", { before: 'docker run --name "step$$" -v "$PWD/.massgen/workspace:/workspace" image >/dev/null 2>&1 &' });
  Object.assign(project.env, { PATH: `${project.temp.join("tools")}:${project.env.PATH}`, FAKE_DOCKER: state });
  const stranger = { Id: "stranger", Name: "/stranger", Config: { Labels: null, Env: [] }, Mounts: [{ Source: "/srv/data" }] };
  writeFileSync(join(state, "stranger.json"), JSON.stringify(stranger));
  return {
    containers: () =>
      readdirSync(state)
        .filter((name) => name.endsWith(".json"))
        .map((name) => name.slice(0, -5)),
  };
}

async function run(spec: RunSpec, act: (project: TestProject, docker: Docker) => Promise<void>): Promise<void> {
  await using project = createRunProject(spec);
  const docker = withDocker(project);
  await act(project, docker);
  await until(() => livingBy(project.temp.path).length === 0, "the end of all processes");
  expect(docker.containers()).toEqual(["stranger"]);
  // There were some.
  expect(readFileSync(project.temp.join("docker", "calls"), "utf8")).toContain("run --name step");
}

describe("containers of steps are gone, and those of others stay,", () => {
  test(
    "after a run that ends well",
    () => {
      const spec: RunSpec = { plays: { a: "answer, vote a", b: "answer, vote a" } };
      return run(spec, async (project) => {
        const { code, stderr } = await project.cli(argumentsOf(spec));
        expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
      });
    },
    patience,
  );

  test(
    "after a step that is stopped by its time limit, and ignores TERM",
    () => {
      const spec: RunSpec = {
        plays: { a: [{ ...hangs, process: { ignoreTerm: true } }], b: "answer" },
        args: ["--step-timeout", "3", "--retries", "0"],
      };
      return run(spec, async (project) => {
        expect((await project.cli(argumentsOf(spec))).code).toBe(0);
        const result: RunResult = JSON.parse(readFileSync(onlyRun(project).result, "utf8"));
        expect(result.agents[0]?.failure?.class).toBe("timeout");
      });
    },
    patience,
  );

  for (const [title, times] of [
    ["once", 1],
    ["twice", 2],
  ] as const) {
    test(
      `after Ctrl-C ${title}`,
      () => {
        const spec: RunSpec = { plays: { a: [{ ...hangs, process: { ignoreTerm: times === 2 } }], b: "answer" } };
        return run(spec, async (project, docker) => {
          const started = project.start(argumentsOf(spec));
          await project.untilAnnounced("hangs");
          await until(() => docker.containers().length === 2, "the container");
          started.kill("SIGINT");
          await until(() => started.output.stderr.includes("stopping: "), "the stop");
          if (times === 2) started.kill("SIGINT");
          expect((await started.result).code).toBe(130);
        });
      },
      patience,
    );
  }

  test(
    "after kill -9, once mg-team is started again",
    () => {
      const spec: RunSpec = { plays: { a: [hangs], b: "answer" } };
      return run(spec, async (project, docker) => {
        const started = project.start(argumentsOf(spec));
        await project.untilAnnounced("hangs");
        await until(() => docker.containers().length === 2, "the container");
        started.kill("SIGKILL");
        await started.result;
        project.script({ quiet: true }); // answers, then votes
        const { code, stderr } = await project.cli(["resume"]);
        expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
        expect(existsSync(onlyRun(project).result)).toBe(true);
      });
    },
    patience,
  );
});
