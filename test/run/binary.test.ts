import { beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cookieVariable } from "../../src/process/environment.ts";
import { findMarked } from "../../src/process/processes.ts";
import type { RunResult } from "../../src/session/result.ts";
import { compiledProgram } from "../support/binary.ts";
import type { TestProject } from "../support/project.ts";
import { argumentsOf, createRunProject, inTurn, onlyRun, patience, type RunSpec } from "../support/runs.ts";

// The compiled program: in an empty directory, with `env -i` plus what it needs, beside files that would change how Bun starts.

const agree = "answer, vote a";
const team: RunSpec = { plays: { a: agree, b: agree }, args: ["--json"] };
let program = "";
beforeAll(async () => {
  program = await compiledProgram();
}, 120_000);

/** Starts it with nothing in its environment but what is named. */
async function runBinary(project: TestProject, argv: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const { PATH = "", HOME = "", XAI_API_KEY = "", FAKE_MASSGEN_SCRIPT = "", XDG_CACHE_HOME = "" } = project.env;
  const variables = { PATH, HOME, XAI_API_KEY, FAKE_MASSGEN_SCRIPT, XDG_CACHE_HOME, ...environment };
  const words = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  const child = Bun.spawn(["/usr/bin/env", "-i", ...words, program, ...argv], {
    cwd: project.directory,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, stdout, stderr };
}

const plugin = `import { definePlugin } from "mg-team";
import { z } from "zod";
import tapable, { SyncHook } from "tapable";
import { Stage } from "mg-team";
import { shout } from "./lib/shout.ts";
import { twice } from "twice";
export default definePlugin({
  name: "outside",
  options: z.object({ word: z.string().default("done") }),
  apply(team, options) {
    const hook = new SyncHook(["text"]);
    hook.tap("outside", (text: string) => team.log.info(shout(text)));
    team.hooks.onConsensus.tap({ name: "outside", stage: Stage.overrule }, () => {});
    team.hooks.onFinish.tap("outside", (result) => {
      hook.call(options.word);
      result.plugins.outside = { twice: twice(21), hooks: typeof tapable.AsyncSeriesHook };
    });
  },
});
`;
const pluginFiles = {
  "plugins/outside.ts": plugin,
  "plugins/lib/shout.ts": "export const shout = (text: string): string => text.toUpperCase();\n",
  "plugins/node_modules/twice/package.json": '{ "name": "twice", "version": "1.0.0", "main": "index.js" }',
  "plugins/node_modules/twice/index.js": "exports.twice = (n) => 2 * n;\n",
};

describe("the compiled program", () => {
  test.concurrent(
    "runs a team in an empty directory with an empty environment",
    () =>
      inTurn(async () => {
        await using project = createRunProject(team);
        expect(readdirSync(project.directory)).toEqual([]);
        const { code, stdout, stderr } = await runBinary(project, argumentsOf(team));
        expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
        const result: RunResult = JSON.parse(stdout);
        expect(result.decision).toMatchObject({ kind: "consensus", winner: "agent_a" });
        expect(readdirSync(project.directory)).toEqual([".massgen-quality"]);
        for (const { env } of project.launches("step")) {
          expect(Object.keys(env).filter((name) => /^BUN_|^npm_|^NODE_/.test(name))).toEqual([]);
        }
      }),
    patience,
  );

  test.concurrent(
    "runs with an outside plugin that imports mg-team, zod, tapable, a helper and a package of its own",
    () =>
      inTurn(async () => {
        const spec: RunSpec = { ...team, files: pluginFiles, args: ["--json", "--plugin", "./plugins/outside.ts"] };
        await using project = createRunProject(spec);
        const { code, stdout, stderr } = await runBinary(project, argumentsOf(spec));
        expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
        expect(JSON.parse(stdout).plugins.outside).toEqual({ twice: 42, hooks: "function" });
        expect(stderr).toContain("outside: DONE");
      }),
    patience,
  );

  test.concurrent(
    "runs no file for a trusted plugin that its consent does not cover",
    () =>
      inTurn(async () => {
        const files = { ...pluginFiles, "mg-team.yaml": "plugins: [./plugins/outside.ts]\n" };
        await using project = createRunProject({ ...team, files });
        const covered = async (): Promise<string[]> => {
          const { trust } = JSON.parse((await runBinary(project, ["trust", "--json"])).stdout);
          return trust[0].items[0].files.map((file: string) => file.slice(project.directory.length + "/plugins/".length));
        };
        expect((await covered()).sort()).toEqual(["lib/shout.ts", "node_modules/twice/index.js", "outside.ts"]);
        writeFileSync(join(project.directory, "plugins/node_modules/twice/package.json"), '{ "name": "twice", "main": "other.js" }');
        writeFileSync(join(project.directory, "plugins/node_modules/twice/other.js"), "exports.twice = (n) => 3 * n;\n");
        const { code, stdout } = await runBinary(project, argumentsOf(team));
        expect([code, JSON.parse(stdout).error.code]).toEqual([3, "untrusted"]);
        expect(await covered()).toContain("node_modules/twice/other.js");
      }),
    patience,
  );

  test.concurrent(
    "is not moved by a hostile bunfig.toml, .env, tsconfig.json or package.json beside it",
    () =>
      inTurn(async () => {
        const evil = (name: string) => `require("node:fs").writeFileSync(${JSON.stringify(name)}, "");\n`;
        const spec: RunSpec = {
          ...team,
          args: ["--json", "--plugin", "./plugins/outside.ts"],
          files: {
            ...pluginFiles,
            "bunfig.toml": 'preload = ["./preload.js"]\n[run]\npreload = ["./preload.js"]\n',
            "preload.js": evil("preloaded"),
            ".env":
              "BUN_OPTIONS=--preload=./preload.js\nXAI_API_KEY=xai-hostile-000000000000000000\nMG_TEAM_MAX_ROUNDS=1\nPATH=/nowhere\nEVIL=1\n",
            "tsconfig.json":
              '{ "compilerOptions": { "baseUrl": ".", "paths": { "mg-team": ["./hijacked.ts"], "zod": ["./hijacked.ts"] } } }',
            "hijacked.ts": `${evil("hijacked")}export const definePlugin = (x) => x; export const z = {}; export const Stage = {};\n`,
            "package.json": '{ "name": "mg-team", "exports": "./hijacked.ts", "imports": { "#x": "./hijacked.ts" } }',
          },
        };
        await using project = createRunProject(spec);
        const before = readdirSync(project.directory).sort();
        const { code, stdout, stderr } = await runBinary(project, argumentsOf(spec));
        expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
        expect(readdirSync(project.directory).sort()).toEqual([".massgen-quality", ...before].sort());
        const result: RunResult = JSON.parse(stdout);
        expect(result.limits.max_rounds).toBe(5);
        expect(result.plugins.outside).toMatchObject({ twice: 42 });
        for (const { env } of project.launches("step")) {
          expect(env.XAI_API_KEY).toBe(project.env.XAI_API_KEY);
          expect([env.BUN_OPTIONS, env.EVIL, env.MG_TEAM_MAX_ROUNDS]).toEqual([undefined, undefined, undefined]);
          expect(env.PATH).not.toBe("/nowhere");
        }
      }),
    patience,
  );

  test.concurrent(
    "keeps Bun's own switches from its children",
    () =>
      inTurn(async () => {
        await using project = createRunProject(team);
        const { code } = await runBinary(project, argumentsOf(team), { BUN_OPTIONS: "--smol", CLAUDECODE: "1" });
        expect(code).toBe(0);
        for (const { env } of project.launches("step")) expect([env.BUN_OPTIONS, env.CLAUDECODE]).toEqual([undefined, undefined]);
      }),
    patience,
  );

  test.concurrent(
    "says what is missing when it finds no MassGen and no keys",
    () =>
      inTurn(async () => {
        await using project = createRunProject(team);
        const { code, stdout, stderr } = await runBinary(project, argumentsOf({ ...team, args: ["--json", "--engine", "massgen"] }), {
          PATH: "/usr/bin:/bin",
          XAI_API_KEY: "",
        });
        expect(code).toBe(3);
        expect(JSON.parse(stdout).error.code).toBe("preflight");
        expect(stderr).not.toContain("    at ");
        expect(existsSync(join(project.directory, ".massgen-quality/sessions"))).toBe(false);
      }),
    patience,
  );

  test.concurrent(
    "prints version and help without touching anything",
    () =>
      inTurn(async () => {
        await using project = createRunProject(team);
        expect((await runBinary(project, ["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
        expect((await runBinary(project, ["--help"])).stdout).toContain("mg-team");
        expect(readdirSync(project.directory)).toEqual([]);
      }),
    patience,
  );

  test.concurrent(
    "ends a round on Ctrl-C with a forced result and nothing left",
    () =>
      inTurn(async () => {
        const spec: RunSpec = { plays: { a: [{ before: { announce: "hangs", forever: true } }], b: "answer" }, args: ["--json"] };
        await using project = createRunProject(spec);
        mkdirSync(project.temp.join("empty"));
        const child = Bun.spawn([program, ...argumentsOf(spec)], {
          cwd: project.directory,
          env: project.env,
          stdin: "ignore",
          stdout: "pipe",
          stderr: "ignore",
        });
        await project.untilAnnounced("hangs");
        await project.untilLaunched("agent_b");
        const journal = onlyRun(project).journal;
        while (!(await Bun.file(journal).text()).includes('"kind":"new_answer"')) await Bun.sleep(20);
        child.kill("SIGINT");
        const stdout = await new Response(child.stdout).text();
        expect(await child.exited).toBe(130);
        expect(JSON.parse(stdout)).toMatchObject({
          exit_code: 130,
          decision: { kind: "forced", reason: "interrupted", winner: "agent_b" },
        });
        expect(findMarked(cookieVariable, new Set([onlyRun(project).cookie]))).toEqual([]);
      }),
    patience,
  );
});
