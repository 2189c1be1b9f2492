import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pluginText, withPlugin } from "../support/outside-plugin.ts";
import { argumentsOf, createRunProject, inTurn, patience, playRefusal, playRun, runHere } from "../support/runs.ts";
import { tell } from "../support/story.ts";

// What an outside plugin may do in a run (design.md, "Hooks and plugins"), through --plugin and the command line.

const agree = "answer, vote a";
const team = { a: agree, b: agree };

describe("beforeLaunch", () => {
  tell([
    {
      ...withPlugin(
        "editor",
        'team.hooks.beforeLaunch.tap("editor", (request) => { if (request.round === 2) request.query += " (be brief)"; });',
      ),
      title: "an edited query reaches the step, is journaled and shown; the run's query stays as asked",
      plays: team,
      ends: "consensus majority a, exit 0",
      look: ({ launches, events, stderr, result }) => {
        const queries = launches.flatMap(({ kind, query }) => (kind === "step" ? [query] : []));
        expect(queries).toEqual(["Say hello", "Say hello", "Say hello (be brief)", "Say hello (be brief)"]);
        const starts = events.flatMap((event) => (event.type === "step.started" ? [event.query] : []));
        expect(starts).toEqual([undefined, undefined, "Say hello (be brief)", "Say hello (be brief)"]);
        expect(stderr).toContain("agent_a: started with a query that a plugin edited: Say hello (be brief)");
        expect(result.query).toBe("Say hello");
      },
    },
    {
      ...withPlugin(
        "variables",
        'team.hooks.beforeLaunch.tap("variables", (request) => ({ ...request, env: { ...request.env, MY_TRACE: request.agent }, args: ["--debug"] }));',
      ),
      title: "variables and arguments of a returned copy reach the step",
      plays: team,
      ends: "consensus majority a, exit 0",
      look: ({ launches }) => {
        const steps = launches.filter(({ kind }) => kind === "step");
        expect(steps.map(({ env, agent }) => env.MY_TRACE === agent)).toEqual([true, true, true, true]);
        expect(steps.every(({ argv }) => argv.includes("--debug") && argv.indexOf("--debug") < argv.length - 1)).toBe(true);
      },
    },
    {
      ...withPlugin(
        "counter",
        'let open = 0; team.hooks.beforeLaunch.tap("counter", (request) => { if (request.kind === "round") team.log.info(`asked ${request.agent} after ${open} starts`); }); team.hooks.onEvent.tap("counter", (event) => { if (event.type === "step.started") open++; });',
      ),
      title: "is asked about a whole round before its first start",
      plays: team,
      ends: "consensus majority a, exit 0",
      look: ({ stderr }) => {
        const asked = [...stderr.matchAll(/counter: asked (agent_.) after (\d) starts/g)].map(([, agent, count]) => `${agent} ${count}`);
        expect(asked).toEqual(["agent_a 0", "agent_b 0", "agent_a 2", "agent_b 2"]);
      },
    },
  ]);
});

describe("onAction", () => {
  tell([
    {
      ...withPlugin(
        "notes",
        'team.hooks.onAction.tap("notes", (action) => { (action.notes ??= []).push("seen " + action.kind); action.kind = "vote"; action.target = "agent_b"; });',
      ),
      title: "notes are journaled; nothing else of an action can be changed",
      plays: { a: agree, b: agree },
      rounds: ["a answered, b answered", "a voted a, b voted a"],
      ends: "consensus majority a, exit 0",
      look: ({ events }) => {
        const notes = events.flatMap((event) => (event.type === "step.finished" ? event.action.notes : []));
        expect(notes.sort()).toEqual(["seen new_answer", "seen new_answer", "seen vote", "seen vote"]);
      },
    },
  ]);
});

