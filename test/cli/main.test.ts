import { describe, expect, test } from "bun:test";
import { resolveRun } from "../../src/config/resolve.ts";
import { TeamError } from "../../src/errors.ts";
import { type SayOptions, say, widest } from "./support.ts";

describe("a query", () => {
  test.each([
    [["Build a page"], ["Build a page"]],
    [["run", "Build a page"], ["Build a page"]],
    [["run", "report"], ["report"]],
    [["run", "plugin"], ["plugin"]],
    [["--", "plugin"], ["plugin"]],
    [["plugin list"], ["plugin list"]],
    [["--", "--help"], ["--help"]],
    [
      ["Q", "with", "codex,", "grok"],
      ["Q", "with", "codex,", "grok"],
    ],
    [["haiku"], ["haiku"]],
    [
      ["truss", "with", "codex", "and", "grok"],
      ["truss", "with", "codex", "and", "grok"],
    ],
    [["--", "truss"], ["truss"]],
  ])("%p is a run", async (argv, words) => {
    const { code, stdout, stderr, context } = await say(argv);
    expect([code, stdout, stderr]).toEqual([0, "", ""]);
    expect(context?.options.words.map(({ text }) => text)).toEqual(words);
  });

  test("the exit code is that of the command", async () => {
    expect((await say(["Q"], { run: () => 6 })).code).toBe(6);
  });
});

describe("a lone word that is almost a command", () => {
  test.each([
    ["trsut", "trust"],
    ["Doctor", "doctor"],
    ["completio", "completion"],
    ["hlep", "help"],
    ["plugins", "plugin"],
  ])("%s is refused", async (word, command) => {
    const { code, stderr, context } = await say([word]);
    expect([code, context]).toEqual([2, null]);
    expect(stderr).toStartWith(`mg-team: there is no command "${word}"\n  Did you mean ${command}?`);
    expect(stderr).toContain(`mg-team run ${word}\n`);
    expect((await say(["run", word])).context?.options.words.map(({ text }) => text)).toEqual([word]);
  });
});

describe("help and version", () => {
  test("alone it shows what to type, on stderr, and exits 2", async () => {
    const { code, stdout, stderr } = await say([]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain('  mg-team "Build a landing page" with codex, gemini, and grok\n');
    expect(stderr).toContain("mg-team --help");
  });

  test.each([[["--help"]], [["-h"]], [["Q", "--help"]], [["help"]]])("%p lists the commands", async (argv) => {
    const { code, stdout, stderr } = await say(argv);
    expect([code, stderr]).toEqual([0, ""]);
    for (const name of ["run", "trust", "completion", "help", "--models", "--cost-budget"]) expect(stdout).toContain(name);
    expect(widest(stdout)).toBeLessThanOrEqual(80);
  });

  test.each([[["run", "--help"]], [["help", "run"]], [["run", "Q", "-h", "--timout"]]])("%p explains a run", async (argv) => {
    const { code, stdout } = await say(argv);
    expect(code).toBe(0);
    expect(stdout).toStartWith("Usage: mg-team [run] QUERY [with|using MODELS] [options]\n");
    expect(stdout).toContain("Exit codes\n");
  });

  test("asking for help behind -- is a query", async () => {
    expect((await say(["--", "--help"])).context).not.toBeNull();
  });

  test.each([[["--version"]], [["-V"]], [["trust", "--version"]], [["status", "--version"]]])(
    "%p prints the version alone",
    async (argv) => {
      const { code, stdout } = await say(argv);
      expect([code, stdout]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)]);
    },
  );

  test("help for what does not exist names the nearest", async () => {
    const { code, stderr } = await say(["help", "trsut"]);
    expect([code, stderr]).toEqual([
      2,
      'mg-team: there is no command "trsut"\n  Did you mean trust? mg-team help trust\n  All options: mg-team help --help\n',
    ]);
    expect((await say(["help", "constructor"])).code).toBe(2);
  });
});

