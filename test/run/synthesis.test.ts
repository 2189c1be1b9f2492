import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { FakeStep } from "../fixtures/fake-massgen/script.ts";
import { withPlugin } from "../support/outside-plugin.ts";
import { type KeptRun, patience, playRun } from "../support/runs.ts";
import { tell } from "../support/story.ts";

// design.md, "Synthesis": one more step by the winner's model; where it brings nothing, the winner's answer is delivered and the cause is said.

const agree = "answer, vote a";
const agent = ["--synthesis", "agent"];
const synthesis = (step: FakeStep) => ({ rules: [{ when: { session: "synthesis/session" }, step }] });
const document = ({ directory }: KeptRun) => readFileSync(directory.finalAnswer, "utf8");

describe("a synthesis by a model", () => {
  tell([
    {
      title: "replaces document and deliverable; the winner's own are kept beside them",
      plays: {
        a: [{ answer: { text: "The winner's text", files: { "index.html": "<p>winner</p>\n", "extra.txt": "x" } } }, "vote a"],
        b: agree,
      },
      script: synthesis({ answer: { text: "The merged text", files: { "index.html": "<p>merged</p>\n" } } }),
      args: agent,
      ends: "consensus majority a, exit 0",
      look: (run) => {
        const { result, directory } = run;
        expect(result.synthesis).toMatchObject({
          kind: "agent",
          why_not_agent: null,
          path: directory.finalAnswer,
          deliverable: directory.deliverable,
        });
        expect(document(run)).toContain("The merged text");
        expect(document(run)).not.toContain("Changed their minds");
        expect(readFileSync(join(directory.deliverable, "index.html"), "utf8")).toBe("<p>merged</p>\n");
        expect(readFileSync(join(directory.winner, "answer.md"), "utf8")).toBe("The winner's text");
        expect(result.answer).toBe("The winner's text");
      },
    },
    {
      title: "is a step by the winner's model, in a session of its own that starts empty, with the answers to read",
      plays: { a: "answer, vote b", b: "answer, vote b" },
      args: agent,
      script: synthesis({ answer: { text: "The merged text", workspace: false } }),
      ends: "consensus majority b, exit 0",
      look: ({ launches, directory, events, result }) => {
        const step = launches.find(({ sessionDir }) => sessionDir?.includes("/synthesis/"));
        expect(step?.agent).toBe("agent_b");
        const config = Bun.YAML.parse(readFileSync(step?.config ?? "", "utf8")) as {
          agents: { backend: { model: string } }[];
          orchestrator: { context_paths: { path: string; permission: string }[] };
        };
        expect(config.agents[0]?.backend.model).toBe("model-b");
        const [sources] = config.orchestrator.context_paths;
        expect(sources?.permission).toBe("read");
        expect(readdirSync(sources?.path ?? "")).toEqual(expect.arrayContaining(["agent_a", "agent_b"]));
        expect(readdirSync(join(directory.synthesis, "session/agents"))).toEqual(["agent_b"]);
        expect(events.filter(({ type }) => type === "synthesis.finished").length).toBe(2);
        expect(result.cost.total_usd).toBe(0.05);
      },
    },
    {
      title: "by another model when synthesizer: says so",
      plays: { a: agree, b: agree },
      yaml: "synthesizer: grok/other\n",
      args: agent,
      script: synthesis({ answer: { text: "By another", workspace: false } }),
      ends: "consensus majority a, exit 0",
      look: ({ launches, result }) => {
        const step = launches.find(({ sessionDir }) => sessionDir?.includes("/synthesis/"));
        expect(readFileSync(step?.config ?? "", "utf8")).toContain("model: other");
        expect(result.synthesis.kind).toBe("agent");
      },
    },
  ]);
});

describe("a synthesis that is paid for is delivered", () => {
  const plays = { a: [{ answer: { text: "The winner's text", files: { "winner.txt": "w" } } }, "vote a"], b: agree };
  const script = synthesis({ answer: { text: "The merged text", files: { "merged.txt": "m" } } });
  const delivered = (run: KeptRun) => {
    expect(run.result.synthesis).toMatchObject({ kind: "agent", why_not_agent: null, deliverable: run.directory.deliverable });
    expect(document(run)).toContain("The merged text");
    expect(document(run)).not.toContain("The winner's text");
    expect(readdirSync(run.directory.deliverable)).toEqual(["merged.txt"]);
  };
  const slowCheck = `team.hooks.onSynthesis.tapPromise({ name: "slow", stage: SynthesisStage.check }, async ({ kind }) => {
    if (kind === "agent") await new Promise(() => {});
  });
  team.hooks.onSynthesis.tap({ name: "slow", stage: SynthesisStage.check - 1 }, ({ kind }) => {
    if (kind === "agent") team.stop({ reason: "plugin", message: "the synthesis has landed" });
  });`;
  tell([
    {
      title: "also without a plugin that makes a document of it",
      plays,
      script,
      args: [...agent, "--without-plugin", "markdown-synthesis"],
      ends: "consensus majority a, exit 0",
      look: delivered,
    },
    {
      title: "also when a signal comes while it is checked",
      plays,
      script,
      ...withPlugin("slow", slowCheck, agent),
      onEvent(event, { kill }) {
        if (event.type === "stop" && event.reason === "plugin") kill("SIGINT");
      },
      ends: "consensus majority a, exit 130",
      look: delivered,
    },
  ]);
});

