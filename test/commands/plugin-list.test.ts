import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { builtIns } from "../../plugins/index.ts";
import { widest } from "../cli/support.ts";
import { pluginText } from "../support/outside-plugin.ts";
import { createProject, type TestProject } from "../support/project.ts";

// `mg-team plugin list`: what a run here would load.

const names = builtIns.map(({ name }) => name);

/** A file that leaves a trace when it is run. */
function traced(name: string): string {
  return pluginText(name, "", `import { writeFileSync } from "node:fs";\nwriteFileSync("ran-${name}", "");`);
}

function listing(files: Readonly<Record<string, string>>): TestProject {
  const project = createProject({ layout: "none" });
  for (const [name, text] of Object.entries(files)) project.temp.write(`project/${name}`, text);
  return project;
}

async function list(project: TestProject, ...argv: string[]) {
  const { code, stdout, stderr } = await project.cli(["plugin", "list", "--json", ...argv]);
  return { code, stderr, ...JSON.parse(stdout) };
}

const ran = (project: TestProject, name: string) => existsSync(join(project.directory, `ran-${name}`));

describe("mg-team plugin list", () => {
  test("shows the built-in plugins with what they do and tap, in their order", async () => {
    await using project = listing({});
    const { code, version, ready, config, plugins, stderr } = await list(project);
    expect([code, stderr, version, ready, config]).toEqual([0, "", 1, true, null]);
    expect(plugins.map(({ name }: { name: string }) => name)).toEqual(names);
    expect(Object.fromEntries(plugins.map(({ name, hooks }: { name: string; hooks: string[] }) => [name, hooks]))).toEqual({
      "stale-votes": ["onConsensus"],
      majority: ["onConsensus"],
      budget: ["beforeLaunch", "onConsensus", "onEvent"],
      timeout: ["beforeLaunch", "onConsensus"],
      "agent-synthesis": ["onSynthesis", "onEvent"],
      checks: ["onSynthesis", "onEvent"],
      "markdown-synthesis": ["onSynthesis"],
    });
    for (const { summary } of plugins) expect(summary).toMatch(/^[A-Z].*[^.]$/);
    const text = await project.cli(["plugin", "list"]);
    expect([text.code, text.stderr]).toEqual([0, ""]);
    expect(text.stdout).toStartWith("Built in\n  stale-votes");
    expect(text.stdout).toEndWith("\nThere are no others here. To write one: mg-team plugin new my-report\n");
    expect(widest(text.stdout)).toBeLessThanOrEqual(80);
  });

  test("does not run a file that is not trusted, and says what to type", async () => {
    await using project = listing({ "mg-team.yaml": "plugins: [./p/mine.ts]\n", "p/mine.ts": traced("mine") });
    const before = await list(project);
    expect([before.code, before.ready, ran(project, "mine")]).toEqual([3, false, false]);
    expect(before.plugins.slice(names.length)).toEqual([
      {
        name: null,
        source: "file",
        file: join(project.directory, "p/mine.ts"),
        summary: null,
        hooks: null,
        trust: "unknown",
        state: "untrusted",
        problem: { message: "is not trusted yet", hint: "Look at it, then type: mg-team trust" },
      },
    ]);
    const text = await project.cli(["plugin", "list"]);
    expect([text.code, ran(project, "mine")]).toEqual([3, false]);
    expect(text.stdout).toContain("From mg-team.yaml\n  p/mine.ts");
    expect(text.stdout).toContain("Look at it, then type: mg-team trust\n");
    expect(text.stdout).toEndWith("\nA run here would be refused until that is put right.\n");

    expect((await project.cli(["trust"])).code).toBe(0);
    const trusted = await list(project);
    expect([trusted.code, trusted.ready, ran(project, "mine")]).toEqual([0, true, true]);
    expect(trusted.plugins.at(-1)).toMatchObject({ name: "mine", trust: "trusted", state: "ready", problem: null });

    project.temp.write("project/p/mine.ts", traced("changed"));
    const changed = await list(project);
    expect([changed.code, ran(project, "changed")]).toEqual([3, false]);
    expect(changed.plugins.at(-1)).toMatchObject({
      name: null,
      trust: "changed",
      problem: { message: "has changed since you trusted it" },
    });
  });

  test("names file and cause of each that cannot be loaded, and goes on with the next", async () => {
    await using project = listing({
      "syntax.ts": "export const x = ;\n",
      "none.ts": "export const x = 1;\n",
      "exits.ts": "process.exit(97);\n",
      "stray.ts": `${pluginText("stray", "")}\nPromise.reject(new Error("nobody waits"));\n`,
      "loud.ts": pluginText("loud", "", 'console.log("loud");'),
    });
    const files = ["syntax", "none", "exits", "stray", "loud"];
    const { code, plugins, stderr } = await list(project, ...files.flatMap((name) => ["--plugin", `./${name}.ts`]));
    expect(code).toBe(3);
    const own = plugins.slice(names.length);
    const message = (index: number) => own[index].problem.message;
    expect(message(0)).toStartWith(`plugin ${join(project.directory, "syntax.ts")} cannot be loaded: line 1: Unexpected ;`);
    expect(message(1)).toBe(`plugin ${join(project.directory, "none.ts")} has no plugin as its default export`);
    expect(message(2)).toStartWith(`plugin ${join(project.directory, "exits.ts")} cannot be loaded: it called process.exit(97)`);
    expect(own.slice(3).map(({ name, state, source, trust }: Record<string, unknown>) => [name, state, source, trust])).toEqual([
      ["stray", "ready", "flag", null],
      ["loud", "ready", "flag", null],
    ]);
    expect(stderr.trim().split("\n").sort()).toEqual(["loud", "mg-team: warning: a plugin leaves an error behind: nobody waits"]);
    const text = await project.cli(["plugin", "list", "--plugin", "./none.ts"]);
    expect([text.code, text.stdout]).toEqual([3, expect.stringContaining("plugin none.ts has no plugin as its default export\n")]);
  });

  test("checks the options that mg-team.yaml gives", async () => {
    const plugin = `import { definePlugin } from "mg-team";\nimport { z } from "zod";
      export default definePlugin({ name: "csv", summary: "Writes\\n\\u001b[2Jcosts", options: z.object({ file: z.string() }), apply() {} });`;
    await using project = listing({ "mg-team.yaml": "plugins: [{ path: ./csv.ts, options: { flie: x } }]\n", "csv.ts": plugin });
    await project.cli(["trust"]);
    const wrong = await list(project);
    expect([wrong.code, wrong.plugins.at(-1).problem.message]).toEqual([3, expect.stringContaining("was given wrong options: ")]);
    project.temp.write("project/mg-team.yaml", "plugins: [{ path: ./csv.ts, options: { file: x } }]\n");
    await project.cli(["trust"]);
    expect((await list(project)).code).toBe(0);
    const { stdout } = await project.cli(["plugin", "list"]);
    expect(stdout).toMatch(/\n {2}csv +Writes ␛\[2Jcosts\n/);
    expect(stdout).toContain(" csv.ts (trusted)\n");
  });

  test("shows two of one name, and who is left out", async () => {
    await using project = listing({ "a.ts": pluginText("checks", ""), "b.ts": pluginText("mine", "") });
    const both = await list(project, "--plugin", "./a.ts");
    expect([both.code, both.plugins.at(-1).problem.message]).toEqual([
      3,
      `two plugins are named checks: built in and ${join(project.directory, "a.ts")}`,
    ]);
    const without = await list(project, "--plugin", "./a.ts", "--plugin", "./b.ts", "--without-plugin", "checks");
    expect([without.code, without.ready]).toEqual([0, true]);
    const left = without.plugins.filter(({ state }: { state: string }) => state === "left_out");
    expect(left.map(({ name }: { name: string }) => name)).toEqual(["checks", "checks"]);
    const unknown = await project.cli(["plugin", "list", "--without-plugin", "chekcs"]);
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining("Did you mean checks?")]);
  });

  test("is about the file that --config or MG_TEAM_CONFIG names", async () => {
    await using project = listing({ "other/team.yaml": "plugins: [./mine.ts]\n", "other/mine.ts": traced("mine") });
    const flag = await list(project, "--config", "other/team.yaml");
    expect([flag.code, flag.config, flag.plugins.at(-1).problem.hint]).toEqual([
      3,
      join(project.directory, "other/team.yaml"),
      "Look at it, then type: mg-team trust --config other/team.yaml",
    ]);
    const variable = await project.cli(["plugin", "list"], { env: { MG_TEAM_CONFIG: "other/team.yaml" } });
    expect([variable.code, variable.stdout]).toEqual([3, expect.stringContaining("From other/team.yaml\n")]);
    expect(ran(project, "mine")).toBe(false);
  });

  test("refuses what a run would refuse of the configuration", async () => {
    await using project = listing({ "mg-team.yaml": "plugins: [./gone.ts]\n" });
    const { code, stderr } = await project.cli(["plugin", "list"]);
    expect([code, stderr]).toEqual([3, expect.stringContaining("gone.ts")]);
    await using bare = listing({});
    const flag = await bare.cli(["plugin", "list", "--plugin", "./gone.ts"]);
    expect([flag.code, flag.stderr]).toEqual([2, expect.stringContaining('--plugin: there is no file "./gone.ts"')]);
  });
});
