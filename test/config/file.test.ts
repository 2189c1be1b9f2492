import { describe, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { parseConfig, readConfigFile } from "../../src/config/file.ts";
import { fileSchema } from "../../src/config/schema.ts";
import { temporaryDirectory } from "../support/temp.ts";
import { errorOf } from "./support.ts";

const parse = (text: string) => parseConfig(text, "/project/mg-team.yaml", "mg-team.yaml");

/** The contract's own example (design.md, "Configuration"), every key of it. */
const example = `
models: [codex, gemini, { model: grok, config: ./my-agent.yaml }]
aliases: { codex: codex/gpt-5.5 }
max_rounds: 7
timeout: 20m
step_timeout: 10m
cost_budget: 5
retries: 0
max_parallel: 3
docker: off
context: [./docs, "./src:rw"]
eval_criteria: ./criteria.json
synthesis: markdown
synthesizer: claude
prices: { grok-4.20: { input: 3, output: 15 } }
massgen: { command: ./bin/massgen --x, ballot_fix: on }
engine: massgen
report: false
notify: false
plugins: [./plugins/my-report.ts, { path: ./x.ts, options: { file: costs.csv } }]
`;

test("every key of the contract is read, names resolved, paths absolute", async () => {
  await using temp = temporaryDirectory("a project, ü");
  for (const file of ["my-agent.yaml", "criteria.json", "plugins/my-report.ts", "x.ts", "bin/massgen"]) temp.write(file, "");
  for (const directory of ["docs", "src"]) mkdirSync(temp.join(directory));
  const file = readConfigFile(temp.write("mg-team.yaml", example), temp.path);
  expect(file.models?.map(({ model, config }) => [model, config])).toEqual([
    ["codex/gpt-5.5", undefined],
    ["gemini/gemini-3.1-pro-preview", undefined],
    ["grok/grok-4.20-0309-reasoning", temp.join("my-agent.yaml")],
  ]);
  expect(file.plugins).toEqual([
    { path: temp.join("plugins/my-report.ts"), options: undefined, source: "file" },
    { path: temp.join("x.ts"), options: { file: "costs.csv" }, source: "file" },
  ]);
  expect(file.choices).toEqual({
    maxRounds: 7,
    timeoutSeconds: 1200,
    stepTimeoutSeconds: 600,
    costBudget: 5,
    retries: 0,
    maxParallel: 3,
    docker: "off",
    context: [
      { path: temp.join("docs"), permission: "read" },
      { path: temp.join("src"), permission: "write" },
    ],
    criteriaPath: temp.join("criteria.json"),
    synthesis: "markdown",
    synthesizer: "claude/claude-opus-4-6",
    prices: { "grok-4.20": { input: 3, output: 15 } },
    ballotFix: "on",
    engine: "massgen",
    massgenCommand: `"${temp.join("bin/massgen")}" --x`,
    massgenSource: "massgen.command of mg-team.yaml",
    report: false,
    notify: false,
  });
  expect(Object.keys(fileSchema).filter((key) => !new RegExp(`^${key}:`, "m").test(example))).toEqual([]);
});

test.each([
  ["# nothing but a comment\n", {}],
  ["\uFEFFmax_rounds: 3\n", { maxRounds: 3 }],
  ["timeout: 90\r\nreport: yes\r\n", { timeoutSeconds: 90, report: true }],
  ['timeout: "2h"\ncost_budget: 0.5\n', { timeoutSeconds: 7200, costBudget: 0.5 }],
])("%j is fine", (text, choices) => {
  const given = Object.entries(parse(text).choices).filter(([, value]) => value !== undefined);
  expect<unknown>(Object.fromEntries(given)).toEqual(choices);
});

describe("one problem", () => {
  test.each([
    // Unknown keys, with the nearest right one.
    ["max_round: 5\n", '1:1: unknown key "max_round"', "Did you mean max_rounds?"],
    ["docker: off\nmaxRounds: 5\n", '2:1: unknown key "maxRounds"', "Write max_rounds."],
    ["max-rounds: 5\n", '1:1: unknown key "max-rounds"', "Write max_rounds."],
    ["budget: 5\n", '1:1: unknown key "budget"', "Write cost_budget."],
    ["model: [codex]\n", '1:1: unknown key "model"', "models"],
    ["no_docker: true\n", '1:1: unknown key "no_docker"', "docker: off"],
    ["strict: true\n", '1:1: unknown key "strict"', "--strict"],
    ["allow_unpriced: true\n", '1:1: unknown key "allow_unpriced"', "--allow-unpriced"],
    ["constructor: 1\n", '1:1: unknown key "constructor"', "Known keys are models"],
    ["zzzzzz: 1\n", '1:1: unknown key "zzzzzz"', "Known keys are models"],
    ["massgen:\n  comand: massgen\n", '2:3: unknown key "comand" under massgen', "Did you mean command?"],
    ["models:\n  - codex\n  - model: grok\n    confg: ./x.yaml\n", '4:5: unknown key "confg" under models', "Did you mean config?"],
    ["prices: { m: { input: 1, outptu: 2, output: 3 } }\n", '1:26: unknown key "outptu" under prices', "Did you mean output?"],
    // Right keys in the wrong place.
    ["ballot_fix: off\n", '1:1: unknown key "ballot_fix"', "belongs under massgen"],
    ["command: massgen\n", '1:1: unknown key "command"', "belongs under massgen"],
    ["massgen:\n  command: massgen\n  max_rounds: 5\n", '3:3: unknown key "max_rounds" under massgen', "belongs at the top level"],
    ["models: [codex, { model: grok, timeout: 5m }]\n", '1:32: unknown key "timeout" under models', "belongs at the top level"],
    ["options: { file: x }\n", '1:1: unknown key "options"', "belongs under plugins"],
    ["config: ./x.yaml\n", '1:1: unknown key "config"', "belongs under models"],
    // Wrong values.
    ["models: []\n", "1:9: models must be a list of two or more models", "; it is an empty list"],
    ["models: codex\n", "1:9: models must be a list of models: [codex, gemini]", '; it is "codex"'],
    ["models:\n", "1:1: models must be a list of models", "; it is empty"],
    ["models: [codex, 5]\n", "1:17: models, entry 2 must be a model", "; it is 5"],
    ["models: [codex, { config: ./x.yaml }]\n", "1:17: models, entry 2: model must be a model", "; it is missing"],
    ["models: [codex, gemni]\n", '1:17: there is no model "gemni"', "gemini"],
    ["models: [codex, { model: gemni }]\n", '1:26: there is no model "gemni"', "gemini"],
    ["max_rounds: 0\n", "1:13: max_rounds must be a whole number, 1 or more, for example 5", "; it is 0"],
    ["max_rounds: five\n", "1:13: max_rounds must be a whole number", '; it is "five"'],
    ["max_rounds: 2.5\n", "1:13: max_rounds must be a whole number", "; it is 2.5"],
    ["max_rounds: [5]\n", "1:13: max_rounds must be a whole number", "; it is a list"],
    ["timeout: 2x\n", "1:10: timeout must be a time above 0", '; it is "2x"'],
    ["timeout:\n", "1:1: timeout must be a time above 0", "; it is empty"],
    ["step_timeout: -5\n", "1:15: step_timeout must be a time above 0", "; it is -5"],
    ["cost_budget: free\n", "1:14: cost_budget must be an amount of US dollars above 0", '; it is "free"'],
    ["cost_budget: .inf\n", "1:14: cost_budget must be an amount", "; it is Infinity"],
    ["retries: -1\n", "1:10: retries must be a whole number, 0 or more", "; it is -1"],
    ["docker: on\n", "1:9: docker must be auto or off", '; it is "on"'],
    ["docker: false\n", "1:9: docker must be auto or off", "; it is false"],
    ["engine: rust\n", "1:9: engine must be auto, massgen or native", '; it is "rust"'],
    ["synthesis: true\n", "1:12: synthesis must be agent or markdown", "; it is true"],
    ["report: maybe\n", "1:9: report must be true or false", '; it is "maybe"'],
    ["massgen: massgen\n", "1:10: massgen must be a map", '; it is "massgen"'],
    ["massgen: { ballot_fix: maybe }\n", "1:24: massgen.ballot_fix must be auto, on or off", '; it is "maybe"'],
    ['massgen: { command: "a \'b" }\n', "1:21: a quote in massgen.command is not closed", "Close it"],
    ["aliases: [a]\n", "1:10: aliases must be a map of names", "; it is a list"],
    ["aliases: { a: b, b: a, fast: codex }\nmodels: [fast, a]\n", null, "circle: a → b → a"],
    ["aliases: { fast: gemni }\n", "1:12: aliases.fast: there is no model", "gemini"],
    ["prices: { m: { input: -1, output: 2 } }\n", "1:23: prices.m.input must be a number, 0 or more", "; it is -1"],
    ["prices: { m: { input: 1 } }\n", "1:14: prices.m.output must be a number, 0 or more", "; it is missing"],
    ["prices: { m: 5 }\n", "1:14: prices.m must be a map", "; it is 5"],
    ["synthesizer: nobody\n", '1:14: there is no model "nobody"', "codex"],
    ["plugins: [5]\n", "1:11: plugins, entry 1 must be the path of a file", "; it is 5"],
    ["plugins: [./nope.ts]\n", '1:11: there is nothing at "./nope.ts"', "/project"],
    ["plugins: [{ path: ./nope.ts }]\n", '1:19: there is nothing at "./nope.ts"', "/project"],
    ["plugins:\n  - path: /dev/null\n    options: &o { self: *o }\n", "3:17: these options contain themselves", "without & and *"],
    ["context: [./nope]\n", '1:11: there is nothing at "./nope"', "/project"],
    ["eval_criteria: ./nope.json\n", '1:16: there is nothing at "./nope.json"', "/project"],
    ["models: [codex, { model: grok, config: ./nope.yaml }]\n", '1:40: there is nothing at "./nope.yaml"', "/project"],
    // What is not YAML, or not settings.
    ["models:\n\t- codex\n", "2:1: this line is indented with a tab", "spaces"],
    ["massgen:\n\tcommand: massgen\n", "2:1: this line is indented with a tab", "spaces"],
    ["retries: 1\ndocker: off\nretries: 2\n", '3:1: the key "retries" is there twice', "Keep one"],
    ["massgen:\n  command: a\n  command: b\n", '3:3: the key "command" is there twice', "Keep one"],
    ["models: [codex, gemini\n", "2:1: this is not YAML", ""],
    ["a: b: c\n", "1:4: this is not YAML", ""],
    ['docker: "off\n', "this is not YAML", ""],
    ["docker: off\n---\nretries: 1\n", "2:1: a second document begins here", "---"],
    ["docker: !!js off\n", "1:9: unresolved tag", "Remove the tag"],
    ["- codex\n- gemini\n", "1:1: the file must be a map of settings", "max_rounds: 5"],
    ["just text\n", "1:1: the file must be a map of settings", "max_rounds: 5"],
    ["docker: *nobody\n", "this is not YAML", ""],
  ])("%j", async (text, message, more) => {
    const error = await errorOf(() => parse(text));
    expect([error.code, error.exitCode]).toEqual(["config", 3]);
    expect(error.message).toContain(message === null ? "" : `mg-team.yaml:`);
    expect(error.message).toContain(message ?? "");
    expect(`${error.message} ${error.hint}`).toContain(more);
  });

  test.each(["", "  \n\n"])("an empty file (%j)", async (text) => {
    const error = await errorOf(() => parse(text));
    expect(error.message).toBe("mg-team.yaml is empty");
    expect(error.hint).toContain("max_rounds: 5");
  });
});

test("all problems of a file are reported at once, in the order of the file", async () => {
  const text = "max_round: 5\ntimeout: soon\nmodels: [codex, gemni]\nmassgen:\n  comand: x\nretries: 1\nretries: 1\nplugins: [./nope.ts]\n";
  const { message, hint } = await errorOf(() => parse(text));
  const places = message.split("\n").flatMap((line) => /^mg-team\.yaml:(\d+):/.exec(line)?.[1] ?? []);
  expect(message).toStartWith("mg-team.yaml has 6 problems:\n");
  expect(places).toEqual(["1", "2", "3", "5", "7", "8"]);
  for (const word of ["max_rounds", "gemini", "command", "twice", "./nope.ts"]) expect(message).toContain(word);
  expect(hint).not.toBe("");
});

describe("the file itself", () => {
  test("bytes that are not UTF-8, a directory, and far too much are refused", async () => {
    await using temp = temporaryDirectory();
    temp.write("latin.yaml", new Uint8Array([0x61, 0x3a, 0x20, 0xe9]));
    temp.write("large.yaml", "#".repeat(1024 * 1024 + 1));
    mkdirSync(temp.join("directory.yaml"));
    expect((await errorOf(() => readConfigFile(temp.join("latin.yaml"), temp.path))).message).toBe(
      "latin.yaml has bytes that are not UTF-8",
    );
    expect((await errorOf(() => readConfigFile(temp.join("large.yaml"), temp.path))).message).toContain("it is larger than 1 MiB");
    expect((await errorOf(() => readConfigFile(temp.join("directory.yaml"), temp.path))).message).toStartWith(
      "directory.yaml can't be read",
    );
  });

  test("a file elsewhere is called by its whole path, and its paths start at its own directory", async () => {
    await using temp = temporaryDirectory();
    temp.write("settings/docs/a.md", "");
    const path = temp.write("settings/team.yaml", "context: [./docs]\n");
    expect(readConfigFile(path, temp.join("project")).choices.context).toEqual([{ path: temp.join("settings/docs"), permission: "read" }]);
    temp.write("settings/team.yaml", "contxt: [./docs]\n");
    expect((await errorOf(() => readConfigFile(path, temp.join("project")))).message).toStartWith(`${path}:1:1: unknown key`);
    expect((await errorOf(() => readConfigFile(path, temp.path))).message).toStartWith("settings/team.yaml:1:1: unknown key");
  });
});
