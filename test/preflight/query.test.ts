import { describe, expect, test } from "bun:test";
import { checkQuery, checkReferences, longestQueryBytes, referencesIn, synthesisHeadroomBytes } from "../../src/preflight/query.ts";

const check = (query: string, env = {}, space = 2 * 1024 ** 2) => checkQuery({ query, env, space });
const failed = (query: string) => check(query).find(({ status }) => status === "fail");

describe("a query", () => {
  test("of the longest length goes through, and one byte more does not", () => {
    expect(failed("x".repeat(longestQueryBytes))).toBeUndefined();
    expect(failed("x".repeat(longestQueryBytes + 1))?.message).toContain("is the most that can be passed");
    expect(failed("é".repeat(longestQueryBytes / 2 + 1))).toBeDefined();
  });

  test("of the longest length fits with its headroom into one argument of Linux", async () => {
    const one = "x".repeat(longestQueryBytes + synthesisHeadroomBytes);
    expect(await Bun.spawn(["/bin/true", one]).exited).toBe(0);
    expect(() => Bun.spawn(["/bin/true", `${one}y`])).toThrow("E2BIG");
  });

  test("that is blank is a usage error", () => {
    expect(failed(" \n\t")).toMatchObject({ code: "usage" });
  });

  test("with a NUL, or half a surrogate pair, is refused; with U+FFFD it is warned about", () => {
    expect(failed("a\0b")?.message).toContain("NUL");
    expect(failed("a\uD800b")?.message).toContain("surrogate");
    expect(check("a\uFFFDb").some(({ status }) => status === "warn")).toBe(true);
  });

  test("must fit together with the environment", () => {
    expect(check("x", { BIG: "x".repeat(60_000) }, 100_000).some(({ status }) => status === "fail")).toBe(true);
    expect(check("x", { BIG: "x".repeat(20_000) }, 100_000).some(({ status }) => status === "fail")).toBe(false);
  });

  test("of quotes, dollars, backticks, a leading dash and newlines has nothing wrong with it", () => {
    expect(check("-rf $(x) `y` \"z\" 'w'\n\\").map(({ status }) => status)).toEqual(["ok"]);
  });
});

describe("what MassGen takes for a file reference", () => {
  const cases: [query: string, references: string[]][] = [
    ["Upgrade @angular/core and @types/node.", ["angular/core", "types/node"]],
    ['Read @"my notes.md" and (@src/main.py), then @out/:w', ["my notes.md", "src/main.py", "out/"]],
    ["Write to me@example.com or a.b-c@mail.example.org", []],
    ["a literal \\@name", []],
    ["@", []],
    ["@a@b", ["b"]],
  ];
  for (const [query, references] of cases) test(query, () => expect(referencesIn(query)).toEqual(references));

  test("a long text of dots and words takes no time to speak of", () => {
    expect(referencesIn(`${"a.".repeat(50_000)}@x`)).toEqual(["x"]);
  });
});

describe("a reference", () => {
  test("whose every file exists may be meant: it is said how", () => {
    const [found] = checkReferences({ query: "Review @src/main.py and @docs", exists: () => true, leavesReferences: true });
    expect(found?.status).toBe("warn");
    expect(found?.hint).toBe("To let the agents read them: --context src/main.py --context docs");
  });

  test("is text when one of them does not exist, as far as MassGen can be told so", () => {
    const query = "Use @types/node with @src";
    const exists = (path: string) => path === "src";
    expect(checkReferences({ query, exists, leavesReferences: true })).toEqual([]);
    expect(checkReferences({ query, exists, leavesReferences: false })).toMatchObject([{ status: "fail" }]);
  });
});