describe("errors", () => {
  const failing = (error: unknown): SayOptions => ({
    run: () => {
      throw error;
    },
  });

  test("an expected one is its message and what to do next", async () => {
    const { code, stdout, stderr } = await say(
      ["Q"],
      failing(new TeamError("preflight", "MassGen was not found", "Install it: pip install massgen")),
    );
    expect([code, stdout, stderr]).toEqual([3, "", "mg-team: MassGen was not found\n  Install it: pip install massgen\n"]);
  });

  test("a wrong command line also names the help", async () => {
    const { code, stderr } = await say(["Q", "--timout", "5"]);
    expect([code, stderr]).toEqual([
      2,
      'mg-team: there is no option "--timout"\n  Did you mean --timeout?\n  All options: mg-team --help\n',
    ]);
    expect((await say(["trust", "--lst"])).stderr).toEndWith("  All options: mg-team trust --help\n");
  });

  test("anything else is a bug: exit 1, asked to be reported, the stack with --verbose only", async () => {
    const bug = new RangeError("boom");
    const { code, stderr } = await say(["Q"], failing(bug));
    expect(code).toBe(1);
    expect(stderr).toStartWith("mg-team: internal error: boom\n");
    expect(stderr).toContain("--verbose");
    expect(stderr).not.toContain("    at ");
    expect((await say(["Q", "--verbose"], failing(bug))).stderr).toContain("RangeError: boom\n");
    expect((await say(["Q"], { ...failing(bug), environment: { MG_TEAM_VERBOSE: "on" } })).stderr).toContain("RangeError: boom\n");
    expect((await say(["Q"], failing("a string"))).code).toBe(1);
    expect((await say(["Q"], failing(undefined))).code).toBe(1);
  });

  test("a long message is wrapped, a command to type is not", async () => {
    const command = `mg-team ${"x".repeat(90)}`;
    const error = new TeamError("config", "word ".repeat(40).trim(), `Please do it: ${command}`);
    const { stderr } = await say(["Q"], failing(error));
    expect(widest(stderr)).toBeLessThanOrEqual(80);
    expect(stderr).toContain(`    ${command}\n`);
  });

  test("nothing that a user passed can act on the terminal", async () => {
    const { stderr } = await say(["Q", "--timeout", "\u001b[31m\u0007"]);
    expect(stderr).not.toContain("\u001b");
    expect(stderr).not.toContain("\u0007");
    expect((await say(["Q"], failing(new TeamError("config", "bad \u001b[2J", "so")))).stderr).not.toContain("\u001b");
  });

  test.each([
    [["Q", "--json", "--timout", "5"], {}, 2, "usage"],
    [["Q", "--timout", "5"], { MG_TEAM_JSON: "1" }, 2, "usage"],
    [["trsut", "--json"], {}, 2, "usage"],
  ])("with --json %p prints the error as an object too", async (argv, environment, code, kind) => {
    const said = await say(argv, { environment: environment as Record<string, string> });
    const { version, error } = JSON.parse(said.stdout);
    expect([said.code, version, error.code]).toEqual([code, 1, kind]);
    expect(Object.keys(error)).toEqual(["code", "message", "hint"]);
    expect(error.message).not.toContain("\n");
    expect(error.hint).not.toBe("");
    expect(said.stderr).toStartWith("mg-team: ");
  });

  test("--json covers errors and bugs of the run, but not what has printed already", async () => {
    const untrusted = await say(["Q", "--json"], failing(new TeamError("untrusted", "m\nn", "h")));
    expect(JSON.parse(untrusted.stdout)).toEqual({ version: 1, error: { code: "untrusted", message: "m n", hint: "h" } });
    expect(JSON.parse((await say(["Q", "--json"], failing(new Error("x")))).stdout).error.code).toBe("bug");
    const late = await say(["Q", "--json"], {
      run({ stdout }) {
        stdout.write("{}\n");
        throw new Error("late");
      },
    });
    expect([late.code, late.stdout]).toEqual([1, "{}\n"]);
    expect((await say(["--", "--json"], failing(new TeamError("config", "m", "h")))).stdout).toBe("");
  });
});

describe("stdout", () => {
  const printing: SayOptions = {
    run({ stdout }) {
      stdout.write("the answer\n");
      return 0;
    },
  };

  test("a reader that went away is no error", async () => {
    const { code, stderr } = await say(["Q"], { ...printing, stdoutFails: "EPIPE" });
    expect([code, stderr]).toEqual([0, ""]);
  });

  test("a full disk is: exit 7, with a way out", async () => {
    const { code, stderr } = await say(["Q"], { ...printing, stdoutFails: "ENOSPC" });
    expect(code).toBe(7);
    expect(stderr).toStartWith("mg-team: the result could not be written: write ENOSPC\n  ");
  });
});

describe("messages", () => {
  const talking: SayOptions = {
    run({ log }) {
      log.info("usual");
      log.warn("strange\u001b[2J");
      log.info("usual");
      return 0;
    },
  };

  test("they go to stderr, each of them, without control characters", async () => {
    const { stdout, stderr } = await say(["Q"], talking);
    expect(stdout).toBe("");
    expect(stderr).toMatch(/^mg-team: usual\nmg-team: warning: strange.*\nmg-team: usual\n$/);
    expect(stderr).not.toContain("\u001b");
  });

  test.each([
    [["--quiet"], {}, false],
    [["-q"], {}, false],
    [[], { MG_TEAM_QUIET: "yes" }, false],
    [["--verbose"], { MG_TEAM_QUIET: "yes" }, true],
    [[], {}, true],
  ])("%p and %p: usual ones are said: %p", async (flags, environment, said) => {
    const { stderr } = await say(["Q", ...flags], { ...talking, environment: environment as Record<string, string> });
    expect(stderr.includes("usual")).toBe(said);
    expect(stderr).toContain("strange");
  });
});

test.each([
  [["trust", "extra"], "takes no arguments"],
  [["completion"], "needs SHELL: bash, zsh or fish"],
  [["plugin"], "needs ACTION: new, list or types"],
  [["plugin", "lst"], "Did you mean: mg-team plugin list"],
  [["completion", "bash", "x"], "takes 1 argument;"],
  [["completion", "tcsh"], 'SHELL must be bash, zsh, or fish, not "tcsh"'],
  [["completion", "constructor"], "SHELL must be"],
])("%p is refused", async (argv, message) => {
  const { code, stdout, stderr } = await say(argv);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toContain(message);
  expect(stderr).toContain(`mg-team ${argv[0]} `);
});

test("a run resolves what was typed from the context alone", async () => {
  const { code, context } = await say(["Q", "with", "codex", "grok", "--timeout", "5m"], {
    async run({ options, environment, cwd, stdin }) {
      const { settings } = await resolveRun(options, environment, cwd, stdin);
      return settings.agents?.length === 2 && settings.limits.timeoutSeconds === 300 ? 0 : 1;
    },
  });
  expect([code, context?.positionals]).toEqual([0, {}]);
});
