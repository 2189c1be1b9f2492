import { describe, expect, test } from "bun:test";
import { checkQuery, largestQueryFile, readQueryFile } from "../../src/config/query.ts";
import { resolveRun } from "../../src/config/resolve.ts";
import { temporaryDirectory } from "../support/temp.ts";
import { errorOf, lineOf } from "./support.ts";

const nothing = { read: () => Promise.resolve(new Uint8Array()) };
const typed = (text: string) => ({ read: () => Promise.resolve(Buffer.from(text)) });

const hard = "  Use @types/node, \"quotes\", 'single', $(id), `id`, \\n,\r\n\t-dash, ünïcödé 🎉 \u2028 end\n\n";

describe("a query file", () => {
  test("arrives byte for byte, but for a byte order mark", async () => {
    await using temp = temporaryDirectory("sp ace");
    temp.write("a.md", hard);
    temp.write("b.md", `\uFEFF${hard}`);
    expect(await readQueryFile("a.md", temp.path, nothing)).toBe(hard);
    expect(await readQueryFile(temp.join("b.md"), "/", nothing)).toBe(hard);
  });

  test("is standard input for -", async () => {
    const { settings } = await resolveRun(lineOf("--query-file", "-", "--models", "codex", "grok"), {}, "/", typed(hard));
    expect(settings.query).toBe(hard);
  });

  test("its clause selects models as that of any query", async () => {
    const { settings } = await resolveRun(lineOf("--query-file", "-"), {}, "/", typed("Do it with codex and grok\n"));
    expect(settings.agents).toHaveLength(2);
  });

  test("standard input is not read for anything else", async () => {
    const untouched = { read: () => Promise.reject(new Error("read")) };
    expect((await resolveRun(lineOf("Q"), {}, "/", untouched)).settings.query).toBe("Q");
  });

  test.each([
    ["missing.md", null, '--query-file "missing.md": no such file'],
    [".", null, '--query-file ".": a directory'],
    ["bad.md", new Uint8Array([0x61, 0xe9, 0x62]), "the query from bad.md is not UTF-8 text"],
    ["cut.md", new Uint8Array([0x61, 0xf0, 0x9f, 0x8e]), "the query from cut.md is not UTF-8 text"],
    ["utf16.md", new Uint8Array([0xff, 0xfe, 0x61, 0x00]), "the query from utf16.md is not UTF-8 text"],
    ["nul.md", "a\0b", "the query from nul.md has a NUL character"],
    ["blank.md", " \n\t", "the query from blank.md is blank"],
    ["empty.md", "", "the query from empty.md is blank"],
    ["huge.md", "x".repeat(largestQueryFile + 1), "the query from huge.md has more than 1 MiB"],
  ])("%s is refused with exit 2", async (name, content, message) => {
    await using temp = temporaryDirectory();
    if (content !== null) temp.write(name, content);
    const error = await errorOf(() => readQueryFile(name, temp.path, nothing));
    expect([error.code, error.exitCode]).toEqual(["usage", 2]);
    expect(error.message).toStartWith(message);
  });
});

test.each(["", "   ", "\n"])("a blank query (%j) is refused", async (query) => {
  expect((await errorOf(() => checkQuery(query))).message).toBe("the query from the command line is blank");
});
