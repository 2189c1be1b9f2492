import { beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { compiledProgram } from "../support/binary.ts";
import type { CliResult } from "../support/cli.ts";
import { runCommand } from "../support/command.ts";
import type { TestProject } from "../support/project.ts";
import { argumentsOf, createRunProject, inTurn, patience, type RunSpec } from "../support/runs.ts";
import { temporaryDirectory } from "../support/temp.ts";
import { install, typeCheck } from "../support/type-check.ts";

// `mg-team plugin new` and `mg-team plugin types`.

const agree = "answer, vote a";
const team: RunSpec = { plays: { a: agree, b: agree } };
let program = "";
beforeAll(async () => {
  program = await compiledProgram();
}, 120_000);

const ways: [title: string, start: (project: TestProject, argv: readonly string[]) => Promise<CliResult>][] = [
  ["from source", (project, argv) => project.cli(argv)],
  ["compiled", startCompiled],
];

async function startCompiled(project: TestProject, argv: readonly string[]): Promise<CliResult> {
  const child = Bun.spawn([program, ...argv], {
    cwd: project.directory,
    env: project.env,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { code: await child.exited, signal: null, stdout, stderr };
}

describe.each(ways)("a new plugin, %s,", (_, start) => {
  test(
    "reports the costs and votes of a run in its file, at once",
    () =>
      inTurn(async () => {
        await using project = createRunProject(team);
        const made = await start(project, ["plugin", "new", "my-report"]);
        expect([made.code, made.stderr]).toEqual([0, ""]);
        expect(made.stdout).toStartWith(
          'Written: plugins/my-report.ts\n         plugins/mg-team.d.ts, the types of "mg-team" for your editor\n',
        );
        expect(made.stdout).toContain('\n  mg-team "QUERY" --plugin ./plugins/my-report.ts\n');
        const ran = await start(project, argumentsOf({ ...team, args: ["--json", "--plugin", "./plugins/my-report.ts"] }));
        expect([ran.code, ran.code === 0 ? "" : ran.stderr]).toEqual([0, ""]);
        const { session_id: id, plugins, cost } = JSON.parse(ran.stdout);
        const usd = (agent: string) => cost.by_agent[agent].usd;
        const path = join(project.directory, "my-report.csv");
        expect(readFileSync(path, "utf8")).toBe(
          `run,agent,model,votes,won,usd\n${id},agent_a,grok/model-a,2,yes,${usd("agent_a")}\n${id},agent_b,grok/model-b,0,no,${usd("agent_b")}\n`,
        );
        expect(plugins["my-report"]).toEqual({ file: path });
        expect(ran.stderr).toContain("my-report: 2 agents, ");
      }),
    patience,
  );

  test(
    "runs from mg-team.yaml with its options once it is trusted, and adds to what is there",
    () =>
      inTurn(async () => {
        const yaml = "plugins: [{ path: ./plugins/my-report.ts, options: { file: reports/costs.csv } }]\n";
        const twice = "answer, vote a, answer, vote a";
        await using project = createRunProject({ plays: { a: twice, b: twice } });
        await start(project, ["plugin", "new", "my-report"]);
        project.temp.write("project/mg-team.yaml", yaml);
        expect((await start(project, ["trust"])).code).toBe(0);
        const listed = await start(project, ["plugin", "list"]);
        expect([listed.code, listed.stdout]).toEqual([0, expect.stringContaining(" plugins/my-report.ts (trusted)\n")]);
        // Types run nowhere: to renew them needs no new consent.
        project.temp.write("project/plugins/mg-team.d.ts", "");
        for (let run = 0; run < 2; run++) expect((await start(project, argumentsOf(team))).code).toBe(0);
        const lines = readFileSync(join(project.directory, "reports/costs.csv"), "utf8").trimEnd().split("\n");
        expect(lines.map((line) => line.split(",")[1])).toEqual(["agent", "agent_a", "agent_b", "agent_a", "agent_b"]);
      }),
    patience,
  );

  test("and its types are what the sources have", async () => {
    await using project = createRunProject(team);
    const { code, stdout } = await start(project, ["plugin", "types", "--stdout"]);
    expect([code, readdirSync(project.directory)]).toEqual([0, []]);
    expect(stdout).toBe(readFileSync(join(import.meta.dir, "../../src/commands/plugin/mg-team.d.ts.txt"), "utf8"));
  });
});

describe("a new plugin's file", () => {
  test.each([
    ["without node_modules", []],
    ["with zod and tapable installed", ["zod", "tapable"]],
  ])(
    "is right for the strictest compiler %s",
    async (_, packages) => {
      await using temp = temporaryDirectory();
      expect((await runCommand(["plugin", "new", "csv-costs"], { cwd: temp.path })).code).toBe(0);
      for (const name of packages) install(temp, name);
      const file = temp.join("plugins/csv-costs.ts");
      expect(await typeCheck(temp, [file], packages.length > 0 ? { lib: ["esnext", "dom"] } : {})).toBe("");
      // It is the types that say so: one wrong word is found.
      temp.write("plugins/wrong.ts", readFileSync(file, "utf8").replace("decision", "decisoin"));
      expect(await typeCheck(temp, ["plugins/wrong.ts"], { skipLibCheck: true })).toContain("decisoin");
    },
    60_000,
  );

  test("imports only what comes with mg-team and Node, and says its name everywhere", async () => {
    await using temp = temporaryDirectory();
    await runCommand(["plugin", "new", "x"], { cwd: temp.path });
    const text = readFileSync(temp.join("plugins/x.ts"), "utf8");
    expect([...text.matchAll(/^import .* from "(.*)";$/gm)].map((match) => match[1])).toEqual(["node:fs", "node:path", "mg-team", "zod"]);
    expect(text).not.toMatch(/NAME|PATH|REFERENCE/);
    expect(text).toContain('  name: "x",\n');
  });

  test("finds the types wherever the project has them, and a second copy is not written", async () => {
    await using temp = temporaryDirectory();
    const make = async (name: string, ...args: string[]) => {
      const { code, stdout } = await runCommand(["plugin", "new", name, ...args], { cwd: temp.path });
      const [, file = ""] = /^Written: (.*)$/m.exec(stdout) ?? [];
      return [code, readFileSync(temp.join(file), "utf8").split("\n")[0], await typeCheck(temp, [file])];
    };
    expect(await make("one")).toEqual([0, '/// <reference path="./mg-team.d.ts" />', ""]);
    expect(await make("two", "--dir", "plugins/more")).toEqual([0, '/// <reference path="../mg-team.d.ts" />', ""]);
    expect(await make("three", "--dir", "my tools")).toEqual([0, '/// <reference path="../plugins/mg-team.d.ts" />', ""]);
    expect([existsSync(temp.join("plugins/more/mg-team.d.ts")), readdirSync(temp.join("my tools"))]).toEqual([false, ["three.ts"]]);
  }, 60_000);

  test("in a place with a space is named as a shell and as YAML need it", async () => {
    await using temp = temporaryDirectory();
    const { stdout } = await runCommand(["plugin", "new", "three", "--dir", "my tools"], { cwd: temp.path });
    expect(stdout).toContain('--plugin "./my tools/three.ts"\n');
    expect(stdout).toContain('plugins: ["./my tools/three.ts"]\n');
    expect(readFileSync(temp.join("my tools/three.ts"), "utf8")).toContain('path: "./my tools/three.ts", options');
  });
});

describe("mg-team plugin new", () => {
  test("never overwrites anything", async () => {
    await using temp = temporaryDirectory();
    temp.write("plugins/mine.ts", "my work");
    temp.write("plugins/mg-team.d.ts", "my types");
    symlinkSync("nowhere", temp.join("plugins/link.ts"));
    for (const name of ["mine", "link"]) {
      const { code, stdout, stderr } = await runCommand(["plugin", "new", name], { cwd: temp.path });
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toStartWith(`mg-team: plugins/${name}.ts exists already, so nothing was written\n`);
      expect(stderr).toContain(`mg-team plugin new ${name}-2\n`);
    }
    expect((await runCommand(["plugin", "new", "other"], { cwd: temp.path })).code).toBe(0);
    expect(readFileSync(temp.join("plugins/mine.ts"), "utf8")).toBe("my work");
    expect(readFileSync(temp.join("plugins/mg-team.d.ts"), "utf8")).toBe("my types");
    expect(readdirSync(temp.join("plugins")).sort()).toEqual(["link.ts", "mg-team.d.ts", "mine.ts", "other.ts"]);
  });

  test.each([
    ["My Report", "my-report"],
    ["plugins/costReport.ts", "cost-report"],
    ["../evil", "evil"],
    ["UPPER", "upper"],
    ["two--dashes", "two-dashes"],
    ["7up", "up"],
    ["é", "my-report"],
    ["", "my-report"],
    ["budget.ts", "my-report"],
  ])("refuses the name %p and offers %p", async (name, better) => {
    await using temp = temporaryDirectory();
    const { code, stdout, stderr } = await runCommand(["plugin", "new", name], { cwd: temp.path });
    expect([code, stdout, readdirSync(temp.path)]).toEqual([2, "", []]);
    expect(stderr).toStartWith("mg-team: NAME must be lower-case words with dashes, not");
    expect(stderr).toContain(`For example: mg-team plugin new ${better}\n`);
  });

  test.each([
    [["new"], "mg-team plugin new needs NAME: lower-case words with dashes"],
    [["new", "budget"], '"budget" is the name of a built-in plugin'],
    [["new", "a", "b"], "takes 2 arguments; "],
    [["new", "a", "--stdout"], "--stdout is for mg-team plugin types, not for new"],
    [["new", "a", "--plugin", "x"], "--plugin is for mg-team plugin list, not for new"],
    [["list", "--dir", "x"], "--dir is for mg-team plugin new or types, not for list"],
    [["list", "x"], 'mg-team plugin list takes no arguments; "x" is too much'],
    [["types", "--stdout", "--dir", "x"], "--dir and --stdout exclude each other"],
    [[], "mg-team plugin needs ACTION: new, list or types"],
    [["lsit"], 'ACTION must be new, list, or types, not "lsit"\n  Did you mean: mg-team plugin list\n'],
    [["ideas"], 'To ask the models about it: mg-team run "plugin ideas"\n'],
    [["new", "a", "--dri", "x"], "Did you mean --dir?"],
  ])("%p is refused with what to type", async (argv, message) => {
    await using temp = temporaryDirectory();
    const { code, stdout, stderr } = await runCommand(["plugin", ...argv], { cwd: temp.path });
    expect([code, stdout, readdirSync(temp.path)]).toEqual([2, "", []]);
    expect(stderr).toContain(message);
    expect(stderr).toContain("mg-team plugin");
  });

  test("says what keeps it from writing", async () => {
    await using temp = temporaryDirectory();
    temp.write("plugins", "a file");
    const { code, stderr } = await runCommand(["plugin", "new", "a"], { cwd: temp.path });
    expect(code).toBe(7);
    expect(stderr).toStartWith("mg-team: cannot make the directory ");
  });
});

describe("mg-team plugin types", () => {
  test("renews its own file, and says so to who makes a new plugin beside an old one", async () => {
    await using temp = temporaryDirectory();
    const types = (...argv: string[]) => runCommand(["plugin", "types", ...argv], { cwd: temp.path });
    expect((await types()).stdout).toStartWith("Written: plugins/mg-team.d.ts\n");
    const now = readFileSync(temp.join("plugins/mg-team.d.ts"), "utf8");
    expect((await types()).stdout).toStartWith("Up to date: plugins/mg-team.d.ts\n");
    temp.write("plugins/mg-team.d.ts", now.replace("interface Team ", "interface OldTeam "));
    const made = await runCommand(["plugin", "new", "a"], { cwd: temp.path });
    expect(made.stdout).toContain(
      "plugins/mg-team.d.ts is of another version of mg-team. To renew it: mg-team plugin types --dir plugins\n",
    );
    expect((await types("--dir", "plugins")).stdout).toStartWith("Written: plugins/mg-team.d.ts\n");
    expect(readFileSync(temp.join("plugins/mg-team.d.ts"), "utf8")).toBe(now);
  });

  test("leaves a file of that name alone that is not its own", async () => {
    await using temp = temporaryDirectory();
    temp.write("a/mg-team.d.ts", "mine");
    mkdirSync(temp.join("b/mg-team.d.ts"), { recursive: true });
    for (const directory of ["a", "b"]) {
      const { code, stdout, stderr } = await runCommand(["plugin", "types", "--dir", directory], { cwd: temp.path });
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toContain(`${directory}/mg-team.d.ts was not written by mg-team, so it stays as it is\n`);
    }
    expect(readFileSync(temp.join("a/mg-team.d.ts"), "utf8")).toBe("mine");
  });
});
