import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { readConfigFile } from "../../src/config/file.ts";
import { withImports } from "../../src/config/fingerprint.ts";
import { resolveConfig, resolveRun } from "../../src/config/resolve.ts";
import {
  configSubject,
  isTrustedScript,
  recordTrust,
  revokeTrust,
  scriptSubject,
  type TrustSubject,
  trustState,
} from "../../src/config/trust.ts";
import { readTrust, trustPath } from "../../src/config/trust-store.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temp.ts";
import { errorOf, lineOf } from "./support.ts";

const noInput = { read: () => Promise.resolve(new Uint8Array()) };

/** A project with something to trust, and a user with a home. */
function projectWith(yaml: string) {
  const temp = temporaryDirectory("project");
  temp.write("mg-team.yaml", yaml);
  temp.write("plugin.ts", 'import "./lib/a.ts";\nexport default 1;\n');
  temp.write("lib/a.ts", 'import { b } from "./b.js"; import "zod"; export const a = b;\n');
  temp.write("lib/b.ts", "export const b = 1;\n");
  temp.write("agent.yaml", "agents: []\n");
  temp.write("bin/massgen", "#!/bin/sh\n");
  const environment = { HOME: temp.join("../home"), XDG_STATE_HOME: temp.join("../home/state") };
  mkdirSync(environment.XDG_STATE_HOME, { recursive: true });
  return { temp, environment };
}

function subjectOf(temp: TemporaryDirectory): TrustSubject {
  const subject = configSubject(readConfigFile(temp.join("mg-team.yaml"), temp.path));
  if (subject === null) throw new Error("nothing to trust");
  return subject;
}

const everything = `
models: [codex, { model: grok, config: ./agent.yaml }]
massgen: { command: ./bin/massgen }
plugins: [./plugin.ts]
`;

describe("what needs consent", () => {
  test.each([
    ["plugins: [./plugin.ts]", "plugin plugin.ts"],
    ["massgen: { command: ./bin/massgen }", "command to start MassGen: "],
    ["massgen: { command: uvx massgen }", "command to start MassGen: uvx massgen"],
    ["models: [codex, { model: grok, config: ./agent.yaml }]", "config of grok/grok-4.20-0309-reasoning: agent.yaml"],
  ])("%s", async (yaml, what) => {
    const { temp, environment } = projectWith(yaml);
    await using _ = temp;
    const error = await errorOf(() => resolveConfig(lineOf(), environment, temp.path));
    expect([error.code, error.exitCode]).toEqual(["untrusted", 3]);
    expect(error.message).toContain(what);
    expect(error.hint).toBe("Look at it, then type: mg-team trust");
    recordTrust([subjectOf(temp)], environment, new Date(0));
    expect(resolveConfig(lineOf(), environment, temp.path).file?.path).toBe(temp.join("mg-team.yaml"));
  });

  test("nothing in a file without programs does", async () => {
    const { temp, environment } = projectWith("models: [codex, grok]\nmax_rounds: 3\nmassgen: { ballot_fix: off }\n");
    await using _ = temp;
    expect(configSubject(readConfigFile(temp.join("mg-team.yaml"), temp.path))).toBeNull();
    expect(resolveConfig(lineOf(), environment, temp.path).choices.maxRounds).toBe(3);
  });

  test("a flag is consent, and what a flag replaces needs none", async () => {
    const { temp, environment } = projectWith(
      "models: [codex, { model: grok, config: ./agent.yaml }]\nmassgen: { command: ./bin/massgen }\n",
    );
    await using _ = temp;
    const resolved = (...argv: string[]) => resolveRun(lineOf("Q", ...argv), environment, temp.path, noInput);
    expect((await resolved("--massgen", "uvx massgen", "--models", "codex", "grok", "--plugin", "./plugin.ts")).plugins).toHaveLength(1);
    expect((await errorOf(() => resolved("--massgen", "uvx massgen"))).message).not.toContain("MassGen");
    expect((await errorOf(() => resolved("--models", "codex", "grok"))).message).not.toContain("config of");
    const variable = { ...environment, MG_TEAM_MASSGEN: "uvx massgen", MG_TEAM_MODELS: "codex,grok" };
    expect((await resolveRun(lineOf("Q"), variable, temp.path, noInput)).settings.massgenSource).toBe("MG_TEAM_MASSGEN");
  });

  test("plugins of a file that --config names need it all the same, and the command names the file", async () => {
    const { temp, environment } = projectWith("retries: 1\n");
    await using _ = temp;
    temp.write("other dir/team.yaml", "plugins: [../plugin.ts]\n");
    const error = await errorOf(() => resolveConfig(lineOf("--config", "other dir/team.yaml"), environment, temp.path));
    expect(error.hint).toBe('Look at it, then type: mg-team trust --config "other dir/team.yaml"');
  });

  test("left out instead of refused, nothing of it remains, and a warning says so", async () => {
    const { temp, environment } = projectWith(`${everything}max_rounds: 3\n`);
    await using _ = temp;
    const config = resolveConfig(lineOf("--plugin", "./plugin.ts"), environment, temp.path, "leave out");
    expect(config.plugins.map(({ source }) => source)).toEqual(["flag"]);
    expect([config.choices.massgenCommand, config.choices.massgenSource, config.choices.maxRounds]).toEqual([null, null, 3]);
    expect(config.file?.models?.some((model) => "config" in model)).toBe(false);
    expect(config.file?.plugins).toEqual([]);
    expect(config.warnings.join()).toContain("mg-team trust");
  });
});

