import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temp.ts";

// A plugin file outside of any project must find mg-team, zod and tapable, from source and in a compiled program (build.ts has the same options).

const program = join(import.meta.dir, "host-program.ts");
let built: TemporaryDirectory;

beforeAll(async () => {
  built = temporaryDirectory();
  await Bun.build({
    entrypoints: [program],
    compile: {
      outfile: built.join("host"),
      autoloadDotenv: false,
      autoloadBunfig: false,
      autoloadTsconfig: false,
      autoloadPackageJson: true,
    },
    format: "esm",
    bytecode: true,
    minify: true,
    sourcemap: "linked",
    define: { "process.env.NODE_ENV": '"production"' },
  });
}, 60_000);
afterAll(() => built[Symbol.asyncDispose]());

const ways: [title: string, command: () => string[]][] = [
  ["from source", () => [process.execPath, "--no-env-file", "--no-install", "--config=/dev/null", program]],
  ["compiled", () => [built.join("host")]],
];

/** Loads and applies a plugin in an empty working directory with an empty home; gives what the program printed. */
async function load(command: readonly string[], temp: TemporaryDirectory, path: string, options?: unknown): Promise<string[]> {
  const cwd = temp.join("empty");
  mkdirSync(cwd, { recursive: true });
  const child = Bun.spawn([...command, path, ...(options === undefined ? [] : [JSON.stringify(options)])], {
    cwd,
    env: { PATH: "/usr/bin:/bin", HOME: temp.join("home") },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return `${stdout}${stderr}`.trimEnd().split("\n");
}

for (const [title, command] of ways) {
  describe(`a plugin file in a directory of its own, ${title},`, () => {
    test("imports mg-team, zod and tapable in every usual form, types included", async () => {
      await using temp = temporaryDirectory("with space and é");
      const path = temp.write(
        "report.ts",
        `import { definePlugin, force, Stage, SynthesisStage, tallyOf, type Deliberation, type Team } from "mg-team";
         import * as team from "mg-team";
         import { z } from "zod";
         import defaultZod from "zod";
         import * as allOfZod from "zod";
         import { z as zod4 } from "zod/v4";
         import { SyncHook } from "tapable";
         import tapable from "tapable";
         export default definePlugin({
           name: "report",
           options: z.object({ file: z.string() }),
           apply(mine: Team, options) {
             const found = { force, tallyOf, definePlugin, SyncHook, a: tapable.SyncHook, b: team.markBallots, c: defaultZod.object, d: allOfZod.z.object, e: zod4.object };
             for (const [name, value] of Object.entries(found)) if (typeof value !== "function") throw new Error(name);
             if (tapable.SyncHook !== SyncHook || zod4.object !== z.object || team.force !== force) throw new Error("two of a kind");
             mine.log.info(JSON.stringify({ options, stage: Stage.overrule, check: SynthesisStage.check }));
             const hook = new SyncHook<[string]>(["word"]);
             hook.tap("x", (word) => mine.log.info(word));
             hook.call("tapped");
             return () => mine.log.info("cleaned up");
           },
         });`,
      );
      expect(await load(command(), temp, path, { file: "costs.csv" })).toEqual([
        '{"options":{"file":"costs.csv"},"stage":300,"check":100}',
        "tapped",
        "ok",
        "cleaned up",
      ]);
    });

    test("is checked by the zod that it imports", async () => {
      await using temp = temporaryDirectory();
      const path = temp.write(
        "report.ts",
        'import { z } from "zod";\nexport default { name: "report", options: z.object({ file: z.string() }), apply() {} };',
      );
      const [wrong] = await load(command(), temp, path, { file: 3 });
      expect(wrong).toContain("was given wrong options: ✖ Invalid input: expected string, received number → at file");
      const [mistyped] = await load(command(), temp, path, { file: "x", flie: "y" });
      expect(mistyped).toContain('it has no option "flie"; did you mean file?');
    });

    test("uses packages of its own node_modules", async () => {
      await using temp = temporaryDirectory();
      temp.write("node_modules/left-word/package.json", '{"name": "left-word", "version": "1.0.0", "exports": {".": "./lib/main.js"}}');
      temp.write("node_modules/left-word/lib/main.js", 'exports.word = require("./other").word;');
      temp.write("node_modules/left-word/lib/other.js", 'exports.word = "of its own";');
      temp.write("node_modules/@me/typed/package.json", '{"name": "@me/typed", "type": "module", "module": "./index.ts"}');
      temp.write("node_modules/@me/typed/index.ts", "export const twice = (word: string): string => word + word;");
      const path = temp.write(
        "plugins/p.ts",
        `import { definePlugin } from "mg-team";
         import { word } from "left-word";
         import { twice } from "@me/typed";
         export default definePlugin({ name: "own", apply(team) { team.log.info(twice(word)); } });`,
      );
      expect(await load(command(), temp, path)).toEqual(["of its ownof its own", "ok"]);
    });

    test("that imports a package which is not there is refused, and nothing is downloaded", async () => {
      await using temp = temporaryDirectory();
      const path = temp.write(
        "p.ts",
        'import pad from "left-pad";\nexport default { name: "x", apply(team) { team.log.info(pad("x", 3)); } };',
      );
      const [line] = await load(command(), temp, path);
      expect(line).toStartWith(`TeamError: plugin ${path} cannot be loaded: Cannot find package 'left-pad'`);
    });

    test("that leaves an error behind which nobody waits for does not end the program", async () => {
      await using temp = temporaryDirectory();
      const text = (mistake: string) =>
        `export default { name: "stray", apply() { ${mistake}; return new Promise((resolve) => setTimeout(resolve, 30)); } };`;
      const rejection = temp.write("rejection.ts", text('Promise.reject(new Error("nobody waits"))'));
      expect(await load(command(), temp, rejection)).toEqual([`plugin stray (${rejection}), background: nobody waits`, "ok"]);
      const timer = temp.write("timer.ts", text('setTimeout(() => { throw new Error("in a timer"); })'));
      expect(await load(command(), temp, timer)).toEqual([`plugin stray (${timer}), background: in a timer`, "ok"]);
      const last = temp.write("last.ts", 'export default { name: "stray", apply() { void Promise.reject(new Error("at the end")); } };');
      expect((await load(command(), temp, last)).toSorted()).toEqual(["ok", `plugin stray (${last}), background: at the end`]);
      const exit = temp.write("exit.ts", text("setTimeout(() => { process.exit(7); })"));
      expect((await load(command(), temp, exit)).at(-1)).toBe("ok");
    });
  });
}
