import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { builtinModules } from "node:module";
import { join } from "node:path";
import manifest from "../package.json" with { type: "json" };
import { describeSource, findCycles, project, readSources, type SourceFile } from "./support/source-tree.ts";

// The shape of the program (design.md, "Shape"; style.md): arrows go one way, files are small, and what cost somebody a run is not used.

/** From the ground up: a file imports only from its own row and from the rows above it in this list. To add a directory, give it its row. */
const layers: readonly (readonly string[])[] = [
  ["src/errors.ts", "src/types.ts", "src/text.ts", "src/clock.ts"],
  ["src/consensus.ts"],
  ["src/process/", "src/session/", "src/signals.ts"],
  ["src/config/", "src/checks/"],
  ["src/engine/", "src/native/"],
  ["src/plugin/"],
  ["src/round.ts", "src/team.ts", "src/team/", "src/preflight.ts", "src/preflight/"],
  ["src/view/"],
  // What plugins get, and the built-ins: only the commands know them.
  ["src/index.ts"],
  ["plugins/"],
  ["src/commands/"],
  ["src/cli.ts"],
];

const sources = readSources(project, ["src", "plugins"]);
const inSource = sources.filter(({ path }) => path.startsWith("src/"));
const plugins = sources.filter(({ path }) => path.startsWith("plugins/"));

function layerOf(path: string): number {
  return layers.findIndex((row) => row.some((place) => path === place || (place.endsWith("/") && path.startsWith(place))));
}

/** What breaks a rule, as `file: what`, so that a failing test says it all. */
function offences(files: readonly SourceFile[], rule: (file: SourceFile) => readonly string[]): readonly string[] {
  return files.flatMap((file) => rule(file).map((what) => `${file.path}: ${what}`));
}

describe("imports", () => {
  test("every file has its layer", () => {
    expect(offences(sources, ({ path }) => (layerOf(path) < 0 ? ["has no layer: give its directory a row in this test"] : []))).toEqual([]);
  });

  test("go only downward, types included", () => {
    const upward = offences(sources, ({ path, imports }) =>
      imports.flatMap(({ file }) => (file !== null && layerOf(file) > layerOf(path) ? [`imports ${file}, which is above it`] : [])),
    );
    expect(upward).toEqual([]);
  });

  test("make no circle anywhere, types included", () => {
    expect(findCycles(sources).map((cycle) => cycle.join(" → "))).toEqual([]);
  });

  test("name files that are there, with their ending", () => {
    const broken = offences(sources, ({ imports }) =>
      imports.flatMap(({ file, name }) => (file !== null && !existsSync(join(project, file)) ? [`imports ${name}`] : [])),
    );
    expect(broken).toEqual([]);
  });

  test("of packages are dependencies of the program, not of its development", () => {
    const known = new Set([
      ...Object.keys(manifest.dependencies),
      ...builtinModules.map((name) => `node:${name}`),
      "bun",
      "bun:sqlite",
      "mg-team",
    ]);
    const packageOf = (name: string) =>
      name
        .split("/")
        .slice(0, name.startsWith("@") ? 2 : 1)
        .join("/");
    const unknown = offences(sources, ({ imports }) =>
      imports.flatMap(({ name, file }) =>
        file !== null || known.has(name) || known.has(packageOf(name)) || name === "(computed)" ? [] : [name],
      ),
    );
    expect(unknown).toEqual([]);
  });

  test("that are computed are those of plugin files, in one place", () => {
    const computed = offences(sources, ({ imports }) =>
      imports.filter(({ name }) => name === "(computed)" || name === "require").map(({ name }) => name),
    );
    expect(computed).toEqual(["src/plugin/load.ts: (computed)"]);
  });

  test("of the public surface are left to plugins, and to the commands that serve it to them", () => {
    const users = offences(inSource, ({ path, imports }) =>
      imports.flatMap(({ file, name }) =>
        (file === "src/index.ts" || name === "mg-team") && !path.startsWith("src/commands/") ? [name] : [],
      ),
    );
    expect(users).toEqual([]);
  });

  test("of a built-in plugin are mg-team, zod, node: and files of its own folder", () => {
    const folderOf = (path: string) => path.split("/").slice(0, -1).join("/");
    const allowed = (path: string, name: string, file: string | null) => {
      if (file === null) return name === "mg-team" || name === "zod" || name.startsWith("node:");
      // The list of the built-ins imports each of them; otherwise they do not know each other.
      return path === "plugins/index.ts"
        ? file.startsWith("plugins/")
        : folderOf(path) !== "plugins" && file.startsWith(`${folderOf(path)}/`);
    };
    expect(
      offences(plugins, ({ path, imports }) => imports.flatMap(({ name, file }) => (allowed(path, name, file) ? [] : [`imports ${name}`]))),
    ).toEqual([]);
  });
});

