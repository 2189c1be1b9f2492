import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { FakeStep } from "../fixtures/fake-massgen/script.ts";
import { type KeptRun, onlyRun, patience, playRun } from "../support/runs.ts";
import { tell } from "../support/story.ts";

// What a synthesis finds on disk, and what it leaves there (design.md, "Synthesis").

const winner: FakeStep = {
  answer: { text: "The winner's text", files: { "index.html": "<p>winner</p>\n", "style.css": "p {}\n", "data.json": "{}\n" } },
};
const plays = { a: [winner, "vote a"], b: "answer, vote a" };
const args = ["--synthesis", "agent"];
const synthesis = (files: Readonly<Record<string, string>>, more: FakeStep = {}) => ({
  rules: [{ when: { session: "synthesis/session" }, step: { answer: { text: "The merged text", files }, ...more } }],
});
const whole = { "index.html": "<p>merged</p>\n", "style.css": "p {}\n", "data.json": "{}\n" };
const ends = "consensus majority a, exit 0";
const document = ({ directory }: KeptRun) => readFileSync(directory.finalAnswer, "utf8");

test.concurrent(
  "before a synthesis begins, document, deliverable and result.json are on disk, whole, so that nothing can lose them",
  async () => {
    const found: Record<string, object> = {};
    await playRun({
      plays,
      args,
      script: synthesis(whole),
      onEvent(event, { project }) {
        const begins = event.type === "synthesis.started" && event.kind === "agent";
        const launched = event.type === "step.started" && event.kind === "synthesis";
        if (!begins && !launched) return;
        const directory = onlyRun(project);
        const { decision, answer, synthesis: made, exit_code } = JSON.parse(readFileSync(directory.result, "utf8"));
        found[begins ? "begins" : "launched"] = {
          document: readFileSync(directory.finalAnswer, "utf8").includes("The winner's text"),
          deliverable: readFileSync(join(directory.deliverable, "index.html"), "utf8"),
          winner: readFileSync(join(directory.winner, "answer.md"), "utf8"),
          result: [decision.kind, decision.winner, answer, made.kind, exit_code],
        };
      },
    });
    const before = {
      document: true,
      deliverable: "<p>winner</p>\n",
      winner: "The winner's text",
      result: ["consensus", "agent_a", "The winner's text", "markdown", 0],
    };
    expect(found).toEqual({ begins: before, launched: before });
  },
  patience,
);

describe("a synthesis step", () => {
  tell([
    {
      title: "gets the criteria that every other step gets, and the user's own context",
      plays,
      args: [...args, "--eval-criteria", "./criteria.json", "--context", "./notes.md"],
      files: { "criteria.json": '[{ "text": "It is short" }]', "notes.md": "notes" },
      script: synthesis(whole),
      ends,
      look: ({ launches, project }) => {
        const steps = launches.filter(({ kind }) => kind === "step");
        expect(steps.map(({ argv }) => argv[argv.indexOf("--eval-criteria") + 1])).toEqual(
          Array(5).fill(project.temp.join("project/criteria.json")),
        );
        const config = readFileSync(steps.at(-1)?.config ?? "", "utf8");
        expect(config).toContain(project.temp.join("project/notes.md"));
        expect(config).toMatch(/agent_a\/001\/workspace/);
      },
    },
  ]);
});

