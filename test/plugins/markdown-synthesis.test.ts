import { describe, expect, test } from "bun:test";
import fs from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import type { Token } from "markdown-it";
import type { RunResult } from "mg-team";
import markdownSynthesis from "../../plugins/markdown-synthesis/index.ts";
import { type FinalAnswerInput, renderFinalAnswer } from "../../plugins/markdown-synthesis/render.ts";
import { createMarkdown } from "../../src/checks/markdown.ts";
import type { SynthesisDocument } from "../../src/plugin/hooks.ts";
import { fakeTeam } from "../support/team.ts";
import { temporaryDirectory } from "../support/temp.ts";
import { agentWith, ballotWith, costWith, inputWith, resultWith } from "./markdown-input.ts";

const markdown = await createMarkdown({ html: true });

/** Headings of the frame, cells of its tables, and all links, after the line that ends the answer. */
function partsOf(document: string) {
  const tokens = markdown.parse(document, {});
  const mark = /end of the answer ([0-9a-f]+)”/.exec(document)?.[1] ?? "";
  const end = tokens.findLastIndex(
    ({ type, content, level }) => type === "inline" && level === 1 && content === `*— end of the answer ${mark} —*`,
  );
  const after = tokens.slice(end);
  const next = (index: number) => after[index + 1]?.content ?? "";
  const headings = after.flatMap((token, index) =>
    token.type === "heading_open" && token.level === 0 ? [`${token.tag} ${next(index)}`] : [],
  );
  const rows: string[][] = [];
  for (const [index, { type }] of after.entries()) {
    if (type === "tr_open") rows.push([]);
    if (type === "th_open" || type === "td_open") rows.at(-1)?.push(textOf(after[index + 1]));
  }
  const links = after.flatMap(({ children }) =>
    (children ?? []).flatMap((child) => (child.type === "link_open" ? [String(child.attrGet("href"))] : [])),
  );
  return { end, headings, rows, links, tokens: after };
}

function textOf(token: Token | undefined): string {
  return (token?.children ?? []).map(({ content }) => content).join("");
}

/** A run with everything that can go wrong in it. */
function roughResult(): RunResult {
  return resultWith({
    decision: {
      kind: "forced",
      reason: "timeout",
      rule: "The time limit of 1800 s is reached; most valid votes: agent_a (1).",
      winner: "agent_a",
      winner_model: "codex/gpt-5.4",
      tally: { agent_a: 1 },
      ballots: [
        ballotWith("a", "a", { reason: "Mine is complete." }),
        ballotWith("b", "c", { standing: "stale", why: "agent_c has answered since", reason: "It is short." }),
        ballotWith("c", "d", { standing: "invalid", why: "agent_d has no answer", reason: "" }),
      ],
    },
    rounds: 3,
    limits: { ...resultWith().limits, reached: "timeout" },
    cost: {
      total_usd: 0.42,
      known: "partial",
      by_agent: { agent_a: costWith(0.42), agent_b: costWith(0.1, "partial"), agent_c: costWith(null), agent_d: costWith(null) },
    },
    agents: [
      agentWith("a", ["answer", "vote:b", "vote:a"]),
      agentWith("b", ["answer", "vote:c"]),
      agentWith("c", ["vote:a", "answer", "vote:d"]),
      agentWith("d", ["failed"], {
        status: "out",
        failure: { class: "auth", message: "401 Incorrect API key provided.", log: "runs/agent_d/r1/stderr.log" },
      }),
    ],
    checks: [
      { file: "app.js", line: 3, check: "javascript", message: "Unexpected token" },
      { file: ".", line: 0, check: "limits", message: "1 file is larger than 1 MiB and not checked: data.json" },
    ],
    engine: { name: "massgen", version: "0.1.97", ballot_fix: "off" },
    warnings: ["pipe is not in the deliverable: it is a pipe"],
  });
}

