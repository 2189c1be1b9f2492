import { describe, expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { variableOnly } from "../../src/config/flags.ts";
import { runOptions, variableOf } from "../../src/config/options.ts";
import { resolveConfig, resolveRun } from "../../src/config/resolve.ts";
import type { DraftSettings } from "../../src/config/settings.ts";
import { temporaryDirectory } from "../support/temp.ts";
import { errorOf, lineOf } from "./support.ts";

const noInput = { read: () => Promise.reject(new Error("nothing may be read")) };
const empty = { HOME: "/nowhere" };

function run(argv: readonly string[], environment: Record<string, string> = {}, cwd = "/") {
  return resolveRun(lineOf(...argv), { ...empty, ...environment }, cwd, noInput);
}

const limit = (name: keyof DraftSettings["limits"]) => (settings: DraftSettings) => settings.limits[name];
const setting = (name: keyof DraftSettings) => (settings: DraftSettings) => settings[name];

describe("without anything said", () => {
  test("the defaults are those of the contract", async () => {
    const { settings, output, notes, warnings, ...rest } = await run(["Q"]);
    expect(settings).toEqual({
      query: "Q",
      agents: null,
      limits: {
        maxRounds: 5,
        timeoutSeconds: 1800,
        costBudget: null,
        stepTimeoutSeconds: null,
        retries: 1,
        maxParallel: null,
        allowUnpriced: false,
      },
      docker: "auto",
      context: [],
      criteriaPath: null,
      synthesis: "agent",
      synthesizer: null,
      prices: {},
      ballotFix: "auto",
      engine: "auto",
      massgenCommand: null,
      massgenSource: null,
      report: true,
      projectDir: "/",
    });
    expect(output).toEqual({ mode: "text", quiet: false, verbose: false, color: true, notify: true });
    expect([notes, warnings, rest.plugins, rest.strict, rest.dryRun, rest.refresh]).toEqual([[], [], [], false, false, false]);
  });
});

describe("precedence", () => {
  /** Each setting at each of its sources, with different values: flag, variable, line of the file. */
  const table: readonly (readonly [
    name: string,
    flag: string[],
    variable: [string, string],
    line: string,
    read: (settings: DraftSettings) => unknown,
    values: unknown[],
  ])[] = [
    ["max rounds", ["--max-rounds", "2"], ["MG_TEAM_MAX_ROUNDS", "3"], "max_rounds: 4", limit("maxRounds"), [2, 3, 4]],
    ["timeout", ["--timeout", "2m"], ["MG_TEAM_TIMEOUT", "3m"], "timeout: 4m", limit("timeoutSeconds"), [120, 180, 240]],
    ["step timeout", ["--step-timeout", "2"], ["MG_TEAM_STEP_TIMEOUT", "3"], "step_timeout: 4", limit("stepTimeoutSeconds"), [2, 3, 4]],
    ["budget", ["--cost-budget", "$2"], ["MG_TEAM_COST_BUDGET", "3"], "cost_budget: 4", limit("costBudget"), [2, 3, 4]],
    ["retries", ["--retries", "2"], ["MG_TEAM_RETRIES", "0"], "retries: 4", limit("retries"), [2, 0, 4]],
    ["parallel", ["--max-parallel", "2"], ["MG_TEAM_MAX_PARALLEL", "3"], "max_parallel: 4", limit("maxParallel"), [2, 3, 4]],
    ["docker", ["--no-docker"], ["MG_TEAM_NO_DOCKER", "0"], "docker: off", setting("docker"), ["off", "auto", "off"]],
    [
      "synthesis",
      ["--synthesis", "agent"],
      ["MG_TEAM_SYNTHESIS", "markdown"],
      "synthesis: agent",
      setting("synthesis"),
      ["agent", "markdown", "agent"],
    ],
    ["engine", ["--engine", "native"], ["MG_TEAM_ENGINE", "massgen"], "engine: native", setting("engine"), ["native", "massgen", "native"]],
    [
      "ballot",
      ["--no-ballot-fix"],
      ["MG_TEAM_BALLOT_FIX", "on"],
      "massgen: { ballot_fix: off }",
      setting("ballotFix"),
      ["off", "on", "off"],
    ],
    ["report", ["--no-report"], ["MG_TEAM_REPORT", "yes"], "report: false", setting("report"), [false, true, false]],
    [
      "criteria",
      ["--eval-criteria", "a"],
      ["MG_TEAM_EVAL_CRITERIA", "b"],
      "eval_criteria: ./mg-team.yaml",
      setting("criteriaPath"),
      ["/a", "/b", "/mg-team.yaml"],
    ],
  ];

  test.each(table)("%s: flag, then variable, then file", async (_, flag, [variable, value], line, read, expected) => {
    await using temp = temporaryDirectory();
    temp.write("mg-team.yaml", `${line}\n`);
    const at = async (argv: string[], environment: Record<string, string>) => {
      const found = read((await run(["Q", ...argv], environment, temp.path)).settings);
      return typeof found === "string" ? found.replace(temp.path, "") : found;
    };
    expect([await at(flag, { [variable]: value }), await at([], { [variable]: value }), await at([], {})]).toEqual(expected);
    expect(await at([], { [variable]: "" })).toEqual(expected[2]);
  });

  test("switches and the way of speaking have variables too", async () => {
    const environment = { MG_TEAM_STRICT: "1", MG_TEAM_JSON: "on", MG_TEAM_QUIET: "true", MG_TEAM_DRY_RUN: "yes", MG_TEAM_REFRESH: "no" };
    const { strict, dryRun, refresh, output } = await run(["Q"], environment);
    expect([strict, dryRun, refresh, output]).toEqual([
      true,
      true,
      false,
      { mode: "json", quiet: true, verbose: false, color: true, notify: true },
    ]);
    expect((await run(["Q", "--no-notify"], { MG_TEAM_NOTIFY: "on" })).output.notify).toBe(false);
    expect((await run(["Q"], { MG_TEAM_NOTIFY: "off" })).output.notify).toBe(false);
    const stronger = await run(["Q", "--events", "--verbose"], environment);
    expect(stronger.output).toEqual({ mode: "events", quiet: false, verbose: true, color: true, notify: true });
  });

  test("every option with one value has a variable, and none is unknown", async () => {
    const single = Object.entries(runOptions).filter(([, definition]) => !("onlyHere" in definition));
    const names = [...single.map(([name]) => name), ...Object.keys(variableOnly)].map(variableOf);
    const blank = Object.fromEntries(names.map((name) => [name, ""]));
    expect(names.length).toBeGreaterThan(25);
    expect((await run(["Q"], blank)).warnings).toEqual([]);
    const invalid = Object.fromEntries(names.map((name) => [name, "\u0001"]));
    const { message } = await errorOf(() => resolveConfig(lineOf(), { ...empty, ...invalid }, "/"));
    expect(message).not.toContain("is no setting");
  });

  test.each([
    [{ NO_COLOR: "1" }, [], false],
    [{ NO_COLOR: "" }, [], true],
    [{ TERM: "dumb" }, [], false],
    [{}, ["--no-color"], false],
    [{ MG_TEAM_NO_COLOR: "1" }, [], false],
  ])("colours with %p and %p: %p", async (environment, argv, color) => {
    expect((await run(["Q", ...argv], environment as Record<string, string>)).output.color).toBe(color);
  });
});

describe("values that are not allowed", () => {
  test.each([
    [["--max-rounds", "0"], '--max-rounds must be a whole number, 1 or more, not "0"', "--max-rounds 5"],
    [["--max-rounds", "1.5"], "--max-rounds must be a whole number", "--max-rounds 5"],
    [["--max-rounds", "99999999999999999999"], "--max-rounds must be a whole number", "--max-rounds 5"],
    [["--max-rounds="], "--max-rounds must be a whole number", "--max-rounds 5"],
    [["--timeout", "2x"], "--timeout must be a number of seconds, or a time such as 90s, 30m or 2h", "--timeout 30m"],
    [["--timeout", "0"], "--timeout must be", "--timeout 30m"],
    [["--step-timeout", "-1"], "--step-timeout must be", "--step-timeout 10m"],
    [["--cost-budget", "0"], "--cost-budget must be an amount of US dollars above 0", "--cost-budget 2.50"],
    [["--cost-budget", "1e3"], "--cost-budget must be", "--cost-budget 2.50"],
    [["--retries", "-1"], "--retries must be a whole number, 0 or more", "--retries 1"],
    [["--max-parallel", "all"], "--max-parallel must be a whole number, 1 or more", "--max-parallel 2"],
    [["--synthesis", "both"], "--synthesis must be agent or markdown", "--synthesis markdown"],
    [["--engine", "x"], "--engine must be auto or massgen or native", "--engine massgen"],
    [["--massgen", "'open"], "--massgen must be a command that starts MassGen", "--massgen massgen"],
    [["--massgen", ""], "--massgen must be a command", "--massgen massgen"],
    [["--eval-criteria", ""], "--eval-criteria must be the path of a JSON file", "--eval-criteria criteria.json"],
    [["--context", "/nope"], '--context: there is nothing at "/nope"', "--context ./src:rw"],
    [["--context", ""], '--context: there is nothing at ""', "--context ./src:rw"],
    [["--plugin", "nope.ts"], '--plugin: there is no file "nope.ts"', "--plugin ./my-plugin.ts"],
    [["--config", "nope.yaml"], '--config: there is no file "nope.yaml"', "mg-team.yaml"],
    [["--json", "--events"], "--json and --events exclude each other", "--json"],
    [["--quiet", "--verbose"], "--quiet and --verbose exclude each other", "--quiet"],
  ])("flags %p exit 2", async (argv, message, hint) => {
    const error = await errorOf(() => run(["Q", ...argv]));
    expect([error.code, error.exitCode]).toEqual(["usage", 2]);
    expect(error.message).toStartWith(message);
    expect(error.hint).toContain(hint);
  });

  test.each([
    [{ MG_TEAM_TIMEOUT: "soon" }, "MG_TEAM_TIMEOUT must be a number of seconds", "MG_TEAM_TIMEOUT=30m"],
    [{ MG_TEAM_STRICT: "maybe" }, 'MG_TEAM_STRICT must be 1 or 0, not "maybe"', "MG_TEAM_STRICT=1"],
    [{ MG_TEAM_DOCKER: "on" }, "MG_TEAM_DOCKER must be auto or off", "MG_TEAM_DOCKER=off"],
    [{ MG_TEAM_MODELS: "codex, gemni" }, 'MG_TEAM_MODELS: there is no model "gemni"', "gemini"],
    [{ MG_TEAM_SYNTHESIZER: "nobody" }, 'MG_TEAM_SYNTHESIZER: there is no model "nobody"', "codex"],
    [{ MG_TEAM_CONFIG: "nope.yaml" }, 'MG_TEAM_CONFIG: there is no file "nope.yaml"', "MG_TEAM_CONFIG"],
    [{ MG_TEAM_JSON: "1", MG_TEAM_EVENTS: "1" }, "MG_TEAM_JSON and MG_TEAM_EVENTS exclude each other", "MG_TEAM_JSON=1"],
  ])("variables %p exit 3", async (environment, message, hint) => {
    const error = await errorOf(() => run(["Q"], environment as Record<string, string>));
    expect([error.code, error.exitCode]).toEqual(["config", 3]);
    expect(error.message).toStartWith(message);
    expect(error.hint).toContain(hint);
  });

  test("several are reported together", async () => {
    const { message } = await errorOf(() => run(["Q", "--timeout", "x", "--retries", "y"]));
    expect(message).toContain("--timeout must be");
    expect(message).toContain("--retries must be");
  });
});

describe("warnings", () => {
  test("an unknown variable is named with the nearest one; ours and blank ones are not", async () => {
    const environment = { MG_TEAM_TIMOUT: "5", MG_TEAM_COOKIE: "x", MG_TEAM_ZZZZ: "1", MG_TEAM_YYYY: "", MG_OTHER: "1" };
    const { warnings } = await run(["Q"], environment);
    expect(warnings).toEqual([
      "MG_TEAM_TIMOUT is no setting of mg-team and is ignored; did you mean MG_TEAM_TIMEOUT?",
      "MG_TEAM_ZZZZ is no setting of mg-team and is ignored",
    ]);
  });

  test("what has no effect, and what reaches out of the project, is said", async () => {
    await using temp = temporaryDirectory();
    temp.write("project/mg-team.yml", "retries: 1");
    temp.write("outside/a", "");
    const project = temp.join("project");
    expect((await run(["Q", "--step-timeout", "1h"], {}, project)).warnings).toEqual([
      "the step timeout of 1h has no effect: the whole run ends after 30m",
      "mg-team.yml is not read; rename it to mg-team.yaml",
    ]);
    temp.write("project/mg-team.yaml", "context: [../outside:rw, ./mg-team.yml:rw, ../outside]\n");
    expect((await run(["Q"], {}, project)).warnings).toEqual([
      `mg-team.yaml lets the models change files outside of this project: ${temp.join("outside")}`,
      `mg-team.yaml lets the models read files outside of this project: ${temp.join("outside")}`,
    ]);
    symlinkSync(temp.join("outside"), temp.join("project/inside"));
    // A flag is the user's own word.
    for (const path of ["./inside:rw", "./inside"]) expect((await run(["Q", "--context", path], {}, project)).warnings).toEqual([]);
  });
});

describe("paths", () => {
  test("flags start at the working directory, files at their own, and ~ is the home directory", async () => {
    await using temp = temporaryDirectory("with space");
    temp.write("docs/a", "");
    temp.write("bin/massgen", "");
    temp.write("plug.ts", "");
    const { settings, plugins, withoutPlugins } = await run(
      [
        "Q",
        "--context",
        "docs",
        "--context=./docs:rw",
        "--massgen",
        "./bin/massgen --fast",
        "--plugin",
        "plug.ts",
        "--without-plugin",
        "checks",
      ],
      {},
      temp.path,
    );
    expect(settings.context).toEqual([
      { path: temp.join("docs"), permission: "read" },
      { path: temp.join("docs"), permission: "write" },
    ]);
    expect([settings.massgenCommand, settings.massgenSource]).toEqual([`"${temp.join("bin/massgen")}" --fast`, "--massgen"]);
    expect(plugins).toEqual([{ path: temp.join("plug.ts"), source: "flag" }]);
    expect(withoutPlugins).toEqual(["checks"]);
    expect((await run(["Q", "--massgen", "uvx massgen"], {}, temp.path)).settings.massgenCommand).toBe("uvx massgen");
    expect((await run(["Q", "--eval-criteria", "~/c.json"], {}, temp.path)).settings.criteriaPath).toEndWith("/c.json");
    expect((await run(["Q", "--eval-criteria", "~/c.json"], {}, temp.path)).settings.criteriaPath).not.toContain("~");
  });
});

describe("who takes part", () => {
  const backends = async (argv: readonly string[], environment: Record<string, string> = {}, cwd = "/") => {
    const { settings, notes } = await run(argv, environment, cwd);
    return [settings.agents?.map(({ id, backend }) => `${id} ${backend}`).join() ?? null, notes.join("|")];
  };

  test.each([
    [["Q", "--models", "codex", "grok"], "agent_a codex,agent_b grok", "(from --models)"],
    [["Q", "--models=codex,codex"], "agent_a codex,agent_b codex", "(from --models)"],
    [["Q", "--models", "codex", "--models", "grok", "claude"], "agent_a codex,agent_b grok,agent_c claude", "(from --models)"],
    [["Q", "with", "codex", "and", "grok"], "agent_a codex,agent_b grok", "(named after the query)"],
    [["Do it with codex and grok"], "agent_a codex,agent_b grok", '(named in the query, "with codex and grok"; --literal'],
    [["Do it with codex and grok", "--literal"], null, ""],
    [["Do it with codex and grok", "--models", "claude", "gemini"], "agent_a claude,agent_b gemini", "(from --models)"],
    [["Q", "with", "codex", "grok", "--models", "claude", "gemini"], "agent_a claude,agent_b gemini", "--models was given"],
    [["Compare codex with gemini"], null, ""],
    [["Do it with codex and gemni"], null, '"gemni" in the query is no model; did you mean gemini?'],
  ])("%p → %p", async (argv, agents, note) => {
    const [found, notes] = await backends(argv);
    expect(found).toBe(agents);
    expect(notes).toContain(note);
  });

  test("the query keeps its clause: the text is never cut", async () => {
    const query = "Do it with codex and grok, please";
    expect((await run([query])).settings.query).toBe(query);
  });

  test("words, then variable, then file; agent configs come with the file's models only", async () => {
    await using temp = temporaryDirectory();
    temp.write("agent.yaml", "");
    temp.write("mg-team.yaml", "models: [fast, claude]\naliases: { fast: openai/gpt-5-mini }\n");
    const variable = { MG_TEAM_MODELS: "grok, fast" };
    expect(await backends(["Q"], {}, temp.path)).toEqual(["agent_a openai,agent_b claude", expect.stringContaining("(from mg-team.yaml)")]);
    expect(await backends(["Q"], variable, temp.path)).toEqual([
      "agent_a grok,agent_b openai",
      expect.stringContaining("(from MG_TEAM_MODELS)"),
    ]);
    expect(await backends(["Do it with fast and codex"], variable, temp.path)).toEqual(["agent_a openai,agent_b codex", expect.anything()]);
    expect(await backends(["--models", "codex", "fast", "Q"], variable, temp.path)).toEqual([
      "agent_a codex,agent_b openai",
      expect.anything(),
    ]);
  });

  test.each([
    [["Q", "--models", "codex"], {}, "only codex/gpt-5.4 is named (from --models)"],
    [["Q", "with", "codex"], {}, "(named after the query)"],
    [["Q"], { MG_TEAM_MODELS: "grok" }, "(from MG_TEAM_MODELS)"],
  ])("one model is too few: %p %p", async (argv, environment, message) => {
    const error = await errorOf(() => run(argv, environment as Record<string, string>));
    expect(error.exitCode).toBe(2);
    expect(error.message).toContain(message);
    expect(error.hint).toContain("Name one more");
  });

  test("no query at all says how to give one", async () => {
    expect((await errorOf(() => run([]))).hint).toContain('mg-team "Build a landing page"');
    expect((await errorOf(() => run(["--models", "codex", "grok"]))).message).toContain("every word after --models is a model");
  });
});