describe("onConsensus", () => {
  const overrule = (verdict: string) =>
    `team.hooks.onConsensus.tap({ name: "judge", stage: Stage.overrule }, (deliberation) => { if (deliberation.verdict) deliberation.verdict = ${verdict}; });`;
  test.concurrent(
    "a verdict can be overruled; rule, exit code and document say so",
    async () => {
      const verdict = '{ kind: "forced", reason: "plugin", winner: "agent_b", rule: "The house always wins." }';
      const { result, code, stderr } = await unchecked({ plays: team, ...withPlugin("judge", overrule(verdict)) });
      expect(code).toBe(4);
      expect(result.decision).toMatchObject({ kind: "forced", reason: "plugin", winner: "agent_b", rule: "The house always wins." });
      expect(stderr).toContain("The house always wins.");
    },
    patience,
  );

  test.concurrent(
    "a verdict without a winner asks for the rule of forced decisions",
    async () => {
      const verdict = '{ kind: "forced", reason: "plugin", winner: null, rule: "Enough." }';
      const { result } = await unchecked({
        plays: { a: "answer, vote b", b: "answer, vote b" },
        ...withPlugin("judge", overrule(verdict)),
      });
      expect(result.decision).toMatchObject({
        winner: "agent_b",
        rule: expect.stringMatching(/^Enough; agent_b had the most valid votes/),
      });
    },
    patience,
  );

  test.concurrent(
    "a decision for an agent without an answer is a fault of the plugin: the contract's rules decide, exit 4",
    async () => {
      const verdict = '{ kind: "consensus", reason: "majority", winner: "agent_c", rule: "I like it." }';
      const { result, code, stderr } = await unchecked({ plays: { ...team, c: "vote a" }, ...withPlugin("judge", overrule(verdict)) });
      expect(stderr).toContain("agent_c");
      expect(result.decision.winner).toBe("agent_a");
      expect(code).toBe(4);
    },
    patience,
  );

  test.concurrent(
    "ballots can be marked, and a plugin can decide sooner than the built-in rules",
    async () => {
      const body = `team.hooks.onConsensus.tap({ name: "judge", stage: Stage.decide }, (deliberation) => {
        if (deliberation.round === 1) deliberation.verdict = { kind: "forced", reason: "plugin", winner: "agent_b", rule: "First round is enough." };
      });`;
      const { result, code, launches } = await unchecked({ plays: team, ...withPlugin("judge", body) });
      expect({ code, rounds: result.rounds, steps: launches.filter(({ kind }) => kind === "step").length }).toEqual({
        code: 4,
        rounds: 1,
        steps: 2,
      });
    },
    patience,
  );
});

describe("onSynthesis", () => {
  test.concurrent(
    "adds to the document, and replaces it",
    async () => {
      const add =
        'team.hooks.onSynthesis.tap({ name: "seal", stage: SynthesisStage.edit }, (document) => { document.markdown += "\\nSealed: " + document.result.decision.winner + "\\n"; });';
      const added = await playRun({ plays: team, ...withPlugin("seal", add) }, ({ directory }) => {
        expect(readFileSync(directory.finalAnswer, "utf8")).toEndWith("\nSealed: agent_a\n");
      });
      expect(added.code).toBe(0);
      const replace =
        'team.hooks.onSynthesis.tapPromise({ name: "seal", stage: SynthesisStage.edit }, async (document) => ({ ...document, markdown: "# Other\\n\\n" + document.answer }));';
      await playRun({ plays: team, ...withPlugin("seal", replace) }, ({ directory }) => {
        expect(readFileSync(directory.finalAnswer, "utf8").trimEnd()).toBe("# Other\n\nAn answer, number 1");
      });
    },
    patience,
  );
});

describe("onFinish and onEvent", () => {
  tell([
    {
      ...withPlugin(
        "report",
        `const seen = [];
    team.hooks.onEvent.tap("report", (event) => void seen.push(event.type));
    team.hooks.onFinish.tapPromise("report", async (result) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      result.plugins.report = { events: seen.length, winner: result.decision.winner, cost: team.cost.total_usd, query: team.run.query, answers: team.answers.map(({ agent, text }) => agent + ": " + text) };
    });`,
      ),
      title: "data under the plugin's name is in result.json",
      plays: team,
      ends: "consensus majority a, exit 0",
      args: ["--plugin", "./report.ts", "--json"],
      look: ({ result, stdout }) => {
        expect(result.plugins.report).toEqual({
          events: expect.any(Number),
          winner: "agent_a",
          cost: 0.04,
          query: "Say hello",
          answers: ["agent_a: An answer, number 1", "agent_b: An answer, number 1"],
        });
        expect(JSON.parse(stdout).plugins.report.winner).toBe("agent_a");
      },
    },
  ]);

  test.concurrent(
    "result.json is there before onFinish is called",
    async () => {
      const body =
        'team.hooks.onFinish.tapPromise("early", async (result) => { const { readFileSync } = await import("node:fs"); result.plugins.early = JSON.parse(readFileSync(team.run.directory + "/result.json", "utf8")).decision.winner; });';
      const { result } = await playRun({ plays: team, ...withPlugin("early", body) });
      expect(result.plugins.early).toBe("agent_a");
    },
    patience,
  );
});

