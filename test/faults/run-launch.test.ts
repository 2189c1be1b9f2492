import { describe, expect, test } from "bun:test";
import { chmodSync, copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { teamDirectory } from "../../src/session/directory.ts";
import type { RunResult } from "../../src/session/result.ts";
import { installCommand } from "../fixtures/fake-massgen/install.ts";
import { argumentsOf, createRunProject, linesOf, onlyRun, patience, type RunSpec, runHere } from "../support/runs.ts";
import { until } from "../support/temp.ts";
import { livingBy, tornFiles } from "./run-check.ts";

// Faults 12 and 13 at a whole run: a program that cannot be started for one of three agents, and a system that refuses processes or files.

const agree = "answer, vote a";
const team: RunSpec = { plays: { a: agree, b: agree, c: agree } };
const pair: RunSpec = { plays: { a: agree, b: agree } };

const failureOf = (result: RunResult, id: string) => result.agents.find((agent) => agent.id === id)?.failure;

describe("what cannot be started for one of three agents fails that one, with the cause, and the others decide (fault 12)", () => {
  const cases: readonly [title: string, spoil: (massgen: string) => void, says: RegExp][] = [
    ["a program that is gone", (massgen) => rmSync(massgen), /not found/],
    ["a program without rights", (massgen) => chmodSync(massgen, 0o644), /not executable|permission|not permitted/],
    ["a program that is none", (massgen) => writeFileSync(massgen, "\u0001\u0002 no program"), /no program for this machine/],
    ["a missing interpreter", (massgen) => writeFileSync(massgen, "#!/no/such/python\n"), /interpreter \/no\/such\/python not found/],
    ["an interpreter with Windows line ends", (massgen) => writeFileSync(massgen, "#!/bin/sh\r\nexit 0\r\n"), /Windows line ends/],
  ];
  for (const [title, spoil, says] of cases) {
    test(
      title,
      async () => {
        // One after the other, so that there is a moment between the first agent's start and the second's.
        const spec = { ...team, args: ["--max-parallel", "1", "--retries", "0"] };
        await using project = createRunProject(spec);
        const massgen = installCommand(project.temp.join("own"));
        const whole = project.temp.join("whole");
        copyFileSync(massgen, whole);
        project.env.PATH = `${project.temp.join("own")}:/usr/bin:/bin`;
        const { code, stderr } = await runHere(project, argumentsOf(spec), (event) => {
          if (event.type !== "step.finished" || event.action.round > 1) return;
          if (event.action.agent === "agent_a") spoil(massgen);
          if (event.action.agent !== "agent_b") return;
          copyFileSync(whole, massgen);
          chmodSync(massgen, 0o755);
        });
        expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
        const directory = onlyRun(project);
        const result: RunResult = JSON.parse(readFileSync(directory.result, "utf8"));
        expect(failureOf(result, "agent_b")?.message).toMatch(says);
        expect(stderr).toMatch(says);
        expect(existsSync(join(directory.root, failureOf(result, "agent_b")?.log ?? "none"))).toBe(true);
        expect([failureOf(result, "agent_a"), failureOf(result, "agent_c")]).toEqual([null, null]);
        expect(result).toMatchObject({ decision: { kind: "consensus", winner: "agent_a" }, cost: { known: "all", total_usd: 0.04 } });
        expect(livingBy(project.temp.path)).toEqual([]);
      },
      patience,
    );
  }

  test(
    "a command line that is too long, by the hand of a plugin (E2BIG)",
    async () => {
      const plugin = `import { definePlugin } from "mg-team";
export default definePlugin({
  name: "talker",
  apply(team) {
    team.hooks.beforeLaunch.tap("talker", (request) => (request.agent === "agent_b" ? { ...request, query: "x".repeat(200_000) } : request));
  },
});
`;
      const spec = { ...team, files: { "talker.ts": plugin }, args: ["--plugin", "./talker.ts"] };
      await using project = createRunProject(spec);
      const { code, stderr } = await runHere(project, argumentsOf(spec));
      expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
      const result: RunResult = JSON.parse(readFileSync(onlyRun(project).result, "utf8"));
      expect(failureOf(result, "agent_b")?.message).toMatch(/too long/);
      expect(result).toMatchObject({ decision: { kind: "consensus", winner: "agent_a" } });
    },
    patience,
  );
});

/** What holds however a run ends that was refused something. Returns its exit code. */
async function refused(
  spec: RunSpec,
  wrapper: (temp: (name: string) => string) => readonly string[],
): Promise<{ code: number | null; stderr: string; hit: string }> {
  await using project = createRunProject(spec);
  const { code, signal, stderr } = await project.cli(argumentsOf(spec), { wrapper: wrapper(project.temp.join) });
  expect(signal).toBeNull();
  await until(() => livingBy(project.temp.path).length === 0, "the end of all processes", 10);
  const sessions = join(project.directory, ".massgen-quality/sessions");
  for (const id of existsSync(sessions) ? readdirSync(sessions) : []) {
    const directory = teamDirectory(join(sessions, id));
    expect(tornFiles(directory)).toEqual([]);
    const result: RunResult | null = existsSync(directory.result) ? JSON.parse(readFileSync(directory.result, "utf8")) : null;
    if (result) expect(result.exit_code as number | null).toBe(code);
    if (code === 0) {
      expect(result?.answer).toBe("An answer, number 1");
      expect(linesOf(readFileSync(directory.journal, "utf8")).at(-1)?.type).toBe("run.finished");
    }
  }
  const trace = project.temp.join("trace");
  const hit = existsSync(trace) ? (/.*\(INJECTED\)/.exec(readFileSync(trace, "utf8"))?.[0] ?? "") : "";
  return { code, stderr, hit };
}

describe("a system that refuses (fault 13)", () => {
  test(
    "the k-th process with EAGAIN: that attempt fails, the next one does not, and the run ends well",
    async () => {
      const codes: (number | null)[] = [];
      for (const k of [1, 2, 3, 4]) {
        const inject = ["-e", "trace=vfork", "-e", `inject=vfork:error=EAGAIN:when=${k}`];
        const { code, stderr, hit } = await refused(pair, (join) => ["strace", "-qq", "-o", join("trace"), ...inject]);
        expect(hit).toContain("EAGAIN");
        codes.push(code);
        expect(stderr).toContain("the system refuses another process");
      }
      expect(codes).toEqual([0, 0, 0, 0]);
    },
    patience,
  );

  test(
    "every process from the k-th on: no crash, no hang, the answers so far decide",
    async () => {
      const codes: (number | null)[] = [];
      for (const k of [1, 2, 3, 4]) {
        const inject = ["-e", "trace=vfork", "-e", `inject=vfork:error=EAGAIN:when=${k}+`];
        const { code, stderr } = await refused(pair, (join) => ["strace", "-qq", "-o", join("trace"), ...inject]);
        codes.push(code);
        expect(stderr).toContain("the system refuses another process");
      }
      expect(codes).toEqual([5, 0, 0, 0]);
    },
    patience,
  );

  test(
    "files beyond a limit (EMFILE), at any limit: exit 0, or the cause in words",
    async () => {
      const codes: Record<string, number | null> = {};
      for (const limit of [12, 14, 16, 18, 20, 22, 40]) {
        const { code, stderr } = await refused(team, () => ["/bin/sh", "-c", `ulimit -n ${limit}; exec "$@"`, "sh"]);
        codes[limit] = code;
        if (limit <= 20) expect(stderr).toMatch(/too many open files/);
        expect([0, 3, 5, 7]).toContain(code ?? -1);
      }
      console.error(`exit codes by ulimit -n: ${JSON.stringify(codes)}`);
      expect(codes[40]).toBe(0);
    },
    patience,
  );
});