describe("a synthesis that brings nothing", () => {
  const faults: readonly (readonly [title: string, step: FakeStep, why: RegExp])[] = [
    ["fails", { fail: "server" }, /\(model: 500: The server had an error/],
    ["has no key", { fail: "auth" }, /\(auth: 401/],
    ["crashes", { fail: { exit: -11, stderr: [] } }, /\(crash: .*SIGSEGV/],
    ["votes instead of answering", { vote: "agent_a" }, /it voted instead of answering/],
    ["answers with nothing to see", { answer: { text: "  " } }, /\(empty: /],
    ["leaves garbage", { answer: { text: "x", garble: "cut" } }, /\(garbled: /],
    ["ends without a word", { nothing: true }, /\(no_action: /],
  ];
  for (const [title, step, why] of faults) {
    tell([
      {
        title,
        plays: { a: [{ answer: { text: "The winner's text", files: { "index.html": "<p>winner</p>\n" } } }, "vote a"], b: agree },
        script: synthesis(step),
        args: agent,
        ends: "consensus majority a, exit 0",
        look: (run) => {
          const { result, directory, stderr, launches } = run;
          expect(result.synthesis).toMatchObject({ kind: "markdown", why_not_agent: expect.stringMatching(why) });
          expect(document(run)).toContain("The winner's text");
          expect(readFileSync(join(directory.deliverable, "index.html"), "utf8")).toBe("<p>winner</p>\n");
          expect(stderr).toContain("synthesis: the winner's answer stands as it is: the synthesis step brought no answer");
          // No retry: the answer is there.
          expect(launches.filter(({ sessionDir }) => sessionDir?.includes("/synthesis/")).length).toBe(1);
        },
      },
    ]);
  }

  tell([
    {
      title: "with one answer only there is nothing to merge",
      plays: { a: "answer", b: "fail auth" },
      args: agent,
      ends: "single only_agent a, exit 0",
      look: ({ result, launches }) => {
        expect(result.synthesis.why_not_agent).toBe("there is only one answer, so there is nothing to merge");
        expect(launches.filter(({ kind }) => kind === "step").length).toBe(2);
      },
    },
    {
      title: "without an answer there is no document at all",
      plays: { a: "fail auth", b: "fail auth" },
      args: agent,
      ends: "none agents_failed, exit 5",
      look: ({ directory, result }) => {
        expect(readdirSync(directory.synthesis)).toEqual([]);
        expect(result.synthesis).toEqual({ kind: "none", path: null, deliverable: null, winner: null, why_not_agent: null });
      },
    },
    {
      title: "--synthesis markdown starts no step and says nothing about one",
      plays: { a: agree, b: agree },
      args: ["--synthesis", "markdown"],
      ends: "consensus majority a, exit 0",
      look: ({ result, stderr, directory }) => {
        expect(result.synthesis).toMatchObject({ kind: "markdown", why_not_agent: null });
        expect(stderr).not.toContain("synthesis:");
        expect(existsSync(join(directory.synthesis, "session"))).toBe(false);
      },
    },
  ]);
});

describe("the document", () => {
  test.concurrent(
    "has the answer first, then votes, dissent, what others contributed, cost, and that nothing was merged or tested",
    async () => {
      await playRun({ plays: { a: agree, b: "answer after a, vote b", c: "answer, vote a", d: "fail auth" } }, (run) => {
        const text = document(run);
        const inOrder = ["An answer, number 1", "2 of 3 agents voted for agent_a", "agent_b", "## Cost"];
        const places = inOrder.map((part) => text.indexOf(part));
        expect(places.every((place) => place >= 0)).toBe(true);
        expect(places).toEqual([...places].sort((one, other) => one - other));
        expect(text).toContain("Nothing was merged or tested");
        expect(text).toContain("agent_d");
      });
    },
    patience,
  );
});