describe("team", () => {
  tell([
    {
      ...withPlugin(
        "limit",
        'team.hooks.onEvent.tap("limit", (event) => { if (event.type === "step.finished" && event.action.kind === "new_answer") team.stop({ reason: "plugin", message: "one answer is enough" }); });',
      ),
      title: "team.stop ends the run with the best answer, exit 4; the first call wins",
      plays: { a: "answer", b: [{ before: { forever: true } }] },
      rounds: ["a answered, b interrupted"],
      ends: "forced plugin a, exit 4",
      rule: /^One answer is enough; /,
      look: ({ events, result }) => {
        expect(events.filter(({ type }) => type === "stop").length).toBe(1);
        expect(result.synthesis.path).not.toBeNull();
      },
    },
    {
      ...withPlugin(
        "stopper",
        'team.hooks.onEvent.tap("stopper", (event) => { if (event.type === "decision") team.stop({ reason: "plugin", message: "no synthesis today" }); });',
        ["--synthesis", "agent"],
      ),
      title: "team.stop after the decision stops only the synthesis",
      plays: team,
      ends: "consensus majority a, exit 0",
    },
  ]);

  test.concurrent(
    "team.runStep runs one more step in a session of its own, with cost and journal",
    async () => {
      const body = `team.hooks.onFinish.tapPromise({ name: "judge", timeLimitSeconds: null }, async (result) => {
      const extra = await team.runStep({ model: "agent_b", query: "Judge it", sessionDir: team.run.directory + "/judge/session", context: [] });
      result.plugins.judge = extra;
    });`;
      const { result, launches, events } = await playRun({
        plays: { a: agree, b: "answer, vote a, answer I judge" },
        ...withPlugin("judge", body),
      });
      expect(result.plugins.judge).toMatchObject({ answer: "I judge", failure: null, cost: { usd: 0.01 } });
      expect(result.cost.total_usd).toBe(0.05);
      const last = launches.at(-1);
      expect(last?.sessionDir).toEndWith("/judge/session");
      expect(last?.query).toBe("Judge it");
      expect(events.filter((event) => event.type === "step.finished" && event.action.round === 0).length).toBe(1);
    },
    patience,
  );

  test.concurrent(
    "team.runStep refuses the team's own session, and a step that fails is data",
    async () => {
      const body = `team.hooks.onFinish.tapPromise({ name: "judge", timeLimitSeconds: null }, async (result) => {
      const refused = await team.runStep({ model: "agent_b", query: "x", sessionDir: team.run.directory + "/session", context: [] }).catch((error) => error.message);
      const failed = await team.runStep({ model: "agent_b", query: "x", sessionDir: team.run.directory + "/judge", context: [] });
      result.plugins.judge = { refused, failure: failed.failure, answer: failed.answer };
    });`;
      const { result, code } = await playRun({ plays: { a: agree, b: "answer, vote a, fail auth" }, ...withPlugin("judge", body) });
      expect(code).toBe(0);
      expect(result.plugins.judge).toMatchObject({
        refused: expect.stringContaining("sessionDir of its own"),
        failure: expect.stringMatching(/^auth: 401/),
        answer: null,
      });
    },
    patience,
  );
});