describe("the document of a synthesis", () => {
  tell([
    {
      title: "says who made it and of what, shows the decision, and its cost is in every total",
      plays,
      args: [...args, "--cost-budget", "5"],
      script: synthesis(whole, { cost: { usd: 0.5, inputTokens: 7000, outputTokens: 300 } }),
      ends,
      look: (run) => {
        const text = document(run);
        expect(text).toStartWith(
          "> **A synthesis by grok/model-a**, made from the answer of agent_a (grok/model-a), which was chosen by consensus (2 of 2 votes)",
        );
        expect(text).toContain("[winner/answer.md](winner/answer.md)");
        expect(text.indexOf("The merged text")).toBeLessThan(text.indexOf("## How it was decided"));
        expect(text).toContain("[index.html](deliverable/index.html)");
        const { cost, agents } = run.result;
        expect(cost).toMatchObject({ total_usd: 0.54, known: "all", by_agent: { agent_a: { usd: 0.52, input_tokens: 9000 } } });
        expect(agents[0]?.steps.at(-1)).toMatchObject({ round: 0, action: "new_answer", usd: 0.5 });
        expect(text).toContain("Total: $0.54");
        expect(run.stderr.trimEnd().split("\n").at(-1)).toStartWith("total spent: $0.54");
        expect(run.result.checks).toEqual([]);
        expect(run.result.warnings).toEqual([]);
      },
    },
    {
      title: "by another model names that one, and shows what it cost",
      plays,
      args,
      yaml: "synthesizer: claude\n",
      script: { requireKeys: true, ...synthesis(whole, { cost: { usd: 0.5 } }) },
      ends,
      look: (run) => {
        expect(document(run)).toStartWith("> **A synthesis by claude/claude-opus-4-6**, made from the answer of agent_a (grok/model-a)");
        expect(run.result.cost.total_usd).toBe(0.54);
        expect(document(run)).toMatch(/\| synthesizer \| claude\/claude-opus-4-6 \|.*\| +\$0\.50 \|\n/);
        expect(run.stderr).toContain("synthesizer: answered");
      },
    },
  ]);
});

describe("the deliverable of a synthesis", () => {
  tell([
    {
      title: "is checked as well: what is wrong in it is reported, and what was wrong in the winner's is no longer",
      plays: {
        ...plays,
        a: [{ answer: { text: "The winner's text", files: { "broken.json": "{", "index.html": "<p>winner</p>\n" } } }, "vote a"],
      },
      args,
      script: synthesis({ "broken.json": "{}\n", "index.html": "<p>merged</p>\n", "app.js": "function (\n" }),
      ends,
      look: (run) => {
        expect(run.result.checks.map(({ file, check }) => `${file} ${check}`)).toEqual(["app.js javascript"]);
        expect(document(run)).toMatch(/## Checks\n\n1 finding.*\n\n- app\.js, line 1 \(javascript\)/);
        expect(run.result.plugins.checks).toEqual({ files: 3 });
      },
    },
    {
      title: "that lost files of the winner, or emptied them, says so; the winner's own are whole beside it",
      plays,
      args,
      script: synthesis({ "index.html": "\n", "data.json": "{}\n" }),
      ends,
      look: (run) => {
        const { result, directory } = run;
        expect(result.warnings).toEqual([
          "the synthesis left out files of the winner: style.css; they are in winner/",
          "the synthesis emptied files of the winner: index.html; they are whole in winner/",
        ]);
        expect(document(run)).toMatch(/## Notes\n\n- the synthesis left out files of the winner: style\.css/);
        expect(existsSync(join(directory.deliverable, "style.css"))).toBe(false);
        expect(readFileSync(join(directory.winner, "workspace/style.css"), "utf8")).toBe("p {}\n");
        expect(readFileSync(join(directory.winner, "workspace/index.html"), "utf8")).toBe("<p>winner</p>\n");
        for (const warning of result.warnings) expect(run.stderr).toContain(warning);
      },
    },
    {
      title: "that has no files leaves the winner's, and says so",
      plays,
      args,
      script: synthesis({}),
      ends,
      look: (run) => {
        expect(run.result.warnings).toEqual(["the synthesis left no files, so deliverable/ holds the winner's"]);
        expect(readFileSync(join(run.directory.deliverable, "index.html"), "utf8")).toBe("<p>winner</p>\n");
        expect(run.result.synthesis).toMatchObject({ kind: "agent", deliverable: run.directory.deliverable });
      },
    },
  ]);
});