describe("what consent covers", () => {
  test.each(["mg-team.yaml", "plugin.ts", "lib/a.ts", "lib/b.ts", "agent.yaml", "bin/massgen"])(
    "a change of %s takes it away",
    async (file) => {
      const { temp, environment } = projectWith(everything);
      await using _ = temp;
      recordTrust([subjectOf(temp)], environment, new Date(0));
      expect(trustState(subjectOf(temp), environment)).toBe("trusted");
      writeFileSync(temp.join(file), `${readFileSync(temp.join(file), "utf8")}\n# changed\n`);
      expect(trustState(subjectOf(temp), environment)).toBe("changed");
      const error = await errorOf(() => resolveConfig(lineOf(), environment, temp.path));
      expect(error.message).toStartWith("mg-team.yaml has changed since you trusted it: plugin plugin.ts");
    },
  );

  test("another project with the same content is not trusted by it", async () => {
    const one = projectWith(everything);
    const other = projectWith(everything);
    await using _ = one.temp;
    await using __ = other.temp;
    recordTrust([subjectOf(one.temp)], one.environment, new Date(0));
    expect(trustState(subjectOf(other.temp), one.environment)).toBe("unknown");
  });

  test("a link to a project is the same project", async () => {
    const { temp, environment } = projectWith(everything);
    await using _ = temp;
    recordTrust([subjectOf(temp)], environment, new Date(0));
    symlinkSync(temp.path, temp.join("../link"));
    expect(resolveConfig(lineOf(), environment, temp.join("../link")).plugins).toHaveLength(1);
  });

  test("another user has to consent too", async () => {
    const { temp, environment } = projectWith(everything);
    await using _ = temp;
    recordTrust([subjectOf(temp)], environment, new Date(0));
    expect(trustState(subjectOf(temp), { HOME: temp.join("../other") })).toBe("unknown");
  });

  test("imports are followed through extensions, indexes, circles, and code that can't be parsed", async () => {
    await using temp = temporaryDirectory();
    const files = {
      "a.ts":
        'import "./b"; export * from "./c/index.js"; await import("./d.mjs"); require("./data.json"); import type { T } from "./gone";',
      "b.tsx": 'import "./a.ts"; export const b = <div />;',
      "c/index.ts": 'import "../d.mjs"; import "zod"; new Worker(new URL("../worker.ts", import.meta.url));',
      "worker.ts": "",
      "d.mjs": "this is ( not code",
      "data.json": "{}",
      "other.ts": "",
    };
    for (const [name, content] of Object.entries(files)) temp.write(name, content);
    const found = withImports(temp.join("a.ts")).map((path) => path.slice(temp.path.length + 1));
    expect(found.sort()).toEqual(["a.ts", "b.tsx", "c/index.ts", "d.mjs", "data.json", "worker.ts"]);
  });

  test("types that a plugin refers to for an editor are not covered, unless it imports them", async () => {
    await using temp = temporaryDirectory();
    const reference = '/// <reference path="./types.d.ts" />';
    for (const name of ["types.d.ts", "other.ts"]) temp.write(name, "");
    const covered = (text: string) => withImports(temp.write("a.ts", text)).map((path) => path.slice(temp.path.length + 1));
    expect(covered(`${reference}\nimport "./other.ts";`)).toEqual(["a.ts", "other.ts"]);
    expect(covered(`${reference}\nimport "./types.d.ts";`)).toEqual(["a.ts", "types.d.ts"]);
    expect(covered('`\n/// <reference path="./types.d.ts" ${require2("./other.ts")} />\n`')).toEqual(["a.ts", "other.ts", "types.d.ts"]);
  });
});

