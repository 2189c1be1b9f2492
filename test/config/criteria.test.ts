import { describe, expect, test } from "bun:test";
import { mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseCriteria, readCriteria } from "../../src/config/criteria.ts";
import { TeamError } from "../../src/errors.ts";

const failure = (text: string): TeamError => {
  try {
    parseCriteria(text, "c.json");
  } catch (error) {
    if (error instanceof TeamError) return error;
  }
  throw new Error("it was accepted");
};

describe("criteria are accepted", () => {
  test("as an array, with text, description or name, and with fields that only MassGen knows", () => {
    const criteria = [
      { text: "a", category: "primary", anti_patterns: ["x"], verify_by: "run it" },
      { description: "b", score_anchors: { "3": "poor" } },
      { name: "c", verify_by: null },
    ];
    expect(parseCriteria(JSON.stringify(criteria), "c.json")).toEqual(criteria as never);
  });

  test("as an object with `criteria`", () => {
    expect(parseCriteria('{"version": 2, "criteria": [{"text": "a"}]}', "c.json")).toEqual([{ text: "a" }]);
  });
});

describe("a criteria file is refused, with index and field, when", () => {
  const cases: [title: string, text: string, message: string][] = [
    [
      "a category does not exist",
      '[{"text":"a"},{"text":"b","category":"main"}]',
      "criterion 2, category: must be primary, standard or stretch",
    ],
    ["an anti-pattern is no string", '[{"text":"a","anti_patterns":["x",3]}]', "criterion 1, anti_patterns[1]: must be a string"],
    ["verify_by is no string", '{"criteria":[{"text":"a","verify_by":[]}]}', "criterion 1, verify_by: must be a string"],
    ["a text is blank", '[{"text":"  "}]', "criterion 1: needs a `text`"],
    ["an entry is no object", '["be good"]', "criterion 1: must be an object"],
    ["there are none", "[]", "there are no criteria"],
    ["`criteria` is no array", '{"criteria":{}}', "`criteria` must be an array"],
    ["it is something else", "3", "an object with `criteria`"],
  ];
  for (const [title, text, message] of cases) {
    test(title, () => {
      const error = failure(text);
      expect(error.message).toContain(message);
      expect(error.message).toStartWith("c.json: ");
      expect(error.code).toBe("config");
      expect(error.hint).toContain('"text"');
    });
  }

  test("it is not JSON: line and column are named", () => {
    expect(failure('[\n  {"text": "a",}\n]').message).toContain("c.json:2:16 ");
    expect(failure("").message).toContain("is empty");
    expect(failure('\uFEFF[{"text":"a"}]').message).toContain("byte order mark");
  });
});

test("a missing file, a directory and bytes that are not UTF-8 are told apart", async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), "criteria-"));
  const path = join(directory.path, "latin.json");
  await writeFile(path, Buffer.from([0x5b, 0x22, 0xe9, 0x22, 0x5d]));
  await expect(readCriteria(path)).rejects.toThrow("is not UTF-8");
  await expect(readCriteria(join(directory.path, "none.json"))).rejects.toThrow("does not exist");
  await expect(readCriteria(directory.path)).rejects.toThrow("cannot be read");
});

test("what a shell hands over is refused: every step reads the criteria, and it can be read only once", async () => {
  for (const path of ["/dev/fd/63", "/proc/self/fd/3", "/dev/stdin"]) await expect(readCriteria(path)).rejects.toThrow("only once");
});

test("a good file is read", async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), "criteria-"));
  const path = join(directory.path, "good.json");
  await writeFile(path, '[{"text":"é"}]');
  expect(await readCriteria(path)).toEqual([{ text: "é" }]);
});
