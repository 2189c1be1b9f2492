import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temp.ts";

// Files without an end, and pipes without a writer, where a project or a user has files. A program that reads on is stopped after a while.

setDefaultTimeout(60_000);

const cli = resolve(import.meta.dir, "../../src/cli.ts");
const start = [process.execPath, "--no-env-file", "--config=/dev/null", cli, "--"];

/** Runs a shell line in which "$@" is the program, in at most 20 seconds. */
function shell(line: string, { path }: TemporaryDirectory) {
  const environment = { PATH: process.env.PATH ?? "", HOME: path, OPENAI_API_KEY: "test-key-0123456789", LIMITED: "timeout -k 1 20" };
  const child = Bun.spawnSync(["bash", "-c", line, "bash", ...start], { cwd: path, env: environment, stdin: "ignore" });
  return { code: child.exitCode, stdout: child.stdout.toString(), said: child.stderr.toString().replace(/\s+/g, " ") };
}

const endless: readonly (readonly [what: string, make: (path: string) => unknown])[] = [
  ["a device", (path) => symlinkSync("/dev/zero", path)],
  ["a pipe", (path) => Bun.spawnSync(["mkfifo", path])],
  ["a directory", (path) => mkdirSync(path)],
];

describe.each(endless)("%s is refused as", (_, make) => {
  const place = (temp: TemporaryDirectory, name: string) => {
    mkdirSync(dirname(temp.join(name)), { recursive: true });
    rmSync(temp.join(name), { force: true });
    make(temp.join(name));
  };
  const dry = '$LIMITED "$@" run Q --dry-run --engine native --models openai/gpt-5.4 openai/gpt-5.4';

  test.each([
    ["mg-team.yaml", dry, "mg-team.yaml can't be read"],
    [".massgen-quality/environment.json", '$LIMITED "$@" doctor --engine native', "environment.json cannot be read"],
    ["criteria.json", `${dry} --eval-criteria ./criteria.json`, "criteria.json cannot be read"],
    ["agent.yaml", '$LIMITED "$@" trust', "can't be read: "],
  ])("%s", async (name, line, message) => {
    await using temp = temporaryDirectory();
    if (name === "agent.yaml") temp.write("mg-team.yaml", "models: [codex, { model: grok, config: ./agent.yaml }]\n");
    place(temp, name);
    const { code, stdout, said } = shell(line, temp);
    expect([code, (stdout + said).replace(/\s+/g, " ")]).toEqual([3, expect.stringContaining(message)]);
  });

  test(".env, with a word", async () => {
    await using temp = temporaryDirectory();
    place(temp, ".env");
    const { stdout } = shell('$LIMITED "$@" doctor --engine native', temp);
    expect(stdout).toContain("./.env cannot be read");
  });
});

describe("a query", () => {
  const line = '$LIMITED "$@" run --dry-run --json --engine native --models openai/gpt-5.4 openai/gpt-5.4 --query-file';

  test.each(["/dev/zero", "- < /dev/zero", "<(cat /dev/zero)"])("without an end is refused: %s", async (file) => {
    await using temp = temporaryDirectory();
    expect(shell(`${line} ${file}`, temp)).toMatchObject({ code: 2, said: expect.stringContaining("more than 1 MiB") });
  });

  test.each(["<(sleep 0.2; printf 'Build '; sleep 0.2; printf 'a page')", "- <<< 'Build a page'", "<(printf 'Build a page')"])(
    "may come through a pipe, in parts: %s",
    async (file) => {
      await using temp = temporaryDirectory();
      const { code, stdout } = shell(`${line} ${file}`, temp);
      expect([code, stdout]).toEqual([0, expect.stringContaining("Build a page")]);
    },
  );
});

test("a configuration that a shell makes up is read to its end", async () => {
  await using temp = temporaryDirectory();
  const { code, stdout } = shell(
    "$LIMITED \"$@\" run Q --dry-run --engine native --models openai/gpt-5.4 openai/gpt-5.4 --config <(sleep 0.2; echo 'max_rounds: 3'; echo 'retries: 0')",
    temp,
  );
  expect([code, stdout]).toEqual([0, expect.stringContaining("2 agents × 3 rounds, ")]);
});
