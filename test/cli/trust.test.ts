import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { temporaryDirectory } from "../support/temp.ts";
import { say } from "./support.ts";

function project() {
  const temp = temporaryDirectory("project");
  temp.write("mg-team.yaml", "plugins: [./plugin.ts]\nmassgen: { command: uvx massgen }\n");
  temp.write("plugin.ts", 'import "./other.ts";');
  temp.write("other.ts", "");
  temp.write(".massgen-quality/environment.json", JSON.stringify({ massgen: { available: true }, api_keys: {}, plugin_dir: "./vendor" }));
  temp.write("vendor/scripts/run-massgen.sh", "");
  mkdirSync(temp.join("../home"));
  const trust = (...argv: string[]) => say(["trust", ...argv], { cwd: temp.path, environment: { HOME: temp.join("../home") } });
  return { temp, trust };
}

test("it lists and records everything that runs programs, and takes it back", async () => {
  const { temp, trust } = project();
  await using _ = temp;
  const before = await trust("--list");
  expect([before.code, before.stderr]).toEqual([0, ""]);
  expect(before.stdout).toContain("Not trusted: mg-team.yaml\n  plugin plugin.ts (2 files)\n  command to start MassGen: uvx massgen\n");
  expect(before.stdout).toContain(
    "Not trusted: vendor/scripts/run-massgen.sh\n  plugin_dir of environment.json: vendor (scripts/run-massgen.sh)\n",
  );
  expect(before.stdout).toContain("mg-team trust\n");
  expect((await trust("--list")).stdout).toBe(before.stdout);

  expect((await trust()).stdout).toContain("Trusted:     mg-team.yaml\n");
  expect((await trust("--list")).stdout).toContain("Trusted:     vendor/scripts/run-massgen.sh\n");

  temp.write("other.ts", "changed");
  expect((await trust("--list")).stdout).toContain("Changed:     mg-team.yaml\n");

  const revoked = await trust("--revoke");
  expect([revoked.code, revoked.stdout]).toEqual([0, "No longer trusted: mg-team.yaml, vendor/scripts/run-massgen.sh\n"]);
  expect((await trust("--revoke")).stdout).toBe("Nothing of this project was trusted.\n");
  expect((await trust("--list")).stdout).toBe(before.stdout);
});

test("it can be read by programs", async () => {
  const { temp, trust } = project();
  await using _ = temp;
  const { trust: subjects } = JSON.parse((await trust("--json")).stdout);
  expect(subjects.map(({ state }: { state: string }) => state)).toEqual(["trusted", "trusted"]);
  expect(subjects[0].items[0]).toEqual({
    kind: "plugin",
    what: "plugin plugin.ts",
    files: [temp.join("plugin.ts"), temp.join("other.ts")],
  });
  expect(JSON.parse((await trust("--revoke", "--json")).stdout).revoked).toHaveLength(2);
});

test("a project without programs has nothing to trust", async () => {
  await using temp = temporaryDirectory();
  temp.write("mg-team.yaml", "retries: 1\n");
  const { code, stdout } = await say(["trust"], { cwd: temp.path, environment: { HOME: temp.path } });
  expect([code, stdout]).toEqual([0, "Nothing here needs your trust: no file of this project names a program.\n"]);
});

test("another file is named by --config, and can be taken back when it is gone or wrong", async () => {
  const { temp, trust } = project();
  await using _ = temp;
  temp.write("../elsewhere/team.yaml", "massgen: { command: uvx massgen }\n");
  expect((await trust("--config", "../elsewhere/team.yaml")).stdout).toContain(`Trusted:     ${temp.join("../elsewhere/team.yaml")}\n`);
  temp.write("../elsewhere/team.yaml", "massgen: [\n");
  expect((await trust("--config", "../elsewhere/team.yaml")).code).toBe(3);
  expect((await trust("--revoke", "--config", "../elsewhere/team.yaml")).stdout).toContain("elsewhere/team.yaml");
});

test("--list and --revoke exclude each other", async () => {
  const { temp, trust } = project();
  await using _ = temp;
  const { code, stderr } = await trust("--list", "--revoke");
  expect([code, stderr]).toEqual([2, expect.stringContaining("exclude each other")]);
});
