import { describe, expect, test } from "bun:test";
import { createModelNames } from "../../src/config/models.ts";
import { optionValues } from "../../src/config/tokenise.ts";
import { sortWords } from "../../src/config/words.ts";
import { errorOf, lineOf } from "./support.ts";

const names = createModelNames({ fast: "openai/gpt-5-mini" });

function sorted(...argv: readonly string[]) {
  const line = lineOf(...argv);
  const { query, clause, more } = sortWords(line.words, names, optionValues(line, "models").at(-1) ?? null, line.given.has("query-file"));
  return [query, clause?.map(({ backend }) => backend) ?? null, more.map(({ backend }) => backend)];
}

describe("query, clause, models", () => {
  test.each([
    [["Build a page"], ["Build a page", null, []]],
    [["haiku"], ["haiku", null, []]],
    [
      ["Build a page", "with", "codex,", "gemini,", "and", "grok"],
      ["Build a page", ["codex", "gemini", "grok"], []],
    ],
    [
      ["Build a page", "using codex and claude"],
      ["Build a page", ["codex", "claude"], []],
    ],
    [
      ["Build a page", "with codex,", "fast"],
      ["Build a page", ["codex", "openai"], []],
    ],
    [
      ["Build a page", "WITH", "codex"],
      ["Build a page", ["codex"], []],
    ],
    [
      ["With Python, sort a list", "with", "codex", "grok"],
      ["With Python, sort a list", ["codex", "grok"], []],
    ],
    [["Using Python, sort a list"], ["Using Python, sort a list", null, []]],
    [
      ["--", "-5 + 3", "with", "codex", "grok"],
      ["-5 + 3", ["codex", "grok"], []],
    ],
    [
      ["--", "report"],
      ["report", null, []],
    ],
    [
      ["Q", "--models", "codex", "gemini"],
      ["Q", null, ["gemini"]],
    ],
    [
      ["--models", "codex", "gemini", "Build a page"],
      ["Build a page", null, ["gemini"]],
    ],
    [
      ["--models", "codex,", "gemini,", "and", "grok", "Q"],
      ["Q", null, ["gemini", "grok"]],
    ],
    [
      ["--models", "codex", "gemini,grok", "Q"],
      ["Q", null, ["gemini", "grok"]],
    ],
    [["--models", "codex", "gemini", "and", "Q"], null],
    [
      ["--models", "codex", "gemini", "--", "grok"],
      ["grok", null, ["gemini"]],
    ],
    [
      ["--models", "codex", "fast", "Q", "with", "grok", "claude"],
      ["Q", ["grok", "claude"], ["openai"]],
    ],
    [
      ["--models", "codex", "--models", "gemini", "grok", "Q"],
      ["Q", null, ["grok"]],
    ],
    [
      ["--query-file", "q", "with", "codex", "grok"],
      [null, ["codex", "grok"], []],
    ],
    [
      ["--query-file", "q", "--models", "codex", "grok"],
      [null, null, ["grok"]],
    ],
    [
      ["--models", "codex", "gemini"],
      [null, null, ["gemini"]],
    ],
    [[], [null, null, []]],
  ])("%p → %p", (argv, expected) => {
    if (expected !== null) expect<unknown>(sorted(...argv)).toEqual(expected);
    else expect(() => sorted(...argv)).toThrow();
  });

  test.each([
    [["Build", "a", "page"], "the query must be one word for the shell, but there are 3", 'mg-team "Build a page"'],
    [["Build", "a", "page", "with", "codex", "and", "grok"], "the query must be one word", 'mg-team "Build a page" with codex and grok'],
    [["Build", "it", "with", "React"], "the query must be one word", 'mg-team "Build it with React"'],
    [["with", "great", "care", "do", "it"], "the query must be one word", 'mg-team "with great care do it"'],
    [["Print", "$HOME"], "the query must be one word", "mg-team 'Print $HOME'"],
    [["Q", "with", "codex", "and", "gemni"], 'the models after the query: there is no model "gemni"', "gemini"],
    [["Q", "with", "codx/gpt-5", "and", "grok"], 'the models after the query: there is no backend "codx"', "codex/gpt-5"],
    [["Q", "with", "great", "care"], 'the models after the query: there is no model "great"', "short names"],
    [
      ["with", "codex", "and", "grok"],
      'there is no query before "with codex and grok"',
      'mg-team "Build a landing page" with codex and grok',
    ],
    [["using codex, grok"], 'there is no query before "using codex, grok"', "The query goes first"],
    [["--query-file", "q", "Build a page"], 'there are two queries: --query-file and "Build a page"', "Leave out one"],
    [["--query-file", "q", "with", "gemni", "codex"], 'the models after the query: there is no model "gemni"', "gemini"],
    [["--models", "codex", "gemni", "Build a page"], '--models: there is no model "gemni"', "gemini"],
    [["--models", "codex,", "zzzzz", "Build a page"], '--models: there is no model "zzzzz"', "short names"],
    [["--models", "codex", "gemini", "grow"], '--models: there is no model "grow"', "grok"],
  ])("%p is refused", async (argv, message, hint) => {
    const error = await errorOf(() => sorted(...argv));
    expect([error.code, error.exitCode]).toEqual(["usage", 2]);
    expect(error.message).toStartWith(message);
    expect(error.hint).toContain(hint);
  });

  test("a lone word that is almost a model may still be asked", async () => {
    const { hint } = await errorOf(() => sorted("--models", "codex", "gemini", "grow"));
    expect(hint).toContain("mg-team grow --models");
    expect(sorted("grow", "--models", "codex", "gemini")).toEqual(["grow", null, ["gemini"]]);
  });
});
