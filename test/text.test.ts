import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { formatDuration, formatMoney, listOf, nearest, parseDuration, quoted, shellWord, splitCommand } from "../src/text.ts";

describe("nearest", () => {
  test.each([
    ["timout", ["timeout", "retries"], "timeout"],
    ["gemni", ["codex", "gemini"], "gemini"],
    ["max-round", ["max_rounds", "max_parallel"], "max_rounds"],
    ["Budget", ["cost_budget"], "cost_budget"],
    ["zzz", ["codex", "gemini"], null],
    // As many edits as letters would make any short word near any other.
    ["ab", ["xy"], null],
  ])("%s means %p → %p", (word, candidates, expected) => {
    expect(nearest(word, candidates)).toBe(expected);
  });

  test("the candidate with fewer edits wins, wherever it stands", () => {
    expect(nearest("grak", ["gray2", "grok"])).toBe("grok");
  });
});

describe("durations", () => {
  test.each([
    ["1800", 1800],
    ["90s", 90],
    ["30m", 1800],
    ["2h", 7200],
    ["1.5h", 5400],
    ["1h30m", 5400],
    [" 5M ", 300],
    ["0.5", 0.5],
  ])("%p is %p seconds", (text, seconds) => {
    expect(parseDuration(text)).toBe(seconds);
  });

  test.each(["", "0", "0s", "-5", "2x", "m", "30 m", "1h2h", "1e3", "Infinity", "NaN", "1:30", ".5", "5.", "9".repeat(400)])(
    "%p is no length of time",
    (text) => {
      expect(parseDuration(text)).toBeNull();
    },
  );

  test.each([
    [0, "0s"],
    [1.25, "1.3s"],
    [59.9, "59s"],
    [60, "1m"],
    [725, "12m 5s"],
    [7200, "2h"],
    [7380, "2h 3m"],
    [-3, "0s"],
    [Number.NaN, "0s"],
  ])("%p seconds read %p", (seconds, text) => {
    expect(formatDuration(seconds)).toBe(text);
  });
});

test.each([
  [0, "$0.00"],
  [0.42, "$0.42"],
  [5, "$5.00"],
  [0.0031, "$0.0031"],
  [0.00004, "$0.000040"],
  [-1.5, "-$1.50"],
])("%p dollars read %p", (usd, text) => {
  expect(formatMoney(usd)).toBe(text);
});

test.each([
  [[], ""],
  [["a"], "a"],
  [["a", "b"], "a and b"],
  [["a", "b", "c"], "a, b, and c"],
])("a list of %p reads %p", (items, text) => {
  expect(listOf(items)).toBe(text);
});

test("a quoted word shows control characters, and is cut", () => {
  expect(quoted("a\u001b[31m\nb")).toBe('"a\\u001b[31m\\nb"');
  expect(quoted("x".repeat(100), 10)).toBe(`"${"x".repeat(9)}…"`);
  expect(quoted("\u202eabc")).toBe('"\\u202eabc"');
});

describe("shell words", () => {
  test("a command line of any words splits into the same words again", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary" })), (words) => {
        expect(splitCommand(words.map(shellWord).join(" "))).toEqual(words);
      }),
    );
  });

  test("a real shell reads every word as it was", () => {
    const words = ["plain", "two words", "it's", '"q"', "$HOME", "`id`", "a\\b", "!x", "", "*", "\n", "ü", "-n", "~", "a;b", "#c", "a!b"];
    const shell = Bun.spawnSync(["sh", "-c", `printf '%s\\0' ${words.map(shellWord).join(" ")}`]);
    expect(shell.stdout.toString().split("\0").slice(0, -1)).toEqual(words);
  });

  test.each([
    ["uvx massgen", ["uvx", "massgen"]],
    ["'/a b/massgen' --x", ["/a b/massgen", "--x"]],
    ['python "-m x"', ["python", "-m x"]],
    ["a\\ b", ["a b"]],
    ['"a\\"b\\n"', ['a"b\\n']],
    ["", []],
    ["'open", null],
  ])("%p splits into %p", (text, words) => {
    expect(splitCommand(text)).toEqual(words);
  });
});
