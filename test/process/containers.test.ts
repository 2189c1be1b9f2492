import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { removeContainers } from "../../src/process/containers.ts";
import { childEnvironment } from "../../src/process/environment.ts";
import { untilExists } from "../support/temp.ts";
import { type Ground, livingWith, testGround } from "./support.ts";

setDefaultTimeout(60_000); // a busy machine is no fault

function withDocker(ground: Ground) {
  mkdirSync(ground.join("bin"));
  mkdirSync(ground.join("docker"));
  copyFileSync(join(import.meta.dir, "fake-docker.sh"), ground.join("bin/docker"));
  const env = { ...childEnvironment(), PATH: `${ground.join("bin")}:${process.env.PATH}`, FAKE_DOCKER: ground.join("docker") };
  const containers = () => readdirSync(ground.join("docker")).filter((name) => name.endsWith(".json"));
  const read = (name: string) => (existsSync(ground.join("docker", name)) ? readFileSync(ground.join("docker", name), "utf8") : "");
  const has = (name: string) => untilExists(ground.join("docker", `${name}.json`));
  return { env, containers, read, has };
}

describe("containers of a child (fault 17)", () => {
  test("are removed when the child is stopped: by the name on its client's command line", async () => {
    await using ground = testGround();
    const docker = withDocker(ground);
    const child = ground.sh("docker run --name web image & docker run --name=db image & wait", docker);
    await docker.has("web");
    await docker.has("db");
    await child.stop("limit");
    expect(docker.containers()).toEqual([]);
    expect(docker.read("signals").match(/TERM/g)?.length).toBe(2);
  });

  test("are removed after a kill at once, which no client survives", async () => {
    await using ground = testGround();
    const docker = withDocker(ground);
    const child = ground.sh("docker run --name web image", docker);
    await docker.has("web");
    await child.stop("second Ctrl-C", { now: true });
    expect(docker.containers()).toEqual([]);
    expect(livingWith(ground.cookie)).toEqual([]);
  });

  test("are removed when a client outlives the child in a session of its own; it gets TERM and the time to stop them", async () => {
    await using ground = testGround();
    const docker = withDocker(ground);
    const env = { ...docker.env, FAKE_DOCKER_STOPS: "1" };
    const child = ground.sh("setsid docker run --name web image & while ! [ -e docker/web.json ]; do sleep 0.02; done", { env });
    expect(await child.exited).toMatchObject({ code: 0, stopCause: null });
    expect(docker.read("signals")).toBe("TERM\nstopped\n");
    expect(docker.containers()).toEqual([]);
  });

  test("are known by what they mount of its directory, or by its mark, when no client is left", async () => {
    await using ground = testGround();
    const docker = withDocker(ground);
    const start = (name: string, ...options: string[]) =>
      `setsid -f env -u MG_TEAM_CHILD -u MG_TEAM_COOKIE docker run --name ${name} ${options.join(" ")} image >/dev/null`;
    const logDir = ground.join("logs");
    const script = [
      start("mounted", "-v", `${logDir}/workspace:/w`),
      start("marked", "-e", '"MG_TEAM_CHILD=$MG_TEAM_CHILD"'),
      start("foreign", "-v", "/home:/w"),
      start("neighbour", "-v", `${logDir}2/workspace:/w`),
      "echo ready; sleep 60",
    ].join("\n");
    const child = ground.sh(script, { env: docker.env, logDir });
    await child.saw("ready");
    for (const name of ["mounted", "marked", "foreign", "neighbour"]) await docker.has(name);
    await child.stop("limit");
    expect(docker.containers().sort()).toEqual(["foreign.json", "neighbour.json"]);
    await removeContainers({ marks: [], directory: "/nowhere", names: ["foreign", "neighbour"] }, docker.env); // their clients end
  });

  test("are not asked about after an ordinary end", async () => {
    await using ground = testGround();
    const docker = withDocker(ground);
    await ground.sh("exit 0", docker).exited;
    expect(docker.read("calls")).toBe("");
  });

  test("a docker that fails, answers nonsense, or is missing does no harm", async () => {
    await using ground = testGround();
    const owner = { marks: ["x"], directory: ground.path };
    expect(await removeContainers(owner, { PATH: "/nowhere" })).toEqual([]);
    for (const script of ["exit 1", "echo '{'", 'echo \'[{"Id": 5}, null, {"Id": "--help"}]\'']) {
      const path = ground.write("bin/docker", `#!/bin/sh\n${script}\n`);
      Bun.spawnSync(["chmod", "+x", path]);
      expect(await removeContainers(owner, { PATH: ground.join("bin") })).toEqual([]);
    }
  });
});
