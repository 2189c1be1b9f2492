import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { main } from "../../src/cli.ts";
import type { Registry } from "../../src/commands/index.ts";
import { argumentsOf, createRunProject, inTurn, onlyRun, patience, playRefusal, type RunSpec } from "../support/runs.ts";
import { tell } from "../support/story.ts";

// Every exit code (design.md, "Exit codes"). 130, 143 and 129: signals.test.ts; 7 on a full disk: full-disk.test.ts; 4: also test/plugins.

const agree = "answer, vote a";

describe("0: an answer was delivered", () => {
  tell([
    { title: "by consensus", plays: { a: agree, b: agree }, ends: "consensus majority a, exit 0" },
    { title: "by force", plays: { a: "answer, vote a", b: "answer after a, vote b" }, ends: "forced split_vote a, exit 0" },
    { title: "by the only agent left", plays: { a: "answer", b: "fail auth" }, ends: "single only_agent a, exit 0" },
    { title: "by consensus, under --strict", plays: { a: agree, b: agree }, args: ["--strict"], ends: "consensus majority a, exit 0" },
  ]);
});

describe("1: a bug", () => {
  test("is called one, with what to report, and as JSON", async () => {
    const written = { stdout: "", stderr: "" };
    const output = (name: "stdout" | "stderr") => ({
      write(text: string) {
        written[name] += text;
      },
      get wrote() {
        return written[name] !== "";
      },
      closed: false,
      isTerminal: false,
      columns: 80,
      flush: async () => null,
    });
    const broken = { run: async () => Promise.reject(new Error("cannot read properties of undefined")) } as unknown as Registry;
    const around = {
      environment: {},
      cwd: "/",
      stdin: { isTerminal: false, read: async () => new Uint8Array() },
      stdout: output("stdout"),
      stderr: output("stderr"),
      signals: { onSignal: () => () => {}, first: null, dispose() {} },
    };
    expect(await main(["--json", "Build a landing page"], around, broken)).toBe(1);
    expect(written.stderr).toContain("internal error: cannot read properties of undefined");
    expect(JSON.parse(written.stdout)).toMatchObject({ version: 1, error: { code: "bug" } });
  });
});

/** What ends before there is a run: nothing is started, nothing is left, and the hint says what to type. */
interface Refusal extends RunSpec {
  readonly title: string;
  readonly says: RegExp;
}

function refuse(code: number, errorCode: string, refusals: readonly Refusal[]): void {
  for (const { title, says, ...spec } of refusals) {
    test.concurrent(
      title,
      async () => {
        const text = await playRefusal(spec);
        const said = text.stderr.replace(/\s*\n\s*/g, " ");
        expect(said).toMatch(says);
        expect(text.code).toBe(code);
        expect(text.stdout).toBe("");
        expect(text.launches.filter(({ kind }) => kind === "step")).toEqual([]);
        const json = await playRefusal({ ...spec, args: [...(spec.args ?? []), "--json"] });
        expect(json.code).toBe(code);
        expect(JSON.parse(json.stdout)).toEqual({
          version: 1,
          error: { code: errorCode, message: expect.any(String), hint: expect.stringMatching(/\S/) },
        });
      },
      patience,
    );
  }
}

describe("2: wrong usage", () => {
  refuse(2, "usage", [
    { title: "one agent is no team", models: ["grok"], says: /a team needs two models, but only grok\/\S+ is named/ },
    { title: "an unknown option, with the nearest one", args: ["--max-round", "3"], says: /--max-rounds/ },
    { title: "an unknown model, with the nearest one", models: ["grok", "gemni"], says: /gemini/ },
    { title: "a limit that is no number", args: ["--max-rounds", "many"], says: /--max-rounds.*whole number/s },
    { title: "no rounds at all", args: ["--max-rounds", "0"], says: /whole number, 1 or more/ },
    { title: "a timeout that is none", args: ["--timeout", "soon"], says: /--timeout/ },
    { title: "a budget of nothing", args: ["--cost-budget", "0"], says: /above 0/ },
    { title: "a blank query", query: "  \n ", says: /blank/ },
    { title: "words beside the query", args: ["Say", "hello"], says: /Put the query in quotes/ },
    { title: "a plugin that is nowhere", args: ["--plugin", "./nowhere.ts"], says: /nowhere\.ts/ },
    { title: "--without-plugin for none", args: ["--without-plugin", "majorty"], says: /Did you mean majority\?/ },
    { title: "two queries", args: ["--query-file", "task.md"], files: { "task.md": "Say hello" }, says: /there are two queries/ },
    { title: "a context path that is nowhere", args: ["--context", "./nowhere"], says: /nowhere/ },
  ]);
});

