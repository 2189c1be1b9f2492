import { describe, expect, test } from "bun:test";
import type { StepSpec } from "../../../src/engine/engine.ts";
import type { MassgenInstall } from "../../../src/engine/massgen/install.ts";
import { namesReference, stepCommand } from "../../../src/engine/massgen/step-command.ts";
import { TeamError } from "../../../src/errors.ts";
import { temporaryDirectory } from "../../support/temp.ts";

const flags = ["--step", "--automation", "--eval-criteria", "--stream-events", "--no-parse-at-references", "--no-session-registry"];
const installed = (argv: readonly string[] = ["/opt/massgen"], has: readonly string[] = flags): MassgenInstall => ({
  argv,
  version: "0.1.97",
  flags: new Set(has),
  source: "test",
});

const step = (more: Partial<StepSpec> = {}): StepSpec => ({
  agent: { id: "agent_a", model: "grok/x", backend: "grok", modelName: "x" },
  query: "Say hello",
  sessionDir: "/team/session",
  configPath: "/team/configs/agent_a_step.yaml",
  criteriaPath: null,
  runDir: "/team/runs/agent_a/r1",
  args: [],
  env: {},
  timeoutSeconds: null,
  ...more,
});

describe("the command of a step", () => {
  test("has every option in its place and the query last", () => {
    const { argv, cwd } = stepCommand(
      installed(["/bin/bash", "/p/run massgen.sh"]),
      step({ criteriaPath: "/c.json", args: ["--debug"] }),
      {},
    );
    expect(argv).toEqual(
      ["/bin/bash", "/p/run massgen.sh", "--step", "--session-dir", "/team/session", "--config", "/team/configs/agent_a_step.yaml"].concat(
        ["--eval-criteria", "/c.json", "--automation", "--stream-events", "--no-parse-at-references", "--no-session-registry"],
        ["--debug", "--", "Say hello"],
      ),
    );
    expect(cwd).toBe("/team/runs/agent_a/r1");
  });

  test("uses only options that this MassGen has", () => {
    const { argv } = stepCommand(installed(["/m"], ["--step"]), step(), {});
    expect(argv.slice(argv.indexOf("--automation"))).toEqual(["--automation", "--", "Say hello"]);
  });

  test.each(["-5 + 3", "--help", "--", "@types/node", 'a\nb "c" $(d) `e` \\', " ", "é 👍"])("carries %j as it is", (query) => {
    expect(stepCommand(installed(), step({ query }), {}).argv.slice(-2)).toEqual(["--", query]);
  });

  test("is refused where an old MassGen would take a word for a file", () => {
    const old = installed(["/m"], ["--step"]);
    expect(() => stepCommand(old, step({ query: "Upgrade @types/node" }), {})).toThrow(TeamError);
    expect(() => stepCommand(old, step({ query: "Upgrade @types/node" }), {})).toThrow("has no --no-parse-at-references");
    expect(stepCommand(old, step({ query: "Write to me@example.com" }), {}).argv.at(-1)).toBe("Write to me@example.com");
  });

  test("is refused where an old MassGen cannot take the criteria", () => {
    expect(() => stepCommand(installed(["/m"], ["--step"]), step({ criteriaPath: "/c.json" }), {})).toThrow("has no --eval-criteria");
  });
});

describe("the environment of a step", () => {
  test("is the caller's, without what misleads MassGen, with what the plugin and the engine add", () => {
    const caller = { HOME: "/h", PATH: "/bin", XAI_API_KEY: "k", CLAUDECODE: "1", BUN_OPTIONS: "--x", MASSGEN_LOG_BASE_DIR: "/elsewhere" };
    const { env, added } = stepCommand(installed(), step({ env: { HTTP_PROXY: "p", ENGINE: "step" } }), caller, { ENGINE: "engine" });
    expect(env).toMatchObject({ HOME: "/h", PATH: "/bin", XAI_API_KEY: "k", HTTP_PROXY: "p", ENGINE: "step", PYTHONUNBUFFERED: "1" });
    for (const name of ["CLAUDECODE", "BUN_OPTIONS", "MASSGEN_LOG_BASE_DIR"]) expect(env).not.toHaveProperty(name);
    expect(new Set(added)).toEqual(new Set(["PYTHONUNBUFFERED", "PYTHONUTF8", "HTTP_PROXY", "ENGINE"]));
  });

  test("has the programs beside MassGen's Python last on PATH, for it starts fastmcp from there", async () => {
    await using venv = temporaryDirectory();
    venv.write("bin/python3", "");
    venv.write("bin/fastmcp", "");
    const massgen = venv.write("bin/massgen", `#!${venv.join("bin/python3")}\n`);
    const { env, added } = stepCommand(installed([massgen]), step(), { PATH: "/usr/bin" });
    expect(env.PATH).toBe(`/usr/bin:${venv.join("bin")}`);
    expect(added).toContain("PATH");
    const inPath = { PATH: `${venv.join("bin")}:/usr/bin` };
    expect(stepCommand(installed([massgen]), step(), inPath).env.PATH).toBe(inPath.PATH);
  });

  test("keeps PATH where MassGen's Python is unknown or has no fastmcp", async () => {
    await using venv = temporaryDirectory();
    const massgen = venv.write("bin/massgen", `#!${venv.join("bin/python3")}\n`);
    for (const argv of [[massgen], ["/bin/bash", "/p/run-massgen.sh"]]) {
      expect(stepCommand(installed(argv), step(), { PATH: "/usr/bin" }).env.PATH).toBe("/usr/bin");
    }
  });
});

// Each was given to massgen 0.1.97's PromptParser.
test.each([
  ["Upgrade @types/node", true],
  ["see @src/main.py:w, please", true],
  ['read @"my file.txt"', true],
  ["(@a)", true],
  ["mail me@example.com", false],
  ["a \\@literal", false],
  ["x @ y", false],
  ["plain", false],
  ["foo@bar baz", true],
])("%j names a reference: %p", (query, names) => {
  expect(namesReference(query)).toBe(names);
});
