import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { cookieVariable } from "../../src/process/environment.ts";
import { findMarked } from "../../src/process/processes.ts";
import { teamDirectory } from "../../src/session/directory.ts";
import type { RunResult } from "../../src/session/result.ts";
import type { ModelScripts } from "../massgen/models/script.ts";
import { startModelServer } from "../massgen/models/server.ts";
import { createProject } from "../support/project.ts";
import { patience, playRun, type RunSpec } from "../support/runs.ts";
import { until, untilExists } from "../support/temp.ts";

// Whole runs in which mg-team itself runs the steps, in processes of their own, with scripted models instead of providers.

/** A run with such models. `m-a` runs as agent_a and so on, on the API of OpenAI unless it says otherwise. */
async function play(scripts: ModelScripts, spec: RunSpec, look?: Parameters<typeof playRun>[1]) {
  await using models = startModelServer(scripts);
  const env = { OPENAI_BASE_URL: models.baseUrl, XAI_BASE_URL: models.baseUrl, VLLM_BASE_URL: models.baseUrl, ...spec.env };
  const run = await playRun({ ...spec, env }, look);
  return { ...run, requests: models.requests };
}

const native = (...args: string[]) => ["--engine", "native", ...args];

describe("a team without MassGen", () => {
  test(
    "answers, votes by label, agrees, and delivers the winner's files",
    async () => {
      const { code, result, requests, stderr } = await play(
        {
          "m-a": [{ write: { "index.html": "<h1>Four</h1>\n" } }, { answer: "See index.html, says A" }, { vote: { preferring: "says A" } }],
          "m-b": [{ answer: "Five, says B" }, { vote: { preferring: "says A" } }],
          "m-c": [{ answer: "Six, says C" }, { vote: { preferring: "says C" } }],
        },
        { models: ["openai/m-a", "grok/m-b", "vllm/m-c"], args: native("--json") },
        ({ directory }) => {
          expect(readFileSync(join(directory.deliverable, "index.html"), "utf8")).toBe("<h1>Four</h1>\n");
          expect(existsSync(join(directory.root, "ballot"))).toBe(false);
          expect(readFileSync(directory.finalAnswer, "utf8")).toContain("they read and write files, but run no code");
        },
      );
      expect(code).toBe(0);
      expect(result.decision).toMatchObject({ kind: "consensus", winner: "agent_a", tally: { agent_a: 2, agent_c: 1 } });
      expect(result.engine).toMatchObject({ name: "native", ballot_fix: "off" });
      expect(result.cost.by_agent).toMatchObject({ agent_a: { usd: null }, agent_c: { usd: 0, input_tokens: 2000 } });
      expect(new Set(requests.map(({ path }) => path))).toEqual(new Set(["/v1/responses", "/v1/chat/completions"]));
      expect(stderr).not.toContain("MassGen");
    },
    patience,
  );

  test(
    "goes on without an agent whose key is refused, after telling which",
    async () => {
      const { code, result } = await play(
        {
          "m-a": [{ answer: "Four, says A" }, { vote: { preferring: "says A" } }],
          "m-b": [{ answer: "Five, says B" }, { vote: { preferring: "says A" } }],
          "m-c": [{ status: 401 }],
        },
        { models: ["openai/m-a", "openai/m-b", "grok/m-c"], args: native("--json") },
      );
      expect(code).toBe(0);
      expect(result.agents[2]).toMatchObject({ status: "out", failure: { class: "auth" } });
      expect(result.agents[2]?.failure?.message).toStartWith("401: ");
      expect(result.agents[2]?.failure?.message).toEndWith("check XAI_API_KEY");
      expect(result.decision).toMatchObject({ kind: "consensus", winner: "agent_a" });
    },
    patience,
  );

  test(
    "a vote that a newer answer overtakes is stale, and its voter is launched again",
    async () => {
      const { result, events } = await play(
        {
          "m-a": [{ answer: "Four, says A" }, { vote: { preferring: "says B" } }, { vote: { preferring: "I was wrong" } }],
          "m-b": [{ answer: "Five, says B" }, { answer: "Four, I was wrong" }, { vote: { preferring: "I was wrong" } }],
        },
        { models: ["openai/m-a", "openai/m-b"], args: native() },
      );
      const standings = events.flatMap((event) => (event.type === "ballots" ? [event.ballots.map(({ standing }) => standing)] : []));
      expect(standings).toEqual([[], ["stale"], ["valid", "valid"]]);
      expect(result.decision).toMatchObject({ kind: "consensus", winner: "agent_b" });
      expect(result.answer).toBe("Four, I was wrong");
    },
    patience,
  );

  test(
    "prices: of mg-team.yaml count, and a budget that they exceed ends the run",
    async () => {
      const { result } = await play(
        { "m-a": [{ answer: "Four", usage: { input: 1_000_000, output: 0 } }], "m-b": [{ text: "Hm", hold: "for ever" }] },
        {
          models: ["openai/m-a", "openai/m-b"],
          args: native("--json", "--cost-budget", "2"),
          yaml: "prices: { m-a: { input: 3, output: 1 }, m-b: { input: 1, output: 1 } }\n",
        },
      );
      expect(result.decision).toMatchObject({ kind: "forced", reason: "cost_budget", winner: "agent_a" });
      expect(result.cost.by_agent.agent_a).toMatchObject({ usd: 3, known: "all" });
    },
    patience,
  );

  test(
    "the winner's model makes the synthesis out of the files that it is given",
    async () => {
      const { result, requests } = await play(
        {
          "m-a": [{ answer: "Four, says A" }, { vote: { preferring: "says B" } }],
          "m-b": [
            { write: { "four.txt": "4\n" } },
            { answer: "Four, says B" },
            { vote: { preferring: "says B" } },
            { call: { name: "list_files", arguments: {} } },
            { answer: "# Four\n\nMerged." },
          ],
        },
        { models: ["openai/m-a", "openai/m-b"], args: native("--json", "--synthesis", "agent") },
      );
      expect(result.synthesis).toMatchObject({ kind: "agent", why_not_agent: null });
      const task = requests.at(-1)?.text ?? "";
      expect(task).toContain("THE CHOSEN ANSWER");
      expect(task).toMatch(/synthesis\/sources \(read only\)/);
    },
    patience,
  );
});