const cases: Readonly<Record<string, () => FinalAnswerInput>> = {
  consensus: () => inputWith(),
  forced: () => inputWith({ result: roughResult() }),
  single: () =>
    inputWith({
      whyNotAgent: "there is only one answer, so there is nothing to merge",
      files: [],
      result: resultWith({
        decision: {
          kind: "single",
          reason: "only_agent",
          rule: "Only agent_a is left, so its answer is taken directly.",
          winner: "agent_a",
          winner_model: "codex/gpt-5.4",
          tally: {},
          ballots: [],
        },
        rounds: 1,
        agents: [
          agentWith("a", ["answer"]),
          agentWith("b", ["failed"], { status: "out", failure: { class: "quota", message: "429", log: "" } }),
        ],
        cost: { total_usd: null, known: "none", by_agent: { agent_a: costWith(null), agent_b: costWith(null) } },
        synthesis: { kind: "markdown", path: null, deliverable: null, winner: null, why_not_agent: null },
        plugins: {},
      }),
    }),
  synthesis: () => inputWith({ madeBy: "claude/claude-opus-4-6", answer: "# Landing page\n\nMerged.\n\n```html\n<p>left open" }),
  none: () =>
    inputWith({
      answer: "",
      answers: [],
      files: [],
      result: resultWith({
        answer: null,
        decision: {
          kind: "none",
          reason: "agents_failed",
          rule: "All agents have failed; no agent has submitted an answer.",
          winner: null,
          winner_model: null,
          tally: {},
          ballots: [],
        },
        rounds: 1,
        agents: [
          agentWith("a", ["failed"], {
            status: "out",
            failure: { class: "crash", message: "ImportError", log: "runs/agent_a/r1/stderr.log" },
          }),
        ],
        cost: { total_usd: 0, known: "all", by_agent: { agent_a: costWith(0) } },
        synthesis: { kind: "none", path: null, deliverable: null, winner: null, why_not_agent: null },
      }),
    }),
};

describe("whole documents", () => {
  // To change them on purpose: UPDATE_GOLDEN=1 bun test test/plugins/markdown-synthesis.test.ts, then read the difference.
  test.each(Object.keys(cases))("%s", async (name) => {
    const path = join(import.meta.dir, "golden", `${name}.golden`);
    const document = await renderFinalAnswer(cases[name]?.() ?? inputWith());
    if (process.env.UPDATE_GOLDEN) fs.writeFileSync(path, document);
    expect(document).toBe(fs.readFileSync(path, "utf8"));
  });

  test("without a winner there is no answer and no line that ends one", async () => {
    expect(await renderFinalAnswer(cases.none?.() ?? inputWith())).toStartWith("> **There is no answer.**\n\n## How it was decided\n");
  });

  test("the same input gives the same document", async () => {
    expect(await renderFinalAnswer(inputWith())).toBe(await renderFinalAnswer(inputWith()));
  });
});

describe("the answer", () => {
  test("comes first, as it was written, its headings at their levels", async () => {
    const answer = "# One\n\n## Two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```js\nlet a;\n```";
    const document = await renderFinalAnswer(inputWith({ answer }));
    expect(document).toContain(`\n\n${answer}\n\n---\n\n*— end of the answer`);
    expect(document.indexOf(answer)).toBeLessThan(500);
  });

  test.each(["```", "~~~~ text", "<!--", "<details>", '<div class="x', "- a\n  ```", "<script>", "| a |", "[x]: /evil", "<plaintext>"])(
    "leaves nothing open behind it: %p",
    async (ending) => {
      const { headings, rows } = partsOf(await renderFinalAnswer(inputWith({ answer: `# Title\n\ntext\n\n${ending}` })));
      expect(headings).toEqual(partsOf(await renderFinalAnswer(inputWith())).headings);
      expect(rows).toHaveLength(8);
    },
  );

  test("cannot write the line that ends it, nor the frame after it", async () => {
    const honest = await renderFinalAnswer(inputWith());
    const forged = honest.slice(honest.indexOf("# Landing page")).replaceAll("agent_b", "agent_c");
    const document = await renderFinalAnswer(inputWith({ answer: forged }));
    const mark = /end of the answer ([0-9a-f]+)”/.exec(document)?.[1] ?? "";
    expect(forged).not.toContain(mark);
    expect(document.split(`*— end of the answer ${mark} —*`)).toHaveLength(2);
    expect(partsOf(document).rows[2]?.[0]).toBe("agent_b");
  });

  test("control characters do not reach the terminal", async () => {
    const document = await renderFinalAnswer(inputWith({ answer: "a\u001b]0;evil\u0007b" }));
    expect(document).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/);
  });
});

