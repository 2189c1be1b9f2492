// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates of other languages are what is checked here
import { describe, expect, test } from "bun:test";
import { checkFiles } from "../../src/checks/check-files.ts";
import { checks } from "../../src/checks/list.ts";
import { temporaryDirectory } from "../support/temp.ts";

/** What the checks of one name say about a file: its lines. */
async function linesOf(check: string, name: string, text: string): Promise<number[]> {
  await using temp = temporaryDirectory();
  temp.write(name, text);
  const only = checks.filter((one) => one.name === check);
  expect(only.length).toBeGreaterThan(0);
  return (await checkFiles(temp.path, { checks: only })).map(({ line }) => line);
}

type Case = readonly [check: string, name: string, text: string, line: number];

const broken: readonly Case[] = [
  ["json", "a.json", '{\n  "a": 1,\n}\n', 3],
  ["json", "a.json", '{ // no comments here\n "a": 1 }', 1],
  ["json", "a.json", '{"a": 1', 1],
  ["json", "a.json", "{'a': 1}", 1],
  ["json", "a.json", '{"a": 1}\nend', 2],
  ["json", "package.json", '{\n"name": "x"\n"version": "1"\n}', 3],
  ["json", "tsconfig.json", '{\n  "a": \n}', 3],
  ["json", "a.ipynb", '{"cells": [}', 1],
  ["json", "data.jsonl", '{"a": 1}\n{"a": }\n', 2],
  ["yaml", "a.yaml", "a: 1\nb: [1, 2\nc: 3\n", 3],
  ["yaml", "a.yml", "a:\n\tb: 1\n", 2],
  ["yaml", "a.yml", "a: 1\n---\nb: 1\nb: 2\n", 4],
  ["yaml", "a.yml", "a: 'x\n", 2],
  ["yaml", "a.yml", "a: b: c\n", 1],
  ["yaml", "a.yml", "a: *nobody\n", 1],
  ["javascript", "a.js", "let a = 1;\nlet b = ;\n", 2],
  ["javascript", "a.js", "const a = 1;\nconst a = 2;\n", 2],
  ["javascript", "a.js", "function f() {\n  if (x) {\n}\n", 4],
  ["javascript", "a.jsx", "export default () => (\n  <div><p></div>\n);\n", 2],
  ["javascript", "a.tsx", "const a: = 1;\n", 1],
  ["javascript", "a.mts", "interface A { b: string\n", 2],
  ["javascript", "a.js", "const a: number = 1;\n", 1],
  ["javascript", "page.html", "<p>\n<script>\n  let a = ;\n</script>", 3],
  ["javascript", "page.html", '<script type="application/ld+json">{"a": 1,}</script>', 1],
  ["python", "a.py", "def f(:\n    pass\n", 1],
  ["python", "a.py", "def f():\n    a = 1\n   b = 2\n", 3],
  ["python", "a.py", "if x\n    pass\n", 1],
  ["python", "a.py", "print 'hello'\n", 1],
  ["python", "a.py", "def f():\n    return 1\n\nx = (1,\n", 5],
  ["python", "run", "#!/usr/bin/env python3\nimport\n", 2],
  ["shell", "a.sh", "if true; then\n  echo hi\n", 1],
  ["shell", "a.sh", "#!/bin/bash\nfor i in 1 2; do\n  echo $i\n", 2],
  ["shell", "a.sh", 'echo "unclosed\n', 1],
  ["shell", "run", "#!/bin/sh\ncase a in\n  b) echo\n", 2],
  ["conflict", "a.py", "a = 1\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> theirs\n", 2],
  ["empty", "a.py", "", 0],
  ["empty", "README.md", "\n \n", 0],
  ["characters", "a.txt", "a\nb\0c\n", 2],
];

describe("an error of syntax is found on its line", () => {
  test.each(broken.map((each) => [...each] as const))("%s: %s %p", async (check, name, text, line) => {
    expect(await linesOf(check, name, text)).toEqual([line]);
  });
});

