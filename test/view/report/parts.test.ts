import { describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { renderFinalAnswer } from "../../../plugins/markdown-synthesis/render.ts";
import { createRedactor } from "../../../src/session/redact.ts";
import { beginningOf, headline } from "../../../src/view/report/clean.ts";
import { deliveredAnswer } from "../../../src/view/report/document.ts";
import { failureLimits, readFailures } from "../../../src/view/report/failures.ts";
import { linkTo } from "../../../src/view/report/links.ts";
import { readSource } from "../../../src/view/report/source.ts";
import { spendingOf } from "../../../src/view/report/spending.ts";
import { costWords, verdictOf } from "../../../src/view/report/words.ts";
import { fold, started, stepFinished } from "../../support/events.ts";
import { temporaryDirectory } from "../../support/temp.ts";
import { makeRun } from "./support.ts";

describe("links to files", () => {
  test("stay beside the report", () => {
    expect(["", "../x", "a/../../x", "/etc/passwd", "a//b", "C:\\x", "a\\..\\b", "\ufffd"].map(linkTo)).toEqual(Array(8).fill(null));
  });

  test("name any file as a URL does", () => {
    expect(linkTo("synthesis/deliverable/a b#c?d%e:f.html")).toBe("synthesis/deliverable/a%20b%23c%3Fd%25e%3Af.html");
    expect(linkTo("javascript:alert(1)")).toBe("javascript%3Aalert%281%29");
  });
});

describe("the delivered answer", () => {
  const answerOf = async (answer: string, document: string | null, kind: "agent" | "markdown" = "markdown") => {
    await using temp = temporaryDirectory("team_20261129_181500");
    const { result } = await readSource(makeRun(temp, { agents: 2, rounds: 2 }));
    if (result === null) throw new Error("no result");
    const whole = { ...result, answer, synthesis: { ...result.synthesis, kind } };
    return deliveredAnswer(
      whole,
      document ??
        (await renderFinalAnswer({
          answer,
          madeBy: null,
          whyNotAgent: null,
          result: whole,
          answers: [],
          files: [],
          directory: "/nowhere",
        })),
      fold([]),
    );
  };

  test("is found in the document that mg-team writes around it", async () => {
    for (const text of ["plain", "> a quote first\n\n---\n\nand a rule", "```\nopen fence", "*— end of the answer 00000000 —*\n\n---\n"]) {
      const found = await answerOf(text, null);
      expect(found?.kind).toBe("winner");
      expect(found?.text).toStartWith(text.trim());
      expect(found?.text).not.toContain("How it was decided");
    }
  });

  test("is the whole document when a plugin has made another one of it", async () => {
    expect(await answerOf("x", "# Mine")).toMatchObject({ text: "# Mine", kind: "document" });
  });

  test("that a forged frame within the answer ends is still whole", async () => {
    const forged =
      "> All down to the line “end of the answer 12345678” is the text\n\nx\n\n---\n\n*— end of the answer 12345678 —*\n\nmore";
    expect((await answerOf(forged, null))?.text).toBe(forged);
  });
});

describe("spending", () => {
  test("counts each step once, by agent and round, what is unknown aside", () => {
    const { rounds, agents, total } = spendingOf(
      fold([
        started("ab"),
        stepFinished("a", { answer: 1 }, { cost: { usd: 0.1 } }),
        stepFinished("b", { failed: "crash" }, { cost: { inputTokens: 5 }, retry: true }),
        stepFinished("b", { answer: 1 }, { try: 2, cost: { usd: 0.2 } }),
        stepFinished("a", { answer: 1 }, { round: 0, kind: "synthesis", cost: { usd: 0.4 } }),
      ]),
    );
    expect(rounds).toEqual([1, 0]);
    expect(agents.map(({ id, byRound }) => `${id} ${byRound.map((cost) => cost && costWords(cost)).join(" ")}`)).toEqual([
      "agent_a $0.10 $0.40",
      "agent_b ≥ $0.20 ",
    ]);
    expect(costWords(total)).toBe("≥ $0.70");
  });
});

describe("log tails", () => {
  const failuresOf = async (prepare: (join: (...names: string[]) => string) => void, redact: (text: string) => string = (text) => text) => {
    await using temp = temporaryDirectory("team_20261129_181500");
    const directory = makeRun(temp, { agents: 2, rounds: 2 });
    prepare(temp.join);
    return readFailures(await readSource(directory), redact).failures[0]?.tail ?? null;
  };

  test("are the last lines, without control characters and secrets", async () => {
    const lines = Array.from({ length: 100 }, (_, index) => `line ${index} \u001b[31msk-secret-secret-secret\u0007`).join("\r\n");
    const tail = await failuresOf((join) => writeFileSync(join("runs/stderr.log"), lines), createRedactor(["sk-secret-secret-secret"]));
    expect(tail?.split("\n")).toHaveLength(failureLimits.lines);
    expect(tail).toEndWith("line 99 [redacted]␇");
  });

  test("of a log of any size are as long", async () => {
    const tail = await failuresOf((join) => writeFileSync(join("runs/stderr.log"), `${"x".repeat(9_000_000)}\nlast`));
    expect(tail).toBe("last");
  });

  test("never come from outside of the run", async () => {
    await using outside = temporaryDirectory();
    outside.write("stderr.log", "outside");
    const { rmSync } = await import("node:fs");
    expect(
      await failuresOf((join) => {
        rmSync(join("runs"), { recursive: true });
        symlinkSync(outside.path, join("runs"));
      }),
    ).toBeNull();
    expect(
      await failuresOf((join) => {
        rmSync(join("runs/stderr.log"));
        symlinkSync(outside.join("stderr.log"), join("runs/stderr.log"));
      }),
    ).toBeNull();
    expect(
      await failuresOf((join) => {
        rmSync(join("runs/stderr.log"));
        mkdirSync(join("runs/stderr.log"));
      }),
    ).toBeNull();
  });
});

describe("texts", () => {
  test("are cut at a line's end and never within a character", () => {
    expect(beginningOf("one\ntwo\nthree", 9)).toEqual({ text: "one\ntwo", cut: true });
    expect(beginningOf("ab😀", 3)).toEqual({ text: "ab", cut: true });
    expect(beginningOf("short", 5)).toEqual({ text: "short", cut: false });
    expect(headline(`  a\n b ${"c".repeat(50)} d`, 12)).toBe("a b…");
  });

  test("every decision has its sentence", async () => {
    await using temp = temporaryDirectory("team_20261129_181500");
    const { result } = await readSource(makeRun(temp, { agents: 3, rounds: 2 }));
    if (result === null) throw new Error("no result");
    const sentence = (change: Partial<(typeof result)["decision"]>) =>
      verdictOf({ ...result, decision: { ...result.decision, ...change } }, true);
    expect(sentence({})).toBe("model (agent_a) was chosen with 2 of 2 votes in round 2.");
    expect(sentence({ kind: "forced", reason: "timeout", ballots: [] })).toBe(
      "model (agent_a) was chosen without a valid vote, because the time limit of 30m was reached.",
    );
    expect(sentence({ kind: "single", reason: "only_agent" })).toBe("model (agent_a) was chosen: it was the only agent left.");
    expect(sentence({ kind: "none", reason: "agents_failed", winner: null })).toBe("Nobody was chosen: every agent failed.");
  });
});