describe("a team of both engines", () => {
  test(
    "shares one session: each sees the other's answers, and their votes meet",
    async () => {
      const { code, result, launches, requests } = await play(
        { "m-b": [{ answer: "Native says four" }, { vote: { preferring: "MassGen says four" } }] },
        {
          plays: { a: ["answer MassGen says four", "vote a"] },
          models: ["grok/model-a", "native:openai/m-b"],
          args: ["--json"],
        },
      );
      expect(code).toBe(0);
      expect(result.decision).toMatchObject({ kind: "consensus", winner: "agent_a", tally: { agent_a: 2 } });
      expect(result.agents.map(({ model }) => model)).toEqual(["grok/model-a", "native:openai/m-b"]);
      expect(result.engine.name).toBe("massgen");
      expect(launches.filter(({ kind }) => kind === "step")).toHaveLength(2);
      expect(requests.at(-1)?.text).toContain("MassGen says four");
    },
    patience,
  );

  test(
    "ollama needs no word for it: only mg-team runs it",
    async () => {
      const { result, requests } = await play(
        { "m-b": [{ answer: "Native says four" }, { vote: { preferring: "Native says four" } }] },
        {
          plays: { a: ["answer MassGen says four", "vote b"] },
          models: ["grok/model-a", "ollama/m-b"],
          args: ["--json"],
          env: { OLLAMA_HOST: "" },
        },
      ).catch((error) => ({ result: null, requests: [], error: String(error) }));
      // Nobody listens where Ollama would; the point is that the agent was run by mg-team, and failed by itself.
      expect(result?.agents[1]).toMatchObject({ model: "ollama/m-b", status: "out", failure: { class: "model" } });
      expect(requests).toEqual([]);
      expect(result?.decision).toMatchObject({ kind: "single", winner: "agent_a" });
    },
    patience,
  );
});

test(
  "auto without MassGen says in one line what it does, and --engine massgen refuses",
  async () => {
    await using models = startModelServer({ m: [{ answer: "Four" }, { vote: "agent1" }] });
    await using project = createProject({ layout: "none" });
    Object.assign(project.env, { OPENAI_BASE_URL: models.baseUrl, PATH: "/usr/bin:/bin" });
    rmSync(project.massgen, { force: true });
    const args = ["What is 2+2?", "--models", "openai/m", "openai/m", "--synthesis", "markdown", "--max-rounds", "2"];
    const run = await project.cli(args);
    expect(run.code).toBe(0);
    const said = run.stderr.split("\n").filter((line) => line.includes("mg-team runs the steps itself"));
    expect(said).toHaveLength(1);
    expect(run.stdout).toContain("its agents can read and write files, but not run code");
    const refused = await project.cli([...args, "--engine", "massgen"]);
    expect(refused).toMatchObject({ code: 3, stdout: "" });
    expect(refused.stderr).toContain("MassGen was not found");
  },
  patience,
);

test(
  "after kill -9 nothing of a native step stays alive, and a resume takes over what was finished",
  async () => {
    await using models = startModelServer({
      "m-a": [{ answer: "Four, says A" }, { vote: { preferring: "says A" } }],
      "m-b": [{ answer: "Five, says B", hold: "until killed" }, { answer: "Five, says B" }, { vote: { preferring: "says A" } }],
    });
    await using project = createProject({ layout: "none" });
    project.env.OPENAI_BASE_URL = models.baseUrl;
    const args = ["What is 2+2?", "--engine", "native", "--models", "openai/m-a", "openai/m-b", "--synthesis", "markdown", "--json"];
    const killed = project.start(args);
    await models.held("until killed");
    const sessions = join(project.directory, ".massgen-quality/sessions");
    const [team = ""] = readdirSync(sessions);
    await untilExists(join(sessions, team, "session/agents/agent_a/001/answer.json"));
    killed.kill("SIGKILL");
    await killed.result;
    const { cookie } = teamDirectory(join(sessions, team));
    await until(() => findMarked(cookieVariable, new Set([cookie])).length === 0, "the end of the step");
    const { code, stdout, stderr } = await project.cli(["resume", "--json"]);
    expect(`${code} ${stderr}`).toStartWith("0 ");
    const result: RunResult = JSON.parse(stdout);
    expect(result.decision).toMatchObject({ kind: "consensus", winner: "agent_a", tally: { agent_a: 2 } });
    expect(models.requests.filter(({ model }) => model === "m-a")).toHaveLength(2);
    expect(result.agents[0]?.steps.map(({ action }) => action)).toEqual(["new_answer", "vote"]);
  },
  patience,
);
