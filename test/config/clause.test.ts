import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { clauseList, findClause, listWords } from "../../src/config/clause.ts";
import { createModelNames } from "../../src/config/models.ts";

const names = createModelNames({ fast: "openai/gpt-5-mini" });
const backendsIn = (query: string) => findClause(query, names).clause?.models.map(({ backend }) => backend) ?? null;

describe("a clause in the query", () => {
  test.each([
    ["Build a landing page with codex, gemini, and grok", ["codex", "gemini", "grok"]],
    ["Build a landing page using codex and claude", ["codex", "claude"]],
    ["With codex and gemini, build a page", ["codex", "gemini"]],
    ["Build a page (with Codex & Gemini) by noon", ["codex", "gemini"]],
    ["Build a page with codex gemini grok", ["codex", "gemini", "grok"]],
    ["Build it with codex/gpt-5.4 and grok/grok-4.", ["codex", "grok"]],
    ["Build it\nwith codex,\n  gemini,\nand grok\nplease", ["codex", "gemini", "grok"]],
    ["Build it with `codex` and 'fast'!", ["codex", "openai"]],
    ["Build it with codex, codex", ["codex", "codex"]],
    ["Build it using codex and gemini. Claude and grok are not asked", ["codex", "gemini"]],
    ["Build it with React, then review it with codex and grok", ["codex", "grok"]],
    ["Build it WITH codex AND gemini", ["codex", "gemini"]],
    ["Build it with openrouter/meta/llama-3:free and codex", ["openrouter", "codex"]],
  ])("%j selects %p", (query, backends) => {
    expect(backendsIn(query)).toEqual(backends);
  });

  test.each([
    "Compare codex with gemini",
    "Write a story with claude and his dog",
    "Compare codex, gemini and grok",
    "Build a page with React and Vue",
    "Deal herewith codex and gemini",
    "notwith codex, gemini",
    "with-codex and gemini",
    "with codex.",
    "with codex. Gemini",
    "using",
    "with ",
    "",
  ])("%j selects nothing", (query) => {
    expect(backendsIn(query)).toBeNull();
  });

  test("its text is what stands in the query", () => {
    expect(findClause("Do it with codex, gemini, and grok!", names).clause?.text).toBe("with codex, gemini, and grok");
    expect(findClause("Do it (using codex and grok)", names).clause?.text).toBe("using codex and grok");
  });

  test.each([
    ["Do it with codex and gemni", "gemni", "gemini"],
    ["Do it with codex, gemini, and gork", "gork", "grok"],
  ])("%j has a doubtful word", (query, word, meant) => {
    expect(findClause(query, names).doubt).toEqual({ word, meant });
  });

  test.each(["Do it with gemni", "Do it with codex and React", "Write a story with claude and his dog"])("%j raises no doubt", (query) => {
    expect(findClause(query, names).doubt).toBeNull();
  });

  test("whatever the query, a clause is a part of it and has two models or more", () => {
    const word = fc.oneof(fc.string(), fc.constantFrom("with", "using", "codex", "gemini,", "and", "grok.", "claude", "\n", "codex/x"));
    fc.assert(
      fc.property(fc.array(word), (words) => {
        const query = words.join(" ");
        const { clause } = findClause(query, names);
        if (clause === null) return;
        expect(query).toContain(clause.text);
        expect(clause.models.length).toBeGreaterThan(1);
        expect(clause.text).toMatch(/^(with|using)\s/i);
      }),
    );
  });

  test("a long query of nothing but openings is read at once", () => {
    expect(backendsIn("with codex ".repeat(10_000))).toBeNull();
  });
});

test.each([
  ["codex, gemini, and grok", ["codex", "gemini", "grok"]],
  ["codex,gemini", ["codex", "gemini"]],
  ["codex & claude + grok", ["codex", "claude", "grok"]],
  [" , and ", []],
])("the list %j has the words %p", (text, words) => {
  expect(listWords(text)).toEqual(words);
});

test.each([
  ["with codex", "codex"],
  ["USING  codex and grok", "codex and grok"],
  ["without codex", null],
  ["codex with gemini", null],
  ["with", null],
])("%j is a clause of %p", (text, list) => {
  expect(clauseList(text)).toBe(list);
});