describe("plugin files", () => {
  test.concurrent(
    "get mg-team, zod and tapable without node_modules, helpers beside them, and options of mg-team.yaml",
    () =>
      inTurn(async () => {
        const plugin = `import { definePlugin, formatMoney } from "mg-team";
import { z } from "zod";
import { SyncHook } from "tapable";
import { readFile } from "node:fs/promises";
import { shout } from "./lib/shout.ts";
export default definePlugin({
  name: "rich",
  options: z.object({ file: z.string(), times: z.number().default(2) }),
  apply(team, options) {
    const hook = new SyncHook(["text"]);
    hook.tap("rich", (text) => team.log.info(shout(text)));
    team.hooks.onFinish.tapPromise("rich", async (result) => {
      hook.call(formatMoney(result.cost.total_usd) + " " + options.times);
      result.plugins.rich = { options, own: (await readFile(new URL(import.meta.url))).length > 0 };
    });
    return () => team.log.info("cleaned up");
  },
});
`;
        const spec = {
          plays: team,
          yaml: "plugins: [{ path: ./rich.ts, options: { file: costs.csv } }]\n",
          files: { "rich.ts": plugin, "lib/shout.ts": 'export const shout = (text: string) => text.toUpperCase() + "!";\n' },
          args: ["--json"],
        };
        await using project = createRunProject(spec);
        project.env.XDG_STATE_HOME = project.temp.join("state");
        const untrusted = await runHere(project, argumentsOf(spec));
        expect(untrusted.code).toBe(3);
        expect(untrusted.stderr).toContain("mg-team trust");
        expect(existsSync(join(project.directory, ".massgen-quality/sessions"))).toBe(false);
        expect((await runHere(project, ["trust"])).code).toBe(0);
        const { code, stdout, stderr } = await runHere(project, argumentsOf(spec));
        expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
        expect(JSON.parse(stdout).plugins.rich).toEqual({ options: { file: "costs.csv", times: 2 }, own: true });
        expect(stderr).toContain("rich: $0.04 2!");
        expect(stderr).toContain("rich: cleaned up");
        // A changed helper is another program.
        project.temp.write("project/lib/shout.ts", 'export const shout = (text: string) => "changed";\n');
        const changed = await runHere(project, argumentsOf(spec));
        expect(changed.code).toBe(3);
      }),
    patience,
  );

  test.concurrent(
    "two of them see each other's edits, in the order in which they were named, and clean up in reverse",
    async () => {
      const one = (name: string) =>
        pluginText(
          name,
          `team.hooks.beforeLaunch.tap("${name}", (request) => { if (request.round === 1) request.query += " ${name}"; }); return () => team.log.info("closed");`,
        );
      const { launches, stderr } = await playRun({
        plays: team,
        files: { "first.ts": one("first"), "second.ts": one("second") },
        args: ["--plugin", "./second.ts", "--plugin", "./first.ts"],
      });
      expect(launches.find(({ kind }) => kind === "step")?.query).toBe("Say hello second first");
      expect(stderr.indexOf("first: closed")).toBeLessThan(stderr.indexOf("second: closed"));
    },
    patience,
  );

  test.concurrent(
    "--without-plugin leaves one out, built in or not",
    async () => {
      const { launches } = await playRun({
        plays: team,
        ...withPlugin("editor", 'team.hooks.beforeLaunch.tap("editor", (request) => { request.query = "edited"; });', [
          "--without-plugin",
          "editor",
        ]),
      });
      expect(launches.every(({ query }) => query !== "edited")).toBe(true);
      const slow = await playRun({
        plays: { a: "answer", b: "answer" },
        timeIsUp: ["started-agent_a-1"],
        args: ["--without-plugin", "timeout", "--timeout", "1000", "--max-rounds", "1"],
      });
      expect(slow.result.decision).toMatchObject({ reason: "max_rounds" });
    },
    patience,
  );

  test.concurrent(
    "two of one name are refused",
    async () => {
      const text = pluginText("same", "");
      const { code, stderr } = await playRefusal({
        plays: team,
        files: { "a.ts": text, "b.ts": text },
        args: ["--plugin", "./a.ts", "--plugin", "./b.ts"],
      });
      expect(code).toBe(3);
      expect(stderr).toContain("two plugins are named same");
    },
    patience,
  );
});

/** A run whose decisions a plugin makes, so that counting the votes again would come to another end. */
async function unchecked(spec: Parameters<typeof playRun>[0]) {
  return playRun({ ...spec, pluginDecides: true });
}
