import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findDocker, massgenImage } from "../../src/engine/docker.ts";
import { checkDocker } from "../../src/preflight/surroundings.ts";
import { createPlace, type Place } from "./support.ts";

/** A docker CLI: what it does for `info`, `image` and `context`. */
function fakeDocker(place: Place, answers: { info?: string; image?: string; context?: string }): void {
  const { info = "echo 27.1.1", image = "echo sha256:1", context = "echo unix:///var/run/docker.sock" } = answers;
  place.program("bin/docker", `#!/bin/sh\ncase "$1" in info) ${info};; image) ${image};; context) ${context};; esac\n`);
}

describe("docker is", () => {
  test("there when an engine answers", async () => {
    await using place = createPlace();
    fakeDocker(place, {});
    expect(await findDocker({ env: place.env })).toEqual({
      available: true,
      version: "27.1.1",
      reason: "",
      hint: "",
      hasImage: true,
      host: null,
    });
  });

  test("not there without its command", async () => {
    await using place = createPlace();
    expect(await findDocker({ env: { PATH: place.bin } })).toMatchObject({ available: false, reason: "there is no docker command" });
  });

  const refusals: [title: string, info: string, reason: string][] = [
    ["when nobody answers", "echo 'Cannot connect to the Docker daemon' >&2; exit 1", "no engine answers"],
    ["when an old CLI exits 0 without a version", "echo; echo 'Cannot connect' >&2", "no engine answers"],
    ["when the user may not use it", "echo 'permission denied while trying to connect' >&2; exit 1", "permission denied"],
  ];
  for (const [title, info, reason] of refusals) {
    test(`not there ${title}`, async () => {
      await using place = createPlace();
      fakeDocker(place, { info });
      const status = await findDocker({ env: place.env });
      expect(status.available).toBe(false);
      expect(status.reason).toContain(reason);
      expect(status.hint).not.toBe("");
    });
  }

  test("not asked anything more once it hangs, nor waited for when a wrapper stays before it", async () => {
    await using place = createPlace();
    place.program("bin/docker", `#!/bin/sh\necho "$1" >>"${join(place.bin, "calls")}"\nsleep 600\nexit 1\n`);
    expect((await findDocker({ env: place.env, limitSeconds: 0.3 })).reason).toContain("did not answer in time");
    expect(readFileSync(join(place.bin, "calls"), "utf8").split("\n").sort()).toEqual(["", "context", "image", "info"]);
  });

  test("not there when its engine hangs; the limit ends all three questions", async () => {
    await using place = createPlace();
    fakeDocker(place, { info: "exec sleep 600", image: "exec sleep 600", context: "exec sleep 600" });
    expect((await findDocker({ env: place.env, limitSeconds: 0.3 })).reason).toContain("did not answer in time");
  });
});

test("an engine at another address is passed on, unless the user names one", async () => {
  await using place = createPlace();
  fakeDocker(place, { context: "echo unix:///home/me/.colima/docker.sock" });
  expect((await findDocker({ env: place.env })).host).toBe("unix:///home/me/.colima/docker.sock");
  expect((await findDocker({ env: { ...place.env, DOCKER_HOST: "tcp://x:1" } })).host).toBeNull();
});

test("the checks say where the agents' code runs, and when an image must be downloaded first", async () => {
  await using place = createPlace();
  fakeDocker(place, { image: "exit 1" });
  const [engine, image] = checkDocker(await findDocker({ env: place.env }));
  expect(engine).toMatchObject({ status: "ok", message: "engine 27.1.1: the agents' code runs in containers" });
  expect(image).toMatchObject({ status: "warn", hint: `docker pull ${massgenImage}` });
  expect(checkDocker(null)).toMatchObject([{ status: "ok" }]);
  fakeDocker(place, { info: "exit 1" });
  const [without] = checkDocker(await findDocker({ env: place.env }));
  expect(without).toMatchObject({ status: "warn" });
  expect(without?.message).toContain("runs on this machine");
});
