import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { type RunFile, writeRunFile } from "../../src/config/run-file.ts";
import type { TeamDirectory } from "../../src/session/directory.ts";
import type { RunResult } from "../../src/session/result.ts";
import { runCommand } from "../support/command.ts";
import { started } from "../support/events.ts";
import { noLimits } from "../support/team.ts";
import { writeStep, writeTeam } from "../support/team-on-disk.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temp.ts";

// What a run's files say is the text of others: on a terminal it must not be able to do anything.

setDefaultTimeout(60_000); // a busy machine is no fault

/** Escapes of 7 and 8 bits, text that runs backwards, tags that no font shows, DEL. */
const hostile = "\u001b[2J\u009b2J\u202eevil\u2066 \u{e0041}\u007f\r!";
const acts = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|[\u{e0000}-\u{e007f}]/u;
const key = "test-key-0123456789";

const settings = {
  docker: "off",
  context: [],
  criteriaPath: null,
  synthesis: "markdown",
  synthesizer: null,
  prices: {},
  ballotFix: "auto",
  report: true,
} as const;

/** A run that is decided, and can be taken up by resume; all texts in it are hostile. */
async function decidedRun(temp: TemporaryDirectory, result: Partial<RunResult> = {}): Promise<TeamDirectory> {
  const query = `Build ${hostile}`;
  const decision = {
    kind: "none",
    reason: "agents_failed",
    rule: `${hostile} ${key}`,
    winner: null,
    winner_model: null,
    tally: {},
    ballots: [],
  } as const;
  const directory = writeTeam(temp.path, {
    events: [started("ab")],
    query,
    result: { query, decision, answer: null, exit_code: 5, ...result },
    models: [`codex/${hostile}`, "gemini/x"],
  });
  const agents = ["agent_a", "agent_b"].map((id) => ({ id, model: "codex/gpt-5.4", backend: "codex", modelName: "gpt-5.4" }));
  const more = { engine: "native", massgenCommand: null, massgenSource: null, projectDir: temp.path } as const;
  const file: RunFile = {
    settings: { ...settings, ...more, query, agents, limits: noLimits },
    docker: false,
    plugins: [],
    withoutPlugins: [],
    strict: false,
  };
  const before = readFileSync(directory.config, "utf8");
  await writeRunFile(directory, file, null);
  writeFileSync(
    directory.config,
    JSON.stringify({ ...JSON.parse(readFileSync(directory.config, "utf8")), agent_mapping: JSON.parse(before).agent_mapping }),
  );
  writeStep(directory.session, "agent_a", 1, hostile);
  return directory;
}

describe("on a terminal", () => {
  const commands = [
    "sessions",
    "status",
    "resume",
    "show --agent agent_a",
    "report",
    "trust",
    "plugin list",
    "clean --older-than 0.0001s --dry-run",
  ];

  test.each(commands)("%s prints nothing that acts", async (line) => {
    const words = line.split(" ");
    await using temp = temporaryDirectory(`pro\u009b2Jject`);
    await decidedRun(temp);
    temp.write("mg-team.yaml", "plugins: [./plugin.ts]\n");
    temp.write("plugin.ts", "");
    const env = { XDG_STATE_HOME: temp.join("../state"), NO_COLOR: "1", OPENAI_API_KEY: key };
    if (words[0] === "resume") await runCommand(["trust"], { cwd: temp.path, env });
    const { stdout, stderr } = await runCommand(words, { cwd: temp.path, env, columns: 80 });
    expect(stdout + stderr).not.toBe("");
    expect(stdout).not.toMatch(acts);
    expect(stderr).not.toMatch(acts);
  });

  test.each(["sessions --json", "status --json", "resume --json"])("%s prints the same JSON as into a pipe, with escapes", async (line) => {
    const words = line.split(" ");
    await using temp = temporaryDirectory();
    await decidedRun(temp);
    const onTerminal = await runCommand(words, { cwd: temp.path, columns: 80 });
    const piped = await runCommand(words, { cwd: temp.path });
    expect(JSON.parse(onTerminal.stdout)).toEqual(JSON.parse(piped.stdout));
    expect(piped.stdout).toContain("\u202e");
    expect(onTerminal.stdout).not.toMatch(acts);
  });

  test.each(["", "--json"])("a dry run prints nothing of the query that acts %s", async (more) => {
    await using temp = temporaryDirectory();
    const argv = [
      "run",
      `Build ${hostile}`,
      "--dry-run",
      "--engine",
      "native",
      "--models",
      "openai/gpt-5.4",
      "openai/gpt-5.4",
      ...more.split(" ").filter(Boolean),
    ];
    const { code, stdout } = await runCommand(argv, { cwd: temp.path, env: { OPENAI_API_KEY: key }, columns: 80 });
    expect(code).toBe(0);
    expect(stdout).toContain("evil");
    expect(stdout).not.toMatch(acts);
  });
});

test("what resume says of a decided run has no secrets in it", async () => {
  await using temp = temporaryDirectory();
  await decidedRun(temp);
  const { code, stderr } = await runCommand(["resume"], { cwd: temp.path, env: { OPENAI_API_KEY: key } });
  expect(code).toBe(5);
  expect(stderr).toContain("[redacted]");
  expect(stderr).not.toContain(key);
});

describe("of a decided run without a consensus, resume exits", () => {
  const forced = {
    kind: "forced",
    reason: "split_vote",
    rule: "a tie",
    winner: "agent_b",
    winner_model: "x",
    tally: {},
    ballots: [],
  } as const;
  const consensus = { ...forced, kind: "consensus", reason: "majority" } as const;

  test.each([
    ["0 as it did", forced, [], 0],
    ["6 under --strict", forced, ["--strict"], 6],
    ["0 under --strict where there is one after all", consensus, ["--strict"], 0],
  ] as const)("%s", async (_, decision, more, code) => {
    await using temp = temporaryDirectory();
    await decidedRun(temp, { decision, answer: "An answer.", exit_code: 0 });
    expect((await runCommand(["resume", ...more], { cwd: temp.path })).code).toBe(code);
  });
});
