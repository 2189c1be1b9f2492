import { describe, expect, test } from "bun:test";
import fs from "node:fs";
import { TeamError } from "../../src/errors.ts";
import { makeDirectory, removeTemporaries, writeFileAtomic, writeFileAtomicSync, writeFileWholeSync } from "../../src/session/atomic.ts";
import { temporaryDirectory } from "../support/temp.ts";

const writers: [string, (path: string, data: string | Uint8Array, mode?: number) => Promise<void>][] = [
  ["writeFileAtomic", writeFileAtomic],
  ["writeFileAtomicSync", async (path, data, mode) => writeFileAtomicSync(path, data, mode)],
  ["writeFileWholeSync", async (path, data, mode) => writeFileWholeSync(path, data, mode)],
];

const failure = async (work: Promise<void>): Promise<unknown> =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

for (const [name, write] of writers) {
  describe(name, () => {
    test("writes text and bytes, for the owner only, and leaves nothing else behind", async () => {
      await using temp = temporaryDirectory();
      await write(temp.join("text"), "é€😀");
      await write(temp.join("bytes"), new Uint8Array([0, 255, 10]));
      await write(temp.join("empty"), "");
      await write(temp.join("open"), "x", 0o644);
      expect(fs.readFileSync(temp.join("text"), "utf8")).toBe("é€😀");
      expect([...fs.readFileSync(temp.join("bytes"))]).toEqual([0, 255, 10]);
      expect(fs.readFileSync(temp.join("empty"), "utf8")).toBe("");
      expect(fs.statSync(temp.join("text")).mode & 0o777).toBe(0o600);
      expect(fs.statSync(temp.join("open")).mode & 0o777).toBe(0o644);
      expect(fs.readdirSync(temp.path).sort()).toEqual(["bytes", "empty", "open", "text"]);
    });

    test("replaces a file; a reader who has it open keeps the old one whole", async () => {
      await using temp = temporaryDirectory();
      const path = temp.write("file", "old text");
      const reader = fs.openSync(path, "r");
      await write(path, "new");
      expect(fs.readFileSync(reader, "utf8")).toBe("old text");
      fs.closeSync(reader);
      expect(fs.readFileSync(path, "utf8")).toBe("new");
    });

    test("replaces a link, not what it points to", async () => {
      await using temp = temporaryDirectory();
      const precious = temp.write("precious", "mine");
      fs.symlinkSync(precious, temp.join("link"));
      await write(temp.join("link"), "new");
      expect(fs.readFileSync(precious, "utf8")).toBe("mine");
      expect(fs.readFileSync(temp.join("link"), "utf8")).toBe("new");
    });

    test("concurrent writers and readers never see a torn file", async () => {
      await using temp = temporaryDirectory();
      const path = temp.write("file", "0".repeat(100_000));
      let torn = 0;
      const writes = Array.from({ length: 20 }, (_, at) => write(path, String(at % 10).repeat(100_000)));
      for (let look = 0; look < 50; look++) {
        const text = fs.readFileSync(path, "utf8");
        if (text.length !== 100_000 || text !== text.charAt(0).repeat(100_000)) torn += 1;
        await new Promise((resolve) => setImmediate(resolve));
      }
      await Promise.all(writes);
      expect(torn).toBe(0);
      expect(fs.readdirSync(temp.path)).toEqual(["file"]);
    });

    const refusals: [title: string, words: string, prepare: (path: string) => string][] = [
      ["a missing directory", "no such file or directory (ENOENT)", (path) => `${path}/gone/file`],
      [
        "a file where a directory should be",
        "a part of the path is a file, not a directory (ENOTDIR)",
        (path) => {
          fs.writeFileSync(`${path}/file`, "");
          return `${path}/file/below`;
        },
      ],
      [
        "a directory in its place",
        "a directory is in its place (EISDIR)",
        (path) => {
          fs.mkdirSync(`${path}/there`);
          return `${path}/there`;
        },
      ],
      ["a name that is too long", "the path is too long (ENAMETOOLONG)", (path) => `${path}/${"x".repeat(300)}`],
    ];
    for (const [title, words, prepare] of refusals) {
      test(`says in words what is wrong with ${title}, with a hint, and leaves no temporary file`, async () => {
        await using temp = temporaryDirectory();
        const path = prepare(temp.path);
        const before = fs.readdirSync(temp.path);
        const error = await failure(write(path, "x"));
        expect(error).toBeInstanceOf(TeamError);
        expect(error).toMatchObject({ code: "write", exitCode: 7, message: `cannot write ${path}: ${words}` });
        expect((error as TeamError).hint).not.toBe("");
        expect(fs.readdirSync(temp.path)).toEqual(before);
      });
    }
  });
}

test("what killed writers left behind is removed, and nothing that only looks a little like it", async () => {
  await using temp = temporaryDirectory();
  for (const name of [".result.json.0123456789ab.tmp", ".result.json.tmp", "result.json", ".0123456789ab.tmp.txt"]) temp.write(name, "");
  removeTemporaries(temp.path);
  expect(fs.readdirSync(temp.path).sort()).toEqual([".0123456789ab.tmp.txt", ".result.json.tmp", "result.json"]);
});

test("a directory of ours is made with those above it, for its owner only; what stands in the way is named", async () => {
  await using temp = temporaryDirectory();
  makeDirectory(temp.join("a/b"));
  makeDirectory(temp.join("a/b"));
  expect(fs.statSync(temp.join("a/b")).mode & 0o777).toBe(0o700);
  temp.write("file", "");
  expect(() => makeDirectory(temp.join("file/c"))).toThrow(
    expect.objectContaining({ code: "write", message: expect.stringContaining(`${temp.join("file/c")}: a part of the path is a file`) }),
  );
});
