import { describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { fingerprint, withImports } from "../../src/config/fingerprint.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temp.ts";

// Every file says its own name when it runs, so that Bun itself tells what a consent must cover.

const says = (name: string) => `console.log(${JSON.stringify(name)});\n`;

/** A directory whose code files say their names; a text that is given comes before that. */
function sayingDirectory(files: Readonly<Record<string, string>>): TemporaryDirectory {
  const temp = temporaryDirectory("plugin");
  for (const [name, text] of Object.entries(files)) temp.write(name, name.endsWith(".json") ? text : `${text}\n${says(name)}`);
  return temp;
}

/** The files that Bun runs, by their names; a process of its own, as Bun remembers directories. */
function runByBun(temp: TemporaryDirectory, file: string): string[] {
  const { stdout, stderr, exitCode } = Bun.spawnSync([process.execPath, "--no-install", temp.join(file)], { cwd: temp.path });
  if (exitCode !== 0) throw new Error(stderr.toString());
  return stdout.toString().trim().split("\n");
}

function coveredFiles(temp: TemporaryDirectory, file: string): string[] {
  return withImports(temp.join(file)).map((path) => path.slice(temp.path.length + 1));
}

const layouts: readonly (readonly [what: string, files: Readonly<Record<string, string>>])[] = [
  ["ts beside tsx", { "plugin.ts": 'import "./helper";', "helper.ts": "", "helper.tsx": "" }],
  ["ts beside mts", { "plugin.ts": 'import "./helper";', "helper.ts": "", "helper.mts": "" }],
  ["ts beside cts", { "plugin.ts": 'import "./helper";', "helper.ts": "", "helper.cts": "" }],
  ["js beside jsx", { "plugin.ts": 'import "./helper";', "helper.js": "", "helper.jsx": "" }],
  ["js beside mjs", { "plugin.ts": 'import "./helper";', "helper.js": "", "helper.mjs": "" }],
  ["js that is not there, for ts and tsx", { "plugin.ts": 'import "./helper.js";', "helper.ts": "", "helper.tsx": "" }],
  ["mjs that is not there, for mts", { "plugin.ts": 'import "./helper.mjs";', "helper.mts": "" }],
  ["a file beside a directory", { "plugin.ts": 'import "./helper";', "helper.ts": "", "helper/index.ts": "" }],
  ["an index", { "plugin.ts": 'import "./helper";', "helper/index.ts": "", "helper/index.tsx": "" }],
  ["main", { "plugin.ts": 'import "./lib";', "lib/package.json": '{ "main": "./main.ts" }', "lib/main.ts": "", "lib/index.ts": "" }],
  [
    "module",
    {
      "plugin.ts": 'import "./lib";',
      "lib/package.json": '{ "module": "./m.ts", "main": "./main.ts" }',
      "lib/m.ts": "",
      "lib/main.ts": "",
    },
  ],
  [
    "exports",
    { "plugin.ts": 'import "./lib";', "lib/package.json": '{ "exports": "./e.ts", "main": "./m.ts" }', "lib/e.ts": "", "lib/m.ts": "" },
  ],
  ["imports of package.json", { "plugin.ts": 'import "#inner";', "package.json": '{ "imports": { "#inner": "./a.ts" } }', "a.ts": "" }],
  [
    "the package itself",
    { "plugin.ts": 'import "own/part";', "package.json": '{ "name": "own", "exports": { "./part": "./a.ts" } }', "a.ts": "" },
  ],
  [
    "paths of tsconfig.json",
    { "plugin.ts": 'import "@/a";', "tsconfig.json": '{ "compilerOptions": { "paths": { "@/*": ["./inner/*"] } } }', "inner/a.ts": "" },
  ],
  [
    "paths of tsconfig.json for a relative name",
    { "plugin.ts": 'import "./a";', "tsconfig.json": '{ "compilerOptions": { "paths": { "./a": ["./b.ts"] } } }', "a.ts": "", "b.ts": "" },
  ],
  [
    "a package beside the plugin",
    {
      "plugin.ts": 'import "dep";',
      "node_modules/dep/package.json": '{ "main": "./m.js" }',
      "node_modules/dep/m.js": 'import "./n";',
      "node_modules/dep/n.js": "",
    },
  ],
  [
    "a package that gives another file to require",
    {
      "plugin.ts": 'require("dep");',
      "node_modules/dep/package.json": '{ "exports": { "import": "./i.mjs", "require": "./r.cjs" } }',
      "node_modules/dep/i.mjs": "",
      "node_modules/dep/r.cjs": "",
    },
  ],
  ["a package that is required", { "plugin.ts": 'require("dep");', "node_modules/dep/index.js": "" }],
  [
    "a file that is to be read as code",
    { "plugin.ts": 'import "./a.txt" with { type: "ts" };', "a.txt": 'import "./b.ts"; const x = <string>"";', "b.ts": "" },
  ],
  ["a query behind the name", { "plugin.ts": 'await import("./a.ts?again=1");', "a.ts": "" }],
];

describe("whatever Bun runs for a plugin is covered by its consent", () => {
  test.each(layouts)("%s", async (_, files) => {
    await using temp = sayingDirectory(files);
    const ran = runByBun(temp, "plugin.ts");
    expect(ran.length).toBeGreaterThan(1);
    expect(coveredFiles(temp, "plugin.ts")).toEqual(expect.arrayContaining(ran));
  });
});

test.each(["helper.tsx", "helper.mts", "helper.js", "helper.jsx", "helper.mjs", "helper.cjs", "helper.json", "helper/index.ts"])(
  "%s is a change when it is added, taken away, or put in place of helper.ts",
  async (added) => {
    await using temp = sayingDirectory({ "plugin.ts": 'import "./helper";', "helper.ts": "" });
    const hash = () => fingerprint(withImports(temp.join("plugin.ts")));
    const before = hash();
    temp.write(added, "{}");
    const after = hash();
    expect(after).not.toBe(before);
    rmSync(temp.join("helper.ts"));
    expect([before, after]).not.toContain(hash());
  },
);

test("modules that the program serves need no consent, whatever lies beside the plugin", async () => {
  const text =
    'import { definePlugin } from "mg-team"; import { z } from "zod"; export default definePlugin({ name: "a", options: z.object({}), apply() {} });';
  await using temp = sayingDirectory({ "plugin.ts": text, "node_modules/zod/index.js": "", "node_modules/mg-team/index.js": "" });
  expect(coveredFiles(temp, "plugin.ts")).toEqual(["plugin.ts"]);
});

test("a literal that no path can be does not keep a plugin from being looked at", async () => {
  await using temp = sayingDirectory({ "plugin.ts": `export const long = "./${"a".repeat(6000)}"; export const nul = "./\0";` });
  expect(coveredFiles(temp, "plugin.ts")).toEqual(["plugin.ts"]);
});