describe("3: preflight or configuration", () => {
  refuse(3, "preflight", [
    {
      title: "no MassGen anywhere, with what to install",
      args: ["--engine", "massgen"],
      env: { PATH: "/usr/bin:/bin" },
      says: /pip install|uv tool install/,
    },
    {
      title: "no keys for anybody",
      env: { OPENAI_API_KEY: "", GEMINI_API_KEY: "", ANTHROPIC_API_KEY: "", XAI_API_KEY: "" },
      says: /XAI_API_KEY/,
    },
    {
      title: "nobody named, and fewer than two keys",
      models: [],
      env: { OPENAI_API_KEY: "", GEMINI_API_KEY: "", ANTHROPIC_API_KEY: "" },
      says: /key/i,
    },
    { title: "a query of 200 KB, before anything starts", query: "long ".repeat(40_000), says: /KiB.*--context FILE/s },
  ]);
  refuse(3, "config", [
    { title: "a wrong key in mg-team.yaml, with line and nearest key", yaml: "max_round: 3\n", says: /mg-team\.yaml.*max_rounds/s },
    { title: "models: [] in mg-team.yaml", models: [], yaml: "models: []\n", says: /models/ },
    { title: "a tab for indent in mg-team.yaml", yaml: "massgen:\n\tcommand: x\n", says: /tab/i },
    { title: "wrong nesting in mg-team.yaml", yaml: "massgen:\n  timeout: 3\n", says: /timeout/ },
    {
      title: "criteria that are none",
      args: ["--eval-criteria", "./criteria.json"],
      files: { "criteria.json": '{"criteria": [{}]}' },
      says: /criteria/,
    },
    {
      title: "a plugin file that exports none",
      args: ["--plugin", "./empty.ts"],
      files: { "empty.ts": "export const nothing = 1;\n" },
      says: /no plugin as its default export/,
    },
  ]);
  refuse(3, "untrusted", [
    {
      title: "a plugin named in mg-team.yaml of a project that is not trusted",
      yaml: "plugins: [./evil.ts]\n",
      files: { "evil.ts": "throw new Error('it ran');\n" },
      says: /mg-team trust/,
    },
    {
      title: "a MassGen named in mg-team.yaml of a project that is not trusted",
      yaml: "massgen: { command: ./evil.sh }\n",
      files: { "evil.sh": "exit 1\n" },
      says: /mg-team trust/,
    },
  ]);
});

describe("4: a plugin stopped the run", () => {
  const stopper = (reason: string) => `import { definePlugin } from "mg-team";
export default definePlugin({
  name: "stopper",
  apply(team) {
    team.hooks.onEvent.tap("stopper", (event) => {
      if (event.type === "round.started" && event.round === 2) team.stop({ reason: "${reason}", message: "I have seen enough" });
    });
  },
});
`;
  tell([
    {
      title: "the best answer is kept",
      plays: { a: "answer after b", b: "answer" },
      files: { "stopper.ts": stopper("plugin") },
      args: ["--plugin", "./stopper.ts"],
      ends: "forced plugin b, exit 4",
      rule: /^I have seen enough; /,
    },
    {
      title: "no synthesis is paid for",
      plays: { a: "answer after b", b: "answer" },
      files: { "stopper.ts": stopper("plugin") },
      args: ["--plugin", "./stopper.ts", "--synthesis", "agent"],
      ends: "forced plugin b, exit 4",
      look: ({ result, launches }) => {
        expect(result.synthesis).toMatchObject({ kind: "markdown", why_not_agent: expect.stringContaining("I have seen enough") });
        expect(launches.filter(({ kind }) => kind === "step").length).toBe(2);
      },
    },
    {
      title: "with the reason of a limit it is a limit's end",
      plays: { a: "answer after b", b: "answer" },
      files: { "stopper.ts": stopper("timeout") },
      args: ["--plugin", "./stopper.ts"],
      ends: "forced timeout b, exit 0",
    },
  ]);
});

describe("5: no answer", () => {
  tell([
    { title: "all failed", plays: { a: "fail auth", b: "fail auth" }, ends: "none agents_failed, exit 5" },
    {
      title: "all failed, under --strict",
      plays: { a: "fail auth", b: "fail auth" },
      args: ["--strict"],
      ends: "none agents_failed, exit 5",
    },
    {
      title: "rounds without an answer",
      plays: { a: "vote b", b: "vote a" },
      args: ["--max-rounds", "1"],
      ends: "none max_rounds, exit 5",
    },
  ]);
});

describe("6: no consensus, under --strict", () => {
  tell([
    { title: "a split vote", plays: { a: agree, b: "answer after a, vote b" }, args: ["--strict"], ends: "forced split_vote a, exit 6" },
    { title: "the only agent left", plays: { a: "answer", b: "fail auth" }, args: ["--strict"], ends: "single only_agent a, exit 6" },
    {
      title: "rounds are used up",
      plays: { a: "answer", b: "answer after a" },
      args: ["--strict", "--max-rounds", "1"],
      ends: "forced max_rounds a, exit 6",
    },
    {
      title: "the answer is delivered all the same",
      plays: { a: agree, b: "answer after a, vote b" },
      args: ["--strict", "--json"],
      ends: "forced split_vote a, exit 6",
      look: ({ stdout, directory }) => {
        expect(JSON.parse(stdout)).toMatchObject({ exit_code: 6, answer: "An answer, number 1" });
        expect(readFileSync(directory.finalAnswer, "utf8")).toContain("An answer, number 1");
      },
    },
    {
      title: "MG_TEAM_STRICT counts",
      plays: { a: agree, b: "answer after a, vote b" },
      env: { MG_TEAM_STRICT: "1" },
      ends: "forced split_vote a, exit 6",
    },
  ]);
});

describe("7: another process holds the run", () => {
  test.concurrent(
    "a resume of a run that is under way is refused, and told who holds it",
    () =>
      inTurn(async () => {
        const spec: RunSpec = { plays: { a: [{ before: { announce: "hangs", file: "go" }, answer: "late" }], b: "fail auth" } };
        await using project = createRunProject(spec);
        const run = project.start(argumentsOf(spec));
        await project.untilAnnounced("hangs");
        const { id } = onlyRun(project);
        const refused = await project.cli(["resume", "--json"]);
        expect(refused.code).toBe(7);
        expect(refused.stderr).toContain(String(run.pid));
        expect(JSON.parse(refused.stdout)).toMatchObject({ error: { code: "locked", message: expect.stringContaining(id) } });
        project.signal("go");
        expect((await run.result).code).toBe(0);
      }),
    patience,
  );
});