const correct: readonly (readonly [check: string, name: string, text: string])[] = [
  ["json", "a.json", '\ufeff{"a": [1, 2.5e-3, null, "\\u00e9"]}'],
  ["json", "a.json", '"just text"'],
  ["json", ".vscode/settings.json", '{ /* x */ "a": [1,], }'],
  ["json", "log.json", '{"a": 1}\n{"a": 2}\n'],
  ["json", "data.ndjson", '{"a": 1}\n\n{"a": 2}\n'],
  ["yaml", "a.yml", "a: !Ref x\nb: !!set {a, b}\nc: !Sub\n  - x\n"],
  ["yaml", "a.yml", "on:\n  push:\n    branches: [\n      main,\n    ]\nrun: ${{ secrets.X }}\n"],
  ["yaml", "a.yml", "base: &b {x: 1}\na:\n  <<: *b\n  <<: *b\nc: |\n  {{ not a key }}\n"],
  ["yaml", "a.yml", "x: [\n  1\n]\ny: {\n  a: 1\n}\n"],
  ["yaml", "templates/d.yaml", "{{- if .Values.x }}\na: {{ .Values.y }}\n{{- end }}\n"],
  ["yaml", "a.yml", ""],
  ["javascript", "a.js", "#!/usr/bin/env node\nreturn require('x');\n"],
  ["javascript", "a.js", "with (a) { b }\nvar async = 1, of, get;\n"],
  ["javascript", "a.js", "await f(); import x from './y.json' with { type: 'json' }; export { notHere };\n"],
  ["javascript", "a.js", "const a = <div>{b}</div>; class A { #x = 1; static { } @dec m() {} }\n"],
  ["javascript", "a.js", "// @flow\nconst a: number = 1;\n"],
  ["javascript", "a.ts", "const a = <T,>(x: T) => x satisfies unknown; enum A { B } declare module 'x';\n"],
  ["javascript", "a.ts", "@dec class A { constructor(private readonly a: string) {} accessor b = 1 }\n"],
  ["javascript", "a.ts", "export @dec class A { @b() c }\n"],
  ["javascript", "a.d.ts", "export function f(): void;\ndeclare const a: string;\n"],
  ["javascript", "a.cjs", "module.exports = async function* () { for await (const x of y) yield* x }\n"],
  [
    "javascript",
    "page.html",
    '<script type="text/template"><% if %></script><script>var a = {{ x }};</script><script src="x.js"></script>',
  ],
  ["javascript", "page.html", '<script type="module">import "./a.js"; await 1</script><script type="text/babel">const a = <b/></script>'],
  ["python", "a.py", "def f[T](x: T) -> T:\n    return (y := x)\n\ntype A = list[int]\nasync def g():\n    async with a as b: await b\n"],
  ["python", "a.py", 'f"{x!r:>{width}} {"nested"}"\ntry: ...\nexcept* ValueError: pass\n'],
  ["python", "a.pyi", "def f(x: int = ...) -> None: ...\n"],
  ["python", "a.py", "# -*- coding: utf-8 -*-\r\nx = 'ü'\r\n"],
  ["shell", "a.sh", "#!/bin/bash\n[[ a =~ ^b ]] && arr=(1 2) && echo ${arr[@]} <(ls) <<< x\n"],
  ["shell", "a.sh", "cat <<'E'\n$(( unbalanced\nE\n"],
  ["shell", "a.sh", "#!/bin/sh\nx=${a:1:2}\nlocal y\n"],
  ["shell", "x.zsh", "#!/bin/zsh\nfor x (a b) echo $x\n"],
  ["shell", "a.fish", "#!/usr/bin/fish\nif true\nend\n"],
  ["shell", "a.sh", "#!/usr/bin/env python\nif x:\n  pass\n"],
  ["conflict", "README.md", "Title\n=======\n\n>>>>>>> not one\n"],
  ["empty", "pkg/__init__.py", ""],
  ["empty", "py.typed", ""],
];

describe("what its programs accept is no finding", () => {
  test.each(correct.map((each) => [...each] as const))("%s: %s %p", async (check, name, text) => {
    expect(await linesOf(check, name, text)).toEqual([]);
  });
});
