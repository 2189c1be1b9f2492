import { expect, test } from "bun:test";
import fs from "node:fs";
import { dirname } from "node:path";
import type { Check } from "../../src/checks/check.ts";
import { type CheckOptions, checkFiles } from "../../src/checks/check-files.ts";
import { temporaryDirectory } from "../support/temp.ts";

/** Findings as `file:line check: message`. */
async function findingsOf(files: Readonly<Record<string, string | Uint8Array>>, options?: CheckOptions): Promise<string[]> {
  await using temp = temporaryDirectory();
  for (const [path, content] of Object.entries(files)) temp.write(path, content);
  const findings = await checkFiles(temp.path, options);
  return findings.map(({ file, line, check, message }) => `${file}:${line} ${check}: ${message}`);
}

/** A check that finds something on these lines of every file. */
function finding(name: string, ...lines: number[]): Check {
  return { name, applies: () => true, run: () => lines.map((line) => ({ line, message: "x" })) };
}

test("a deliverable in order has no findings", async () => {
  const files = {
    "index.html": '<!doctype html><link rel="stylesheet" href="css/a.css"><script src="app.js"></script><a href="about">About</a>',
    "css/a.css": "a { color: red }",
    "app.js": "import './x.js'; await import('./y.js');\n",
    "x.py": "def f(a: int) -> str:\n    match a:\n        case 1: return 'a'\n",
    "run.sh": "#!/bin/sh\nif [ -f x ]; then echo yes; fi\n",
    "a.json": '{"a": 1}\n',
    "tsconfig.json": '{ // comments are fine here\n  "strict": true,\n}\n',
    "a.yaml": "a: 1\n---\nb: &x 2\nc: *x\n",
    "README.md": "[page](index.html) ![](css/a.css) [web](https://example.com/x) [mail](mailto:a@b.c) [here](#top)\n",
    "pkg/__init__.py": "",
    ".gitkeep": "",
    "logo.png": new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 0xff]),
  };
  expect(await findingsOf(files)).toEqual([]);
});

test("findings come in the order of names, lines and checks, however long a check takes", async () => {
  const late = (lines: number[]) => Bun.sleep(5).then(() => lines.map((line) => ({ line, message: "x" })));
  const slow: Check = { ...finding("slow"), run: () => late([2, 1]) };
  expect(await findingsOf({ "b.txt": "b", "a.txt": "a", "a/z.txt": "z" }, { checks: [slow, finding("fast", 1)] })).toEqual([
    "a/z.txt:1 slow: x",
    "a/z.txt:1 fast: x",
    "a/z.txt:2 slow: x",
    "a.txt:1 slow: x",
    "a.txt:1 fast: x",
    "a.txt:2 slow: x",
    "b.txt:1 slow: x",
    "b.txt:1 fast: x",
    "b.txt:2 slow: x",
  ]);
});

test("a check that crashes says that the file could not be checked, and the others go on", async () => {
  const crashing: Check = {
    name: "json",
    applies: () => true,
    run() {
      throw new RangeError("Maximum call stack size exceeded.");
    },
  };
  expect(await findingsOf({ "a.json": "{}" }, { checks: [crashing, finding("other", 3)] })).toEqual([
    "a.json:0 json: could not be checked: Maximum call stack size exceeded.",
    "a.json:3 other: x",
  ]);
});

test("findings beyond the limits are counted, of a file and of all", async () => {
  const many = finding("many", ...Array.from({ length: 30 }, (_, index) => index + 1));
  const one = await findingsOf({ "a.txt": "a" }, { checks: [many], limits: { findingsOfFile: 2 } });
  expect(one).toEqual(["a.txt:1 many: x", "a.txt:2 many: x", "a.txt:0 limits: 28 more findings in this file"]);
  const all = await findingsOf({ "a.txt": "a", "b.txt": "b" }, { checks: [finding("one", 1)], limits: { findings: 1 } });
  expect(all).toEqual(["a.txt:1 one: x", ".:0 limits: 1 more finding in all"]);
});

test("files that are too large, or for which there is no time, are named as not checked", async () => {
  const files = { "big.json": "[".repeat(50), "big.png": "x".repeat(50), "a.json": "{}" };
  expect(await findingsOf(files, { limits: { fileBytes: 10 } })).toEqual([
    ".:0 limits: 1 file is larger than 0 KiB and not checked: big.json",
  ]);
  expect(await findingsOf(files, { limits: { seconds: -1 } })).toEqual([".:0 limits: 3 files were not checked within -1 s"]);
});