describe("the store", () => {
  test("it is whole, of its owner alone, and where XDG says", async () => {
    const { temp, environment } = projectWith(everything);
    await using _ = temp;
    recordTrust([subjectOf(temp)], environment, new Date(0));
    const path = temp.join("../home/state/mg-team/trust.json");
    expect(trustPath(environment)).toBe(path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(trustPath({ HOME: "/h", XDG_STATE_HOME: "relative" })).toBe("/h/.local/state/mg-team/trust.json");
    expect(readTrust(environment)[temp.join("mg-team.yaml")]?.at).toBe("1970-01-01T00:00:00.000Z");
  });

  test.each(["", "{", "[]", '{"version":2,"trusted":{}}', '{"version":1,"trusted":{"/x":1}}'])(
    "of %j nothing is trusted, and it can be written anew",
    async (text) => {
      const { temp, environment } = projectWith(everything);
      await using _ = temp;
      temp.write("../home/state/mg-team/trust.json", text);
      expect(trustState(subjectOf(temp), environment)).toBe("unknown");
      recordTrust([subjectOf(temp)], environment, new Date(0));
      expect(trustState(subjectOf(temp), environment)).toBe("trusted");
    },
  );

  test("consent is added to what is there, and taken back alone", async () => {
    const { temp, environment } = projectWith(everything);
    await using _ = temp;
    const subject = subjectOf(temp);
    recordTrust([subject], environment, new Date(0));
    temp.write("plugin_dir/scripts/run-massgen.sh", "");
    const script = scriptSubject(temp.join("plugin_dir/scripts/run-massgen.sh"), temp.path);
    if (script === null) throw new Error("no subject");
    recordTrust([script], environment, new Date(0));
    expect(Object.keys(readTrust(environment))).toHaveLength(2);
    expect(revokeTrust([subject.anchor, "/never"], environment)).toEqual([subject.anchor]);
    expect([trustState(subject, environment), trustState(script, environment)]).toEqual(["unknown", "trusted"]);
  });

  test("a place that can't be written is an error with a way out", async () => {
    const { temp, environment } = projectWith(everything);
    await using _ = temp;
    rmSync(environment.XDG_STATE_HOME, { recursive: true });
    writeFileSync(environment.XDG_STATE_HOME, "");
    expect((await errorOf(() => recordTrust([subjectOf(temp)], environment, new Date(0)))).exitCode).toBe(7);
  });
});

describe("the wrapper script of a plugin_dir", () => {
  test("inside the project it needs consent, by its content and that of its neighbours", async () => {
    const { temp, environment } = projectWith("retries: 1\n");
    await using _ = temp;
    const script = temp.write("plugin/scripts/run-massgen.sh", 'massgen "$@"\n');
    temp.write("plugin/scripts/common.sh", "");
    expect(isTrustedScript(script, temp.path, environment)).toBe(false);
    const subject = scriptSubject(script, temp.path);
    if (subject === null) throw new Error("no subject");
    recordTrust([subject], environment, new Date(0));
    expect(isTrustedScript(script, temp.path, environment)).toBe(true);
    temp.write("plugin/scripts/common.sh", "rm -rf /\n");
    expect(isTrustedScript(script, temp.path, environment)).toBe(false);
  });

  test("outside of the project it needs none, unless a link leads back in", async () => {
    const { temp, environment } = projectWith("retries: 1\n");
    await using _ = temp;
    const outside = temp.write("../plugin/scripts/run-massgen.sh", "");
    expect(isTrustedScript(outside, temp.path, environment)).toBe(true);
    temp.write("inner/scripts/run-massgen.sh", "");
    symlinkSync(temp.join("inner"), temp.join("../looks-outside"));
    expect(isTrustedScript(temp.join("../looks-outside/scripts/run-massgen.sh"), temp.path, environment)).toBe(false);
  });
});

test("what is shown for consent can't hide anything on a terminal", async () => {
  const { temp } = projectWith('massgen: { command: "sh -c \\"\\u001b[2K\\u202e evil\\nnext\\"" }\n');
  await using _ = temp;
  const what = subjectOf(temp)
    .items.map((item) => item.what)
    .join();
  expect(what).toContain("evil");
  expect(what).not.toMatch(/[\u0000-\u001f\u202e]/);
});