describe("untrusted words", () => {
  const hostile = fc.oneof(
    fc.constantFrom(
      "| x | y |",
      "`",
      "```\n",
      "<script>alert(1)</script>",
      "[a](javascript:x)",
      "](x)",
      "**",
      "\n\n# Winner: me\n\n",
      "<!--",
      "\u001b[2J",
      "\u202e",
      "\\",
      "> ",
      "- ",
      "",
      "  ",
      "x".repeat(3000),
    ),
    fc.string({ maxLength: 20 }),
  );
  const text = fc.array(hostile, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(""));

  test("change neither headings, nor tables, nor where links lead", async () => {
    const expected = partsOf(await renderFinalAnswer(cases.forced?.() ?? inputWith()));
    await fc.assert(
      fc.asyncProperty(text, text, text, async (reason, model, name) => {
        const result = roughResult();
        const spoiled: RunResult = {
          ...result,
          decision: {
            ...result.decision,
            rule: reason,
            winner_model: model,
            ballots: result.decision.ballots.map((ballot) => ({ ...ballot, reason, why: ballot.why && name })),
          },
          agents: result.agents.map((agent) => ({ ...agent, model, failure: agent.failure && { ...agent.failure, message: reason } })),
          checks: result.checks.map((finding) => ({ ...finding, file: finding.file === "." ? "." : name || "x", message: reason })),
          warnings: [reason],
        };
        const files = [{ path: `a/${name.replaceAll("\0", "")}`.replaceAll("//", "/"), bytes: 1 }];
        const answers = inputWith({ result }).answers.map((answer) => ({ ...answer, text: `${reason}\n\n${name}` }));
        const document = await renderFinalAnswer(inputWith({ result: spoiled, files, answers }));
        const { headings, rows, links, tokens } = partsOf(document);
        expect(headings).toEqual(expected.headings);
        expect(rows.map((row) => row.length)).toEqual(expected.rows.map((row) => row.length));
        expect(links.every((link) => /^(\.\.\/(session|runs)\/|deliverable|winner)/.test(link))).toBe(true);
        expect(tokens.some(({ type }) => type === "html_block")).toBe(false);
        expect(document).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202e]/);
      }),
      { numRuns: 200 },
    );
  });

  test("a very long reason is cut in the table, and kept longer where its voter dissents", async () => {
    const result = resultWith();
    const reason = "word ".repeat(1000);
    const ballots = result.decision.ballots.map((ballot) => ({ ...ballot, reason }));
    const document = await renderFinalAnswer(inputWith({ result: { ...result, decision: { ...result.decision, ballots } } }));
    const { rows } = partsOf(document);
    expect(rows[1]?.[5]?.length).toBeLessThan(125);
    expect(document).toMatch(/> (word ){300}/);
    expect(document.length).toBeLessThan(10_000);
  });

  test("file names of all kinds lead to their files", async () => {
    const paths = ["a b/c(d).html", "x?y#z.md", "100%.txt", "<b>.html", "日本/ü.txt", "[x].md", "a|b.md"];
    const { links } = partsOf(await renderFinalAnswer(inputWith({ files: paths.map((path) => ({ path, bytes: 1 })) })));
    expect(
      links.filter((link) => link.startsWith("deliverable/")).map((link) => decodeURIComponent(link).slice("deliverable/".length)),
    ).toEqual(paths);
  });
});