test("installed packages are not looked at", async () => {
  expect(await findingsOf({ "node_modules/a/x.json": "{", "venv/lib/x.py": "def", "sub/.git/x.json": "{" })).toEqual([]);
});

test("text that is not UTF-8 is a finding in a text file and none in a picture", async () => {
  const latin = new Uint8Array([0x63, 0x61, 0x66, 0xe9]);
  expect(await findingsOf({ "a.txt": latin, "b.bin": latin, "c.html": new Uint8Array([0xff, 0xfe, 0x3c, 0]) })).toEqual([
    "a.txt:0 encoding: is not UTF-8 text",
    "c.html:0 encoding: is not UTF-8 text",
  ]);
});

test("links are not followed, pipes are not opened, and a missing directory has no findings", async () => {
  await using temp = temporaryDirectory();
  const outside = temp.write("outside.json", "{");
  const inside = temp.join("in");
  fs.mkdirSync(inside);
  fs.symlinkSync(outside, `${inside}/link.json`);
  fs.symlinkSync(dirname(outside), `${inside}/up`);
  expect(Bun.spawnSync(["mkfifo", `${inside}/pipe.json`]).exitCode).toBe(0);
  expect(await checkFiles(inside)).toEqual([]);
  expect(await checkFiles(temp.join("missing"))).toEqual([]);
});

test("nothing of a file is run: neither macros, nor modules, nor scripts", async () => {
  await using temp = temporaryDirectory();
  const mark = temp.join("ran");
  temp.write(
    "macro.ts",
    `import { writeFileSync } from "node:fs"; export function run() { writeFileSync(${JSON.stringify(mark)}, ""); return 1; }`,
  );
  temp.write("a.ts", 'import { run } from "./macro.ts" with { type: "macro" };\nconsole.log(run());\n');
  temp.write("a.sh", `#!/bin/sh\ntouch "${mark}"\n`);
  temp.write("a.py", `open(${JSON.stringify(mark)}, "w")\n`);
  const before = process.cwd();
  process.chdir(temp.path);
  try {
    expect(await checkFiles(temp.path)).toEqual([]);
  } finally {
    process.chdir(before);
  }
  expect(fs.existsSync(mark)).toBe(false);
});

test("a large tree lets timers run", async () => {
  await using temp = temporaryDirectory();
  for (let index = 0; index < 400; index++)
    temp.write(`d${index % 20}/f${index}.js`, "function a(b) { return b ? [1, 2, 3] : null }\n".repeat(20));
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  expect(await checkFiles(temp.path)).toEqual([]);
  clearInterval(timer);
  expect(turns).toBeGreaterThan(1);
});

test("hostile files end in findings, soon", async () => {
  const nest = (text: string) => text.repeat(40_000);
  const files = {
    "a.json": nest("["),
    "b.yaml": nest("["),
    "c.js": nest("("),
    "d.py": nest("("),
    "e.sh": nest("$("),
    "f.py": '"'.repeat(60_000),
    "g.tsx": nest("<a>"),
    "h.html": nest("<div>"),
    "i.md": nest("["),
    "j.sh": nest("{ "),
    "k.yaml": `a: &a [x]\n${Array.from({ length: 30 }, (_, index) => `b${index}: &b${index} [*a, *a, *a]`).join("\n")}\n`,
    "l.py": "a if b else ".repeat(40_000),
    "ok.py": "x = 1\n",
    "ok.sh": "echo hi\n",
  };
  const found = await findingsOf(files);
  const blamed = (path: string) => found.filter((line) => line.startsWith(`${path}:`)).length;
  for (const path of ["a.json", "b.yaml", "c.js", "d.py", "e.sh", "f.py", "g.tsx", "j.sh", "l.py"])
    expect({ path, count: blamed(path) }).toEqual({ path, count: 1 });
  // The parsers still work after a crash, and what is only long is no error.
  for (const path of ["ok.py", "ok.sh", "h.html", "i.md", "k.yaml"]) expect({ path, count: blamed(path) }).toEqual({ path, count: 0 });
});
