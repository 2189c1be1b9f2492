import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { createRedactor } from "../../../src/session/redact.ts";
import { unknownCost } from "../../../src/types.ts";
import { temporaryDirectory } from "../../support/temp.ts";
import { elementsOf, makeRun, render, renderMade, textOf } from "./support.ts";

const hostile = `"'><script>alert(1)</script><img src=x onerror=alert(1)><a href="javascript:alert(1)">x</a>&lt;\`\${x}`;
const team = { agents: 3, rounds: 3 } as const;

describe("the page", () => {
  test("hostile text in any field changes no markup outside of the answers", async () => {
    const skeleton = (page: string) =>
      elementsOf(page)
        .filter(({ inProse }) => !inProse)
        .map(({ tag, attributes }) => `${tag} ${Object.keys(attributes)}`);
    const plain = skeleton(await renderMade(team));
    expect(skeleton(await renderMade({ ...team, text: (place) => `${hostile} ${place}` }))).toEqual(plain);
    expect(plain.length).toBeGreaterThan(200);
  });

  test("hostile text is shown where it stands", async () => {
    const shown = textOf(await renderMade({ ...team, text: (place) => `<b>${place}</b>` }));
    const places = [
      "query",
      "model",
      "reason",
      "rule",
      "message",
      "note",
      "warning",
      "check",
      "finding",
      "plugin",
      "data",
      "version",
      "file",
      "edit",
      "log",
    ];
    expect(places.filter((place) => !shown.includes(`<b>${place}<`))).toEqual([]);
  });

  test("there is nothing on it that runs, loads, or leads to a place that it should not", async () => {
    const elements = elementsOf(await renderMade({ ...team, text: (place) => `${hostile} ${place}` }));
    const tags = new Set(elements.map(({ tag }) => tag));
    for (const tag of ["script", "img", "iframe", "object", "embed", "link", "base", "form", "input", "video", "audio"])
      expect(tags).not.toContain(tag);
    const attributes = elements.flatMap((element) => Object.entries(element.attributes));
    expect(attributes.filter(([name]) => /^on|^style$|^src|action|^ping$/.test(name))).toEqual([]);
    const targets = attributes.filter(([name]) => name === "href").map(([, value]) => value);
    expect(targets.filter((target) => !/^(#[a-z-]+|(?:[\w.%~-]+\/)*[\w.%~-]+)$/i.test(target))).toEqual([]);
  });

  test("its policy forbids everything but its own style, which it names by its hash", async () => {
    const page = await renderMade(team);
    const policy =
      elementsOf(page).find(({ attributes }) => attributes["http-equiv"] === "Content-Security-Policy")?.attributes.content ?? "";
    const [, style = ""] = /<style>([\s\S]*?)<\/style>/.exec(page) ?? [];
    const hash = createHash("sha256").update(style).digest("base64");
    expect(policy).toBe(`default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`);
    expect(page.indexOf("Content-Security-Policy")).toBeLessThan(page.indexOf("<style>"));
  });

  test("every id is there once, and every link within the page and every reference to an id finds its place", async () => {
    const elements = elementsOf(await renderMade(team));
    const ids = elements.flatMap(({ attributes }) => attributes.id ?? []);
    expect(new Set(ids).size).toBe(ids.length);
    const references = elements.flatMap(({ attributes }) => [
      attributes.href?.startsWith("#") ? attributes.href.slice(1) : null,
      attributes["aria-labelledby"],
      attributes["aria-describedby"],
    ]);
    expect(references.filter((id) => typeof id === "string" && !ids.includes(id))).toEqual([]);
  });

  test("the answer is the first section, and its heading levels have no gap", async () => {
    const elements = elementsOf(await renderMade({ ...team, text: (place) => (place === "answer" ? "# One\n\n#### Two" : place) }));
    expect(elements.find(({ tag }) => tag === "section")?.attributes.id).toBe("answer");
    const levels = elements.flatMap(({ tag }) => (/^h[1-6]$/.test(tag) ? [Number(tag[1])] : []));
    expect(levels[0]).toBe(1);
    expect(levels.filter((level) => level === 1)).toHaveLength(1);
    expect(levels.filter((level, index) => level > (levels[index - 1] ?? 0) + 1)).toEqual([]);
  });
});

describe("what is not known", () => {
  test("unknown money is never shown as nothing", async () => {
    const page = await renderMade({
      ...team,
      cost: { ...unknownCost, inputTokens: 7 },
      result: { cost: { total_usd: null, known: "none", by_agent: {} } },
    });
    expect(textOf(page)).toContain("Total: unknown.");
    expect(page).not.toContain("$0.00");
  });

  test("a run without a result tells what happened so far and how to go on", async () => {
    const text = textOf(await renderMade({ ...team, finished: false, decided: false }));
    expect(text).toContain("mg-team ended before it could decide");
    expect(textOf(await renderMade({ ...team, finished: false }))).toContain("mg-team ended before it could write it");
    expect(text).toContain("mg-team resume team_20261129_181500");
    expect(text).toContain("agent_c");
  });

  test("a result that is damaged is left out, and the page says so", async () => {
    await using temp = temporaryDirectory("team_20261129_181500");
    const directory = makeRun(temp, team);
    for (const damaged of ["", "{}", '{"version":1,"decision":null}', "[".repeat(100_000)]) {
      writeFileSync(directory.result, damaged);
      expect(textOf(await render(directory))).toContain("result.json cannot be used");
    }
  });

  test("a journal with lines that make no sense still gives a page", async () => {
    await using temp = temporaryDirectory("team_20261129_181500");
    const directory = makeRun(temp, team);
    const line = (body: object) => `${JSON.stringify({ v: 1, seq: 999, ts: "2026-11-29T18:15:00.000Z", elapsed: 1, ...body })}\n`;
    const journal = await Bun.file(directory.journal).text();
    const wrong = [{ type: "step.finished" }, { type: "ballots", ballots: 3 }, { type: "news" }, { type: "step.started", agent: 7 }]
      .map(line)
      .join("");
    writeFileSync(directory.journal, `${journal}no json\n${wrong}${line({ type: "run.finished" })}`);
    expect(textOf(await render(directory))).toContain("damaged lines");
  });
});

describe("secrets", () => {
  test("a key is nowhere on the page, whatever field it is in", async () => {
    const key = "xai-000000000000000000000secret";
    await using temp = temporaryDirectory("team_20261129_181500");
    const directory = makeRun(temp, { ...team, text: (place) => `${place} ${key} ${place}` });
    const page = await render(directory, createRedactor([key]));
    expect(page).not.toContain(key);
    expect(page).toContain("[redacted]");
    expect(await render(directory)).toContain(key);
  });
});
