import { describe, expect, test } from "bun:test";
import { cpSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import * as publicApi from "../../src/index.ts";
import { bundle } from "../../types/bundle.ts";
import { generateTypes, typesPath } from "../../types/generate.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temp.ts";
import { install, typeCheck } from "../support/type-check.ts";

// What `mg-team plugin types` gives: made from the sources, sufficient without node_modules, and no obstacle beside them.

const root = resolve(import.meta.dir, "../..");
const declarations = readFileSync(typesPath, "utf8");

/** A directory with the types in it, as `mg-team plugin types` leaves them. */
function editor(files: Readonly<Record<string, string>>): TemporaryDirectory {
  const temp = temporaryDirectory();
  for (const [name, text] of Object.entries({ "mg-team.d.ts": declarations, ...files })) temp.write(name, text);
  return temp;
}

const reference = '/// <reference path="./mg-team.d.ts" />\n';

describe("the types for plugins", () => {
  test("are as the sources say (npm run types makes them anew)", async () => {
    expect(await generateTypes()).toBe(declarations);
  }, 60_000);

  test("offer every value that a plugin can import, and no other", () => {
    const [module = ""] = declarations.split('declare module "zod*"');
    const values = [...module.matchAll(/^ {2}export (?:const|function|class) (\w+)/gm)].map((match) => match[1] ?? "");
    expect([...new Set(values)].sort()).toEqual(Object.keys(publicApi).sort());
  });

  test("are enough for the built-in plugins, without node_modules", async () => {
    await using temp = editor({ "globals.d.ts": "declare const Bun: any;\ndeclare const Buffer: any;\n" });
    cpSync(join(root, "plugins"), temp.join("plugins"), { recursive: true });
    const ours = { lib: ["esnext", "dom"], exactOptionalPropertyTypes: false, noImplicitReturns: false };
    expect(await typeCheck(temp, ["."], { ...ours, noPropertyAccessFromIndexSignature: false })).toBe("");
  }, 60_000);

  test("know what is wrong in a plugin", async () => {
    await using temp = editor({
      "a.ts": `${reference}import { definePlugin, Stage } from "mg-team";
        import { z } from "zod";
        export default definePlugin({
          name: "a",
          options: z.object({ file: z.string() }),
          apply(team, options) {
            // @ts-expect-error there is no such hook
            team.hooks.onEnd.tap("a", () => {});
            // @ts-expect-error a string is no number
            options.file.toFixed();
            // @ts-expect-error there is no such option
            options.flie;
            // @ts-expect-error there is no such stage
            Stage.last;
            team.hooks.onFinish.tap("a", (result) => {
              // @ts-expect-error it is the host that decides
              result.answer = "";
              const sum: number | null = result.cost.total_usd;
              void sum;
            });
            // @ts-expect-error a tap of onConsensus returns a deliberation, or nothing
            team.hooks.onConsensus.tap("a", () => 3);
          },
        });\n`,
    });
    expect(await typeCheck(temp, ["a.ts"])).toBe("");
  }, 60_000);

  test("keep what is internal to themselves", async () => {
    await using temp = editor({
      "a.ts": `${reference}// @ts-expect-error a part of Action, not exported
        import type { ActionBase } from "mg-team";
        export type X = ActionBase;\n`,
    });
    expect(await typeCheck(temp, ["a.ts"])).toBe("");
  }, 60_000);
});

// The same file, once with what mg-team.d.ts has of zod and once with zod itself: what is declared by hand must not say anything else.
const usual = `${reference}import { definePlugin } from "mg-team";
import { z } from "zod";
import * as all from "zod";
import whole from "zod";
import { z as four } from "zod/v4";
import type { ZodType } from "zod";
import { SyncHook } from "tapable";

type Equal<One, Other> = (<T>() => T extends One ? 1 : 2) extends <T>() => T extends Other ? 1 : 2 ? true : false;
const same = <T extends true>(): T | null => null;

const schema = z.object({
  file: z.string().min(1).default("x"),
  digits: z.number().int().min(0).max(8).optional(),
  kind: z.enum(["a", "b"]).describe("which"),
  list: z.array(z.string().nullable()).min(1),
  map: z.record(z.string(), z.number()),
  either: z.union([z.string(), z.literal(3), z.boolean()]),
  anything: z.unknown(),
  length: z.string().transform((text) => text.length),
  inner: z.strictObject({ on: z.boolean().default(true), at: z.date().nullish() }),
  items: z.string().array(),
  safe: z.number().refine((number) => number > 1).catch(2),
});
interface Expected {
  file: string; digits?: number | undefined; kind: "a" | "b"; list: (string | null)[]; map: Record<string, number>; either: string | 3 | boolean;
  anything: unknown; length: number; inner: { on: boolean; at?: Date | null | undefined }; items: string[]; safe: number;
}
type Members<T> = { [Key in keyof T]: T[Key] };
same<Equal<Members<z.infer<typeof schema>>, Members<Expected>>>();
same<Equal<z.output<typeof schema>, z.infer<typeof schema>>>();
const parsed = schema.safeParse({});
if (parsed.success) parsed.data.file.toUpperCase();
else parsed.error.issues.map(({ message }) => message);
export const others: ZodType<string>[] = [all.string(), four.string(), whole.string()];
// Known to zod, and no mistake in either: lazy, coerce, iso, email().
export const more = [z.lazy(() => z.string()), z.coerce.number(), z.iso.date(), z.email()];

const hook = new SyncHook<[string]>(["word"]);
hook.tap("a", (word) => void word.toUpperCase());

export default definePlugin({
  name: "a",
  options: schema,
  apply(team, options) {
    same<Equal<typeof options, z.output<typeof schema>>>();
    team.log.info(options.file);
  },
});
export const none = definePlugin({
  name: "b",
  apply(_team, options) {
    const nothing: undefined = options;
    return () => void nothing;
  },
});
`;

describe("the usual schemas of zod have the same types", () => {
  test("without node_modules", async () => {
    await using temp = editor({ "a.ts": usual });
    expect(await typeCheck(temp, ["a.ts"])).toBe("");
  }, 60_000);

  test("and with zod and tapable installed, whose own types count then", async () => {
    const wrong = `${usual}// @ts-expect-error only zod itself can know that\nz.string().wrong;\n`;
    await using temp = editor({ "a.ts": wrong });
    for (const name of ["zod", "tapable"]) install(temp, name);
    expect(await typeCheck(temp, ["a.ts"], { lib: ["esnext", "dom"] })).toBe("");
  }, 60_000);
});

describe("the bundler", () => {
  async function bundled(files: Readonly<Record<string, string>>) {
    await using temp = temporaryDirectory();
    for (const [name, text] of Object.entries(files)) temp.write(name, text);
    return bundle(temp.join("index.d.ts"));
  }

  test("takes what is exported, what that mentions, and nothing else", async () => {
    const { declarations: found, packages } = await bundled({
      "index.d.ts": 'export { type A, f } from "./a.ts"; export type * from "./b.ts";',
      "a.d.ts":
        'import type { B } from "./b.ts"; import type { P, Q } from "p";\n/** Of A. */\nexport interface A { b: B; inner: Inner; p: P }\ninterface Inner { x: typeof v }\nexport declare const v: 1;\nexport declare const unused: Q;\nexport declare function f(): void;\nexport declare function f(x: string): void;',
      "b.d.ts": "export type B = 1; export declare const value: 2;",
    });
    expect(found.map(({ name, exported }) => [name, exported])).toEqual([
      ["A", true],
      ["f", true],
      ["B", true],
      ["Inner", false],
      ["v", false],
    ]);
    expect(found[0]?.text).toBe("/** Of A. */\ninterface A { b: B; inner: Inner; p: P }");
    expect(found[1]?.text).toBe("function f(): void;\nfunction f(x: string): void;");
    expect(packages).toEqual(new Map([["p", new Set(["P"])]]));
  });

  test.each([
    ["two of one name", 'export type { A } from "./a.ts"; export type { B } from "./b.ts";', "two declarations are named X"],
    ["a type from import(…)", 'export type { I } from "./a.ts";', "I in"],
    ["a value without a name", 'export * from "./a.ts";', "name what is exported"],
    ["another name", 'export { type A as Z } from "./a.ts";', "an export under another name"],
    ["what is not there", 'export { type A } from "./c.ts";', "no declarations"],
    ["what is not declared", 'export { type Z } from "./a.ts";', "declares no Z"],
  ])("refuses %s", async (_, index, message) => {
    const files = {
      "index.d.ts": index,
      "a.d.ts": 'interface X { a: 1 }\nexport type A = X;\nexport type I = import("./b.ts").B;',
      "b.d.ts": "interface X { b: 1 }\nexport type B = X;",
    };
    await expect(bundled(files)).rejects.toThrow(message);
  });
});
