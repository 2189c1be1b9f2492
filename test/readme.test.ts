import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { splitCommand } from "../src/text.ts";
import { createProject } from "./support/project.ts";

// Every mg-team command of the README, on the fake MassGen, and the plugin that it shows.

const readme = readFileSync(join(import.meta.dir, "../README.md"), "utf8");
const commands = [...readme.matchAll(/^ *\$ mg-team (.+)$/gm)].map((match) => match[1] ?? "");
const inTables = [...readme.matchAll(/`mg-team ((?:status|sessions|show|report|resume|clean|doctor)\b[^`]*)`/g)].map(
  (match) => match[1] ?? "",
);
const plugin = /```ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? "";
const settings = /```yaml\n([\s\S]*?)```/.exec(readme)?.[1] ?? "";

describe("the README", () => {
  test("names commands that work", async () => {
    expect(commands.length).toBeGreaterThan(3);
    await using project = createProject();
    for (const [name, text] of Object.entries({ "csv-costs.ts": plugin, "task.md": "A task", "src/a.ts": "", "docs/a.md": "" })) {
      project.temp.write(`project/${name}`, text);
    }
    for (const command of commands) {
      const result = await project.cli(splitCommand(command) ?? []);
      expect(`${command}: exit ${result.code}${result.code === 0 ? "" : `, ${result.stderr}`}`).toBe(`${command}: exit 0`);
    }
    expect(readFileSync(join(project.directory, "costs.csv"), "utf8")).toMatch(/^team_\d{8}_\d{6}(_\d+)?,agent_a,0\.\d+$/m);
    expect(readFileSync(join(project.directory, "my-report.csv"), "utf8")).toMatch(/^team_\d{8}_\d{6}(_\d+)?,agent_a,.*,0\.\d+$/m);
    // These look at the runs that the ones above have left. --watch ends only with its run; resume --timeout of a decided run shows it.
    for (const command of inTables.filter((command) => !command.includes("--watch"))) {
      const words = splitCommand(command) ?? [];
      const result = await project.cli(words[0] === "clean" ? [...words, "--yes"] : words);
      expect(`${command}: exit ${result.code}${result.code === 0 ? "" : `, ${result.stderr}`}`).toBe(`${command}: exit 0`);
    }
  }, 120_000);

  test("shows settings that are right", async () => {
    await using project = createProject();
    project.temp.write("project/mg-team.yaml", settings);
    for (const path of ["docs/a.md", "plugins/my-report.ts"]) project.temp.write(`project/${path}`, plugin);
    expect((await project.cli(["trust"])).code).toBe(0);
    const result = await project.cli(["A task", "--dry-run"]);
    expect(result.stderr).not.toContain("mg-team.yaml:");
    expect(result.code).toBe(0);
  });

  test("names files that are there", () => {
    const links = [...readme.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map((match) => match[1] ?? "");
    expect(links.length).toBeGreaterThan(2);
    expect(links.filter((link) => !existsSync(join(import.meta.dir, "..", link)))).toEqual([]);
  });
});