describe("facts", () => {
  const documentOf = (more: Partial<RunResult>, rest: Partial<FinalAnswerInput> = {}) =>
    renderFinalAnswer(inputWith({ result: resultWith(more), ...rest }));

  test("what is unknown is never shown as nothing", async () => {
    const partial = await documentOf({ cost: roughResult().cost });
    expect(partial).toContain("Total: ≥ $0.42 (3 of 4 agents unpriced), in 5m 12s.");
    expect(partial).toContain("≥ $0.10");
    const none = await documentOf({ cost: { total_usd: null, known: "none", by_agent: { agent_a: costWith(null) } } });
    expect(none).toContain("Total: unknown");
    expect(none).not.toContain("$0");
  });

  test("money of a synthesis by somebody outside of the team is listed too", async () => {
    const { cost } = resultWith();
    const { rows } = partsOf(await documentOf({ cost: { ...cost, by_agent: { ...cost.by_agent, synthesis: costWith(1.5) } } }));
    expect(rows.at(-1)).toEqual(["synthesis", "", "", "", "12,345", "678", "$1.50"]);
  });

  test.each([1, 2, 3, 4, 5, 6])("a team of %d: every agent is in the cost table and, unless it won, among the others", async (count) => {
    const letters = [..."abcdef"].slice(0, count);
    const agents = letters.map((letter) => agentWith(letter, ["answer", "vote:a"]));
    const { decision } = resultWith();
    const document = await documentOf({
      agents,
      decision: { ...decision, winner: "agent_a", tally: { agent_a: count }, ballots: letters.map((letter) => ballotWith(letter, "a")) },
      cost: { total_usd: 1, known: "all", by_agent: Object.fromEntries(letters.map((letter) => [`agent_${letter}`, costWith(1)])) },
    });
    const { rows, headings } = partsOf(document);
    expect(rows.filter((row) => row.length === 7)).toHaveLength(count + 1);
    expect(rows.filter((row) => row.length === 6)).toHaveLength(count + 1);
    expect(headings.includes("h2 What the others contributed")).toBe(count > 1);
    expect(document.match(/^> The page of agent_\w is/gm) ?? []).toHaveLength(count - 1);
    expect(document).toContain(`(${count} of ${count} vote${count === 1 ? "" : "s"})`);
  });

  test("one of a thing is singular", async () => {
    const document = await documentOf(
      { rounds: 1, checks: [{ file: "a", line: 1, check: "json", message: "x" }] },
      { files: [{ path: "a", bytes: 1 }] },
    );
    expect(document).toContain("It took 1 round.");
    expect(document).toContain("1 finding. ");
    expect(document).toContain("1 file, 1 byte, in");
    expect(document).toContain("Dissent, 1 vote:");
  });

  test("who changed their mind is told, a repeated vote is none", async () => {
    const agents = [
      agentWith("a", ["vote:b", "vote:b"]),
      agentWith("b", ["answer", "vote:c", "answer", "vote:b"]),
      agentWith("c", ["answer", "answer", "vote:a"]),
    ];
    const document = await documentOf({ agents, rounds: 4 });
    expect(document).toContain("Changed their minds:\n\n- agent_b voted for agent_c, then gave a new answer, then voted for itself\n\n");
  });

  test("without findings it says what was looked at, and nothing when the checks did not run", async () => {
    expect(await documentOf({})).toContain("## Checks\n\nNothing was found in 2 files. The files were read, not run.");
    expect(await documentOf({ plugins: {} })).not.toContain("## Checks");
    expect(await documentOf({}, { files: [] })).not.toContain("## Checks");
  });

  test("long lists are cut and counted", async () => {
    const many = Array.from({ length: 120 }, (_, index) => index);
    const document = await documentOf(
      { checks: many.map((index) => ({ file: "a.js", line: index + 1, check: "json", message: "x" })), rounds: 60 },
      { files: many.map((index) => ({ path: `f${index}`, bytes: 1 })) },
    );
    expect(document).toContain("- and 70 more files");
    expect(document).toContain("- and 70 more findings, in result.json");
    expect(document).toContain("- and 10 more rounds");
  });

  test.each([
    ["max_rounds", "The limit of 5 steps per agent was reached."],
    ["timeout", "The time limit of 30m was reached."],
    ["cost_budget", "The budget of $5.00 was reached."],
  ] as const)("the limit %s is named", async (reached, words) => {
    const limits = { ...resultWith().limits, cost_budget: 5, reached };
    expect(await documentOf({ limits })).toContain(`## Notes\n\n- ${words}\n`);
  });

  test("that nothing was merged or tested is said, or whose word it is", async () => {
    expect(await renderFinalAnswer(inputWith())).toContain("Nothing was merged or tested.");
    const synthesised = await renderFinalAnswer(inputWith({ madeBy: "claude/x" }));
    expect(synthesised).not.toContain("Nothing was merged or tested.");
    expect(synthesised).toContain("mg-team ran none of it");
    expect(synthesised).toContain("[winner/answer.md](winner/answer.md)");
  });
});

describe("the plugin", () => {
  test("builds the document of both kinds from the result, the answers and the files, and sets nothing else", async () => {
    await using temp = temporaryDirectory();
    temp.write("synthesis/deliverable/index.html", "<p>");
    const team = fakeTeam();
    await markdownSynthesis.apply(team, undefined);
    const base = resultWith();
    const result = { ...base, synthesis: { ...base.synthesis, deliverable: temp.join("synthesis/deliverable") } };
    for (const kind of ["markdown", "agent"] as const) {
      const document: SynthesisDocument = {
        kind,
        answer: "# A",
        madeBy: null,
        markdown: "",
        whyNotAgent: null,
        result,
        directory: temp.join("synthesis"),
      };
      const before = structuredClone({ ...document, markdown: "" });
      const settled = (await team.hooks.onSynthesis.promise(document)) ?? document;
      expect(settled.markdown).toContain("# A\n");
      expect(settled.markdown).toContain("[index.html](deliverable/index.html)");
      expect({ ...settled, markdown: "" }).toEqual(before);
    }
  });
});
