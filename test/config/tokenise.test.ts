import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { runOptions } from "../../src/config/options.ts";
import { isGiven, optionValue, optionValues, pickCommand } from "../../src/config/tokenise.ts";
import { commandNames, errorOf, lineOf } from "./support.ts";

const wordsOf = (...argv: string[]) => lineOf(...argv).words.map(({ text }) => text);

describe("which command", () => {
  test.each([
    [["report"], "report", true, []],
    [["run", "report"], "run", true, ["report"]],
    [["Build a page"], "run", false, ["Build a page"]],
    [["--", "report"], "run", false, ["--", "report"]],
    [["--config", "x.yaml", "trust"], "trust", true, ["--config", "x.yaml"]],
    [["--config=x.yaml", "trust", "--list"], "trust", true, ["--config=x.yaml", "--list"]],
    // The value of an option is no command, whatever it is called.
    [["--config", "trust", "Q"], "run", false, ["--config", "trust", "Q"]],
    [["--quiet", "status"], "status", true, ["--quiet"]],
    [["Q", "report"], "run", false, ["Q", "report"]],
    [["--models", "codex", "gemini", "Q"], "run", false, ["--models", "codex", "gemini", "Q"]],
    [["--models", "codex", "gemini", "run", "Q"], "run", true, ["--models", "codex", "gemini", "Q"]],
    [["Report"], "run", false, ["Report"]],
  ])("%p → %p", (argv, command, explicit, rest) => {
    expect(pickCommand(argv, commandNames, runOptions)).toEqual({ command, explicit, rest });
  });
});

describe("options", () => {
  test("a value stands behind the option or its =", () => {
    expect(optionValue(lineOf("Q", "--timeout", "5"), "timeout")).toBe("5");
    expect(optionValue(lineOf("Q", "--timeout=5"), "timeout")).toBe("5");
    expect(optionValue(lineOf("Q", "--massgen=a --b=c"), "massgen")).toBe("a --b=c");
    expect(optionValue(lineOf("Q", "--massgen="), "massgen")).toBe("");
  });

  test("options may stand before, between and behind words", () => {
    const line = lineOf("--strict", "Q", "--timeout", "5", "with", "codex,", "grok", "-q");
    expect(line.words.map(({ text }) => text)).toEqual(["Q", "with", "codex,", "grok"]);
    expect([isGiven(line, "strict"), isGiven(line, "quiet"), isGiven(line, "json")]).toEqual([true, true, false]);
  });

  test("what may be repeated keeps its order; a switch may be given twice", () => {
    const line = lineOf("Q", "--context", "a", "--context=b", "--strict", "--strict");
    expect(optionValues(line, "context")).toEqual(["a", "b"]);
    expect(optionValues(line, "strict")).toEqual([""]);
  });

  test("a negative number and a single dash are values, an option is not", async () => {
    expect(optionValue(lineOf("Q", "--retries", "-1"), "retries")).toBe("-1");
    expect(optionValue(lineOf("--query-file", "-"), "query-file")).toBe("-");
    expect((await errorOf(() => lineOf("Q", "--timeout", "--strict"))).message).toContain("--timeout needs a value");
    expect((await errorOf(() => lineOf("Q", "--timeout", "-q"))).message).toContain("--timeout needs a value");
  });

  test("words directly behind --models may be models, those behind its = may not", () => {
    const after = (...argv: string[]) => lineOf(...argv).words.filter(({ afterModels }) => afterModels);
    expect(after("--models", "codex", "gemini", "Q").map(({ text }) => text)).toEqual(["gemini", "Q"]);
    expect(after("--models", "codex", "--strict", "Q")).toEqual([]);
    expect(after("--models=codex", "Q")).toEqual([]);
  });

  test.each([
    [["Q", "--timout", "5"], 'there is no option "--timout"', "--timeout"],
    [["Q", "--max-round=5"], 'there is no option "--max-round"', "--max-rounds"],
    [["Q", "--max_rounds", "5"], 'there is no option "--max_rounds"', "--max-rounds"],
    [["Q", "--model", "codex"], 'there is no option "--model"', "--models"],
    [["Q", "--no-reprot"], 'there is no option "--no-reprot"', "--no-report"],
    [["Q", "--wxyz"], 'there is no option "--wxyz"', "--help"],
    [["Q", "-x"], 'there is no option "-x"', "--help"],
    [["-5 + 3"], 'there is no option "-5 + 3"', 'mg-team -- "-5 + 3"'],
    [["-5"], 'there is no option "-5"', "mg-team -- -5"],
    [["Q", "--timeout"], "--timeout needs a value: a number of seconds", "--timeout 30m"],
    [["Q", "--models"], "--models needs a value: two or more models", "--models codex gemini"],
    [["Q", "--synthesis"], "--synthesis needs a value: agent or markdown", "--synthesis markdown"],
    [["Q", "--timeout", "--", "x"], "--timeout needs a value", "--timeout 30m"],
    [["Q", "--timeout", "5", "--timeout=6"], '--timeout was given twice: "5" and "6"', "Keep one"],
    [["Q", "--strict=yes"], '--strict takes no value, but was given "yes"', "--strict"],
  ])("%p is refused", async (argv, message, hint) => {
    const error = await errorOf(() => lineOf(...argv));
    expect([error.code, error.exitCode]).toEqual(["usage", 2]);
    expect(error.message).toStartWith(message);
    expect(error.hint).toContain(hint);
  });
});

describe("no byte of a query is lost", () => {
  const text = fc.string({ unit: "binary" });
  const plainWord = text.filter((word) => !word.startsWith("-") && !commandNames.includes(word));
  const option = fc.constantFrom(["--strict"], ["--timeout", "5"], ["--context=a b"], ["-q"], ["--plugin", "with"]);

  test("behind -- every word arrives as it was", () => {
    fc.assert(fc.property(fc.array(text), (words) => expect(wordsOf("--", ...words)).toEqual(words)));
  });

  test("between options every word arrives as it was", () => {
    fc.assert(
      fc.property(plainWord, fc.array(fc.tuple(plainWord, option)), (first, pairs) => {
        const timeout = pairs.findIndex(([, given]) => given[0] === "--timeout");
        const given = pairs.map(([, option], index) => (option[0] === "--timeout" && index !== timeout ? [] : option));
        const argv = [first, ...pairs.flatMap(([word], index) => [...(given[index] ?? []), word])];
        expect(wordsOf(...argv)).toEqual([first, ...pairs.map(([word]) => word)]);
      }),
    );
  });

  test("whatever is typed, a word is kept, an option read, or the reason said", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.oneof(
            text,
            option.map(([name]) => name ?? ""),
          ),
        ),
        async (argv) => {
          try {
            const line = lineOf(...argv);
            const values = [...line.given].flatMap(([, given]) => given).filter((value) => value !== "");
            const kept = line.words.length + values.length;
            expect(kept).toBeLessThanOrEqual(argv.length);
          } catch {
            expect((await errorOf(() => lineOf(...argv))).exitCode).toBe(2);
          }
        },
      ),
    );
  });
});
