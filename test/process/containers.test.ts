import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { removeContainers } from "../../src/process/containers.ts";
import { containersMadeBy } from "../../src/process/docker-client.ts";
import { childEnvironment } from "../../src/process/environment.ts";
import { argumentsOf, listProcesses } from "../../src/process/processes.ts";
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

/** A container of the user's. */
function older(name: string, created = new Date(Date.now() - 3_600_000)): string {
  return JSON.stringify({ Id: name, Name: `/${name}`, Created: created.toISOString(), Mounts: [{ Source: "/home/user/site" }] });
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
    await removeContainers({ marks: [], directory: "/nowhere", names: ["foreign", "neighbour"], startedAt: 0 }, docker.env); // their clients end
  });

  test("are not those that had its name before it: of a client that still pulls, or that fails over the name", async () => {
    await using ground = testGround();
    const docker = withDocker(ground);
    ground.write("docker/web.json", older("web"));
    const child = ground.sh("docker run --name web image & wait", { env: { ...docker.env, FAKE_DOCKER_PULLS: "1" } });
    await child.saw("pulling");
    await child.stop("limit");
    expect(docker.containers()).toEqual(["web.json"]);
  });

  test("are not those that a program inside of a container has a name for", async () => {
    await using ground = testGround();
    const docker = withDocker(ground);
    const child = ground.sh("docker exec web migrate --name db & wait", docker);
    await child.saw("inside");
    ground.write("docker/db.json", older("db", new Date(Date.now() + 3_600_000)));
    await child.stop("limit");
    expect(docker.containers()).toEqual(["db.json"]);
  });

  test("are not asked about after an ordinary end", async () => {
    await using ground = testGround();
    const docker = withDocker(ground);
    await ground.sh("exit 0", docker).exited;
    expect(docker.read("calls")).toBe("");
  });

  test("a docker whose engine does not answer holds nobody up and leaves nothing behind, also through a wrapper that stays", async () => {
    await using ground = testGround();
    const seconds = 7000 + Math.floor(Math.random() * 1000); // names the process
    for (const script of [`sleep ${seconds}\nexit 1`, `sleep ${seconds} & exit 0`, `setsid sleep ${seconds}; exit 1`]) {
      const path = ground.write("bin/docker", `#!/bin/sh\n${script}\n`);
      chmodSync(path, 0o755);
      const env = { ...childEnvironment(), PATH: `${ground.join("bin")}:${process.env.PATH}` };
      // Without the limit this would last for two hours.
      expect(await removeContainers({ marks: ["x"], directory: ground.path }, env)).toEqual([]);
      expect(listProcesses().filter(({ pid }) => argumentsOf(pid).includes(String(seconds)))).toEqual([]);
    }
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

test("names on a command line are containers only where docker itself reads them", () => {
  const made = (line: string) => containersMadeBy(line.split(" "));
  expect(made("docker run --name web image")).toEqual(["web"]);
  expect(made("/usr/bin/podman container create -it --rm --name=web -e A=B image --name db")).toEqual(["web"]);
  expect(made("/bin/sh /home/me/bin/docker --context remote -l debug --tls run -itv /a:/b --network host --name web image")).toEqual([
    "web",
  ]);
  expect(made("docker run -dp80:80 --read-only=true --name web --name db")).toEqual(["web", "db"]);
  const nothing = [
    "docker exec web npm run migrate -- --name db",
    "docker exec web docker run --name db image",
    "docker run image --name db",
    "docker run -e --name image db",
    "docker run -it -- image --name db",
    "docker network create --name db",
    "docker compose run --name db web",
    "docker --context run ps --name db",
    "docker",
    "docker run --name",
    "npm run --name db",
  ];
  for (const line of nothing) expect([line, made(line)]).toEqual([line, []]);
});