describe("files under src", () => {
  test("have 300 lines at most", () => {
    expect(offences(inSource, ({ lines }) => (lines > 300 ? [`${lines} lines`] : []))).toEqual([]);
  });

  test("have a median below 120 lines", () => {
    const lines = inSource.map((file) => file.lines).sort((a, b) => a - b);
    expect(lines[Math.floor(lines.length / 2)]).toBeLessThan(120);
  });

  test("team.ts, where a newcomer starts, fits on a screen", () => {
    expect(inSource.find(({ path }) => path === "src/team.ts")?.lines).toBeLessThanOrEqual(90);
  });
});

describe("what src and plugins do not use (reliability.md):", () => {
  const forbidden: [what: string, why: string, pattern: RegExp, allowed: readonly string[]][] = [
    // console.ts sends what plugins print to stderr.
    ["console", "hides EPIPE and blocks on a stuck reader", /^console\./, ["src/plugin/console.ts"]],
    [
      "process.exit",
      "cuts what is still to be written",
      /^process\.(exit|reallyExit|abort)$/,
      ["src/cli.ts", "src/signals.ts", "src/plugin/exit.ts"],
    ],
    ["Bun.write", "leaves torn files", /^Bun\.write$/, []],
    ["a file's writer()", "reports nothing on a full disk", /^\(\)\.writer$/, []],
    ["Bun.spawn outside of src/process", "children are supervised in one place", /^Bun\.(spawn|spawnSync|\$)$/, ["src/process/"]],
  ];
  for (const [what, why, pattern, allowed] of forbidden) {
    test(`${what}, which ${why}`, () => {
      const isAllowed = (path: string) => allowed.some((place) => path.startsWith(place));
      expect(offences(sources, ({ path, uses }) => (isAllowed(path) ? [] : uses.filter((use) => pattern.test(use))))).toEqual([]);
    });
  }

  const modules: [name: RegExp, why: string, allowed: string | null][] = [
    [/^(node:)?child_process$/, "children are supervised in one place", "src/process/"],
    [/^(node:)?(cluster|worker_threads)$/, "children are supervised in one place", null],
    [/^bun$/, "`$` and spawn would come in by the back door", null],
    [/^(node:)?readline(\/promises)?$/, "splits lines on U+2028", null],
  ];
  for (const [name, why, allowed] of modules) {
    test(`the module ${name.source}: ${why}`, () => {
      const users = offences(sources, ({ path, imports }) =>
        allowed !== null && path.startsWith(allowed) ? [] : imports.filter((each) => name.test(each.name)).map((each) => each.name),
      );
      expect(users).toEqual([]);
    });
  }
});

describe("the guard itself", () => {
  test("sees every form of import", () => {
    const text = `
      import a from "./a.ts"; import type { B } from "./b.ts"; import "./c.ts"; export * from "./d.ts"; export { e } from "../e.ts";
      const f = await import("./f.ts"); type G = import("./g.ts").G; type H = typeof import("./h.ts"); const i = import(f); export { type J } from "./j.ts";
      // import "./comment.ts"
      const text = 'import "./text.ts"';`;
    const { imports } = describeSource("src/x/y.ts", text);
    expect(imports.map(({ file }) => file)).toEqual([
      "src/x/a.ts",
      "src/x/b.ts",
      "src/x/c.ts",
      "src/x/d.ts",
      "src/e.ts",
      "src/x/f.ts",
      "src/x/g.ts",
      "src/x/h.ts",
      null,
      "src/x/j.ts",
    ]);
  });

  test("sees what is used, in calls, in passing, taken apart and by brackets", () => {
    const text = `console.log(1); const say = console.warn; const { exit } = process; Bun["write"]("a", "b"); Bun.file("x").writer(); a?.b.exit();`;
    expect(describeSource("src/x.ts", text).uses).toEqual(
      expect.arrayContaining(["console.log", "console.warn", "process.exit", "Bun.write", "().writer"]),
    );
    expect(describeSource("src/x.ts", "// console.log(1)\nconst text = `console.log(1)`;").uses).toEqual([]);
  });

  test("finds circles", () => {
    const file = (path: string, ...imports: string[]) =>
      describeSource(path, imports.map((name) => `export type * from "${name}";`).join("\n"));
    const knot = [file("src/a.ts", "./b.ts"), file("src/b.ts", "./c.ts"), file("src/c.ts", "./b.ts")];
    expect(findCycles(knot)).toEqual([["src/b.ts", "src/c.ts", "src/b.ts"]]);
    expect(findCycles([file("src/a.ts", "./a.ts")])).toEqual([["src/a.ts", "src/a.ts"]]);
    expect(findCycles([file("src/a.ts", "./b.ts", "./c.ts"), file("src/b.ts", "./c.ts"), file("src/c.ts")])).toEqual([]);
  });
});
