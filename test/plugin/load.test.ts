import { afterEach, describe, expect, jest, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { z } from "zod";
import { TeamError } from "../../src/errors.ts";
import { checkPlugin, loadPlugin, nameOfFile } from "../../src/plugin/load.ts";
import { temporaryDirectory } from "../support/temp.ts";

async function failure(work: () => unknown): Promise<TeamError> {
  try {
    await work();
  } catch (error) {
    if (error instanceof TeamError) return error;
    throw error;
  }
  throw new Error("it did not fail");
}

const { exit } = process;
afterEach(() => {
  jest.useRealTimers();
  expect(process.exit).toBe(exit);
});

describe("a plugin's file", () => {
  for (const name of ["plain.ts", "with space, accents é and # % %20 signs.ts", "new\nline.ts", "plain.js", "plain.mjs", "plain.mts"]) {
    test(`is loaded when it is named ${JSON.stringify(name)}`, async () => {
      await using temp = temporaryDirectory();
      const path = temp.write(name, 'export default { name: "mine", apply() {} };');
      expect(await loadPlugin({ path })).toEqual({ plugin: { name: "mine", apply: expect.any(Function) }, options: undefined, file: path });
    });
  }

  test("may be CommonJS, and may wait for something while it loads", async () => {
    await using temp = temporaryDirectory();
    const common = temp.write("common.cjs", 'module.exports = { name: "common", apply() {} };');
    expect((await loadPlugin({ path: common })).plugin.name).toBe("common");
    const slow = temp.write("slow.ts", 'const name = await Promise.resolve("slow");\nexport default { name, apply() {} };');
    expect((await loadPlugin({ path: slow })).plugin.name).toBe("slow");
  });

  test("may import a file beside it", async () => {
    await using temp = temporaryDirectory();
    temp.write("names.ts", 'export const name: string = "neighbour";');
    const path = temp.write("p.ts", 'import { name } from "./names.ts";\nexport default { name, apply() {} };');
    expect((await loadPlugin({ path })).plugin.name).toBe("neighbour");
  });

  const broken: [title: string, text: string, message: string | RegExp][] = [
    ["has a syntax error", "\nexport const x: number = ;\n", "cannot be loaded: line 2: Unexpected ;"],
    ["has several syntax errors", "export default {{\n", /cannot be loaded: line 1: Expected/],
    ["throws while loading", 'throw new Error("no\\n  luck");', "cannot be loaded: no luck"],
    ["throws what is no error", "throw 3;", "cannot be loaded: 3"],
    ["throws nothing", "throw null;", "cannot be loaded: null"],
    ["rejects while loading", 'await Promise.reject(new Error("no luck"));', "cannot be loaded: no luck"],
    ["imports what does not exist", 'import "./gone.ts";', /cannot be loaded: Cannot find module '.\/gone.ts'/],
    ["ends the process while loading", "process.exit(97);", "cannot be loaded: it called process.exit(97)"],
    ["ends the process by its module", 'import { exit } from "node:process";\nexit(97);', "cannot be loaded: it called process.exit(97)"],
    ["has no default export", 'export const plugin = { name: "x", apply() {} };', "has no plugin as its default export"],
    ["is empty", "", "has no plugin as its default export"],
    ["exports null", "export default null;", "has no plugin as its default export"],
    ["exports a function", "export default () => {};", "has no plugin as its default export"],
    ["exports text", 'export default "csv";', "has no plugin as its default export"],
    ["exports a plugin without a name", "export default { apply() {} };", "has no plugin as its default export"],
    ["exports a plugin with a number for a name", "export default { name: 3, apply() {} };", "has no plugin as its default export"],
    ["exports a plugin without apply", 'export default { name: "x" };', "has no plugin as its default export"],
    ["exports a promise of a plugin", 'export default Promise.resolve({ name: "x", apply() {} });', "has no plugin as its default export"],
    ["exports a plugin with a blank name", 'export default { name: " ", apply() {} };', "has an empty name"],
  ];
  for (const [title, text, message] of broken) {
    test(`that ${title} is refused, and named`, async () => {
      await using temp = temporaryDirectory();
      const path = temp.write("p.ts", text);
      const error = await failure(() => loadPlugin({ path }));
      expect(error.message).toStartWith(`plugin ${path} `);
      if (typeof message === "string") expect(error.message).toContain(message);
      else expect(error.message).toMatch(message);
      expect(error.message).not.toContain("\n");
      expect(error).toMatchObject({ code: "config", exitCode: 3, hint: expect.stringMatching(/^(Fix|Export|Give)/) });
    });
  }

  test("with a mistake in a file that it imports is refused with that file", async () => {
    await using temp = temporaryDirectory();
    const other = temp.write("other.ts", "\n\nexport const = 1;");
    const path = temp.write("p.ts", 'import "./other.ts";\nexport default { name: "x", apply() {} };');
    const error = await failure(() => loadPlugin({ path }));
    expect(error.message).toStartWith(`plugin ${path} cannot be loaded: ${other}, line 3: `);
  });

  test("that does not exist is refused with where to look", async () => {
    await using temp = temporaryDirectory();
    const error = await failure(() => loadPlugin({ path: temp.join("gone.ts") }));
    expect(error.message).toBe(`plugin ${temp.join("gone.ts")} does not exist`);
    expect(error.hint).toContain("--plugin");
  });

  for (const name of ["what?.ts", "back\\slash.ts", "dir?/p.ts"]) {
    test(`named ${name} is refused with the cause: Bun cannot import it`, async () => {
      await using temp = temporaryDirectory();
      const path = temp.write(name, 'export default { name: "mine", apply() {} };');
      expect((await failure(() => loadPlugin({ path }))).message).toBe(
        `plugin ${path} cannot be loaded: its path has a question mark or a backslash`,
      );
    });
  }

  test("that is a directory is refused", async () => {
    await using temp = temporaryDirectory();
    mkdirSync(temp.join("p.ts"));
    expect((await failure(() => loadPlugin({ path: temp.join("p.ts") }))).message).toStartWith(
      `plugin ${temp.join("p.ts")} cannot be loaded: `,
    );
  });

  test("that never finishes loading is given up after 30 s", async () => {
    await using temp = temporaryDirectory();
    const path = temp.write("p.ts", 'globalThis.stuckPlugin?.();\nawait new Promise(() => {});\nexport default { name: "x", apply() {} };');
    const begun = Promise.withResolvers<void>();
    Object.assign(globalThis, { stuckPlugin: begun.resolve });
    jest.useFakeTimers();
    const loading = failure(() => loadPlugin({ path }));
    await begun.promise;
    jest.advanceTimersByTime(30_000);
    expect((await loading).message).toBe(`plugin ${path} cannot be loaded: it did not finish within 30 s`);
    Reflect.deleteProperty(globalThis, "stuckPlugin");
  });

  test("is allowed to end the process no more than before, once it is loaded", async () => {
    await using temp = temporaryDirectory();
    await failure(() => loadPlugin({ path: temp.write("bad.ts", "process.exit(97);") }));
    await loadPlugin({ path: temp.write("good.ts", 'export default { name: "x", apply() {} };') });
    expect(process.exit).toBe(exit);
  });

  test("gives a plugin a name before it has said its own", () => {
    const names = ["/a/csv-costs.ts", "/a/csv-costs.mjs", "/a/csv-costs.cts", "/a/b.report.js", "/a/none"].map(nameOfFile);
    expect(names).toEqual(["csv-costs", "csv-costs", "csv-costs", "b.report", "none"]);
  });
});

describe("a plugin's options", () => {
  const file = "/p/csv.ts";
  const plugin = (options?: z.ZodType) => ({ name: "csv", options, apply() {} });
  const schema = z.object({ file: z.string(), digits: z.number().int().default(2), separator: z.string().optional() });
  const check = (options: unknown, using: z.ZodType | undefined = schema) => checkPlugin(plugin(using), options, file);

  test("are parsed, defaults included", () => {
    expect(check({ file: "costs.csv" }).options).toEqual({ file: "costs.csv", digits: 2 });
  });

  test("are {} when none are given", () => {
    expect(check(undefined, z.object({ digits: z.number().default(2) })).options).toEqual({ digits: 2 });
    expect(check(null, z.object({ digits: z.number().default(2) })).options).toEqual({ digits: 2 });
  });

  test("may be transformed, and of any shape that the schema likes", () => {
    expect(
      check(
        { file: "x" },
        z.object({ file: z.string() }).transform(({ file: name }) => name.toUpperCase()),
      ).options,
    ).toBe("X");
    expect(check("x", z.string()).options).toBe("x");
    expect(check({ a: 1, b: 2 }, z.record(z.string(), z.number())).options).toEqual({ a: 1, b: 2 });
    expect(check({ file: "x", more: 1 }, z.looseObject({ file: z.string() })).options).toEqual({ file: "x", more: 1 });
  });

  const wrong: [title: string, options: unknown, schema: z.ZodType, says: string[]][] = [
    ["miss one", {}, schema, ["Invalid input: expected string, received undefined", "file"]],
    ["miss one because there are none", undefined, schema, ["expected string", "file"]],
    ["have a wrong type", { file: "x", digits: "2" }, schema, ["expected number, received string", "digits"]],
    ["break a rule", { file: "x", digits: 1.5 }, schema, ["expected int", "digits"]],
    ["are no map", [1], schema, ["expected object, received array"]],
    ["have a mistyped name", { file: "x", seperator: ";" }, schema, ['it has no option "seperator"; did you mean separator?']],
    ["have a strange name", { file: "x", colour: "red" }, schema, ['it has no option "colour"; it knows file, digits, and separator']],
    ["are given where there are none to give", { file: "x" }, z.object({}), ['it has no option "file"; it knows none']],
    ["have an unknown name under a strict schema", { file: "x", more: 1 }, z.strictObject({ file: z.string() }), ["more"]],
    ["are checked by a schema that throws", { file: "x" }, z.string().refine(async () => true) as never, ["expected string"]],
    ["need an asynchronous schema", "x", z.string().refine(async () => true), ["Encountered Promise"]],
  ];
  for (const [title, options, using, says] of wrong) {
    test(`that ${title} are refused with plugin, file and where to put them`, async () => {
      const error = await failure(() => check(options, using));
      expect(error.message).toStartWith("plugin csv (/p/csv.ts) was given wrong options: ");
      for (const words of says) expect(error.message).toContain(words);
      expect(error.message).not.toContain("\n");
      expect(error).toMatchObject({
        code: "config",
        exitCode: 3,
        hint: "Give them in mg-team.yaml: plugins: [{ path: /p/csv.ts, options: { … } }]",
      });
    });
  }

  test("are refused where the plugin has none", async () => {
    const error = await failure(() => checkPlugin(plugin(), { file: "x" }, file));
    expect(error.message).toBe("plugin csv (/p/csv.ts) takes no options");
    expect((await failure(() => checkPlugin(plugin(), {}, file))).message).toBe("plugin csv (/p/csv.ts) takes no options");
    expect(checkPlugin(plugin(), undefined, file).options).toBeUndefined();
  });

  test("that are described by something else than a zod schema are refused, not a crash", async () => {
    const error = await failure(() => checkPlugin({ ...plugin(), options: { file: "string" } as never }, { file: "x" }, file));
    expect(error.message).toStartWith("plugin csv (/p/csv.ts) was given wrong options: ");
  });
});
