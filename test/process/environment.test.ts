import { expect, setDefaultTimeout, test } from "bun:test";
import { childEnvironment } from "../../src/process/environment.ts";
import { testGround } from "./support.ts";

setDefaultTimeout(60_000); // a busy machine is no fault

test("children lose what would change them behind our back, and keep the rest", () => {
  const env = {
    PATH: "/bin",
    OPENAI_API_KEY: "k",
    BUN_OPTIONS: "--smol",
    BUN_BE_BUN: "1",
    CLAUDECODE: "1",
    NODE_CHANNEL_FD: "3",
    EMPTY: "",
    GONE: undefined,
  };
  expect(childEnvironment(env)).toEqual({ PATH: "/bin", OPENAI_API_KEY: "k", EMPTY: "", PYTHONUNBUFFERED: "1" });
  expect(env.CLAUDECODE).toBe("1");
});

test("names that no shell passes on are left out, whatever the shell", () => {
  expect(childEnvironment({ "ProgramFiles(x86)": "x", "BASH_FUNC_a%%": "() { :; }", "a.b": "1", _: "2", A1: "3" })).toEqual({
    _: "2",
    A1: "3",
    PYTHONUNBUFFERED: "1",
  });
});

test("a child has exactly its environment, PWD, the cookie and its mark", async () => {
  await using ground = testGround();
  const values = { A: "line\nfeed", B: "é $x `y` \"z\" 'w' \\", PWD: "/elsewhere" };
  const child = ground.start(["python3", "-c", "import json, os; print(json.dumps(dict(os.environ)))"], {
    env: { ...values, PATH: process.env.PATH ?? "" },
  });
  await child.exited;
  const seen = JSON.parse(child.lines.stdout.join("")) as Record<string, string>;
  expect(seen).toMatchObject({ A: values.A, B: values.B, PWD: ground.path, MG_TEAM_COOKIE: ground.cookie });
  expect(seen.MG_TEAM_CHILD).toMatch(/^[0-9a-f]{16}$/);
  const known = new Set(["A", "B", "PWD", "PATH", "MG_TEAM_COOKIE", "MG_TEAM_CHILD", "LC_CTYPE", "OLDPWD", "_", "SHLVL"]);
  expect(Object.keys(seen).filter((name) => !known.has(name) && !name.includes("PYENV"))).toEqual([]);
});
