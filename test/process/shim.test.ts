import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { closeSync, openSync, readFileSync } from "node:fs";
import { readExitRecord } from "../../src/process/exit.ts";
import { shimCommand, shimName } from "../../src/process/shim.ts";
import { type TemporaryDirectory, temporaryDirectory, untilExists, untilGone } from "../support/temp.ts";
import { shells } from "./shells.ts";

setDefaultTimeout(60_000); // a busy machine is no fault

function startShim(temp: TemporaryDirectory, shell: readonly string[], argv: readonly string[]) {
  const [out, err] = [openSync(temp.join("stdout.log"), "a"), openSync(temp.join("stderr.log"), "a")];
  const program = Bun.which(argv[0] ?? "") ?? argv[0] ?? "";
  const id = randomBytes(8).toString("hex");
  const startedAt = new Date().toISOString();
  const shim = Bun.spawn(shimCommand({ directory: temp.path, id, startedAt, program, argv, shell }), {
    cwd: temp.path,
    env: { PATH: process.env.PATH },
    stdio: ["ignore", out, err, "pipe"],
    detached: true,
  });
  const control = shim.stdio[3] as number;
  closeSync(out);
  closeSync(err);
  return {
    id,
    pid: shim.pid,
    exited: shim.exited,
    letGo: () => closeSync(control),
    read: (name: string) => readFileSync(temp.join(name), "utf8"),
  };
}

test("there is a shell to test, dash or what stands for it", () => expect(shells.length).toBeGreaterThan(0));

for (const { name, command } of shells) {
  describe(`the shim in ${name}`, () => {
    const ends: [script: string, code: number | null, signal: string | null][] = [
      ["exit 0", 0, null],
      ["exit 7", 7, null],
      ["exit 255", 255, null],
      ["kill -KILL $$", null, "SIGKILL"],
      ["kill -TERM $$", null, "SIGTERM"],
      ["kill -INT $$", null, "SIGINT"],
    ];
    for (const [script, code, signal] of ends) {
      test(`keeps the end of "${script}", and prints nothing of its own`, async () => {
        await using temp = temporaryDirectory("run");
        const shim = startShim(temp, command, ["sh", "-c", script]);
        await shim.exited;
        shim.letGo();
        expect(readExitRecord(temp.path)).toMatchObject({ code, signal });
        expect(shim.read("stdout.log") + shim.read("stderr.log")).toBe("");
        await untilGone([shim.pid]);
      });
    }

    test("passes arguments on byte by byte", async () => {
      await using temp = temporaryDirectory("run");
      const all = Array.from({ length: 0x7ff }, (_, at) => String.fromCodePoint(at + 1)).join("");
      const words = ["-n", "", "a\nb\n", "$(id) `id` \\ \" '", all];
      const shim = startShim(temp, command, ["python3", "-c", "import json, sys; print(json.dumps(sys.argv[1:]))", ...words]);
      await shim.exited;
      shim.letGo();
      expect(JSON.parse(shim.read("stdout.log"))).toEqual(words);
    });

    test("names itself when the program cannot be run", async () => {
      await using temp = temporaryDirectory("run");
      const shim = startShim(temp, command, ["/no/such/program"]);
      expect(await shim.exited).toBe(127);
      shim.letGo();
      expect(shim.read("stderr.log")).toStartWith(`${shimName(shim.id)}: `);
    });

    test("ends the child when the control pipe ends, and keeps its end", async () => {
      await using temp = temporaryDirectory("run");
      const shim = startShim(temp, command, ["sh", "-c", "trap 'echo term; exit 6' TERM; echo >ready; while :; do sleep 0.05; done"]);
      await untilExists(temp.join("ready"));
      shim.letGo();
      await shim.exited;
      expect(shim.read("stdout.log")).toBe("term\n");
      expect(readExitRecord(temp.path)).toMatchObject({ code: 6, signal: null });
    });
  });
}
