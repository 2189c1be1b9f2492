import type { Clock } from "../clock.ts";
import { capture } from "./capture.ts";

/** Whether agents' code can run in docker. */
export interface DockerStatus {
  /** An engine answered. */
  readonly available: boolean;
  /** Version of the engine; empty when none answered. */
  readonly version: string;
  /** Why it is not available, in a few words; empty when it is. */
  readonly reason: string;
  /** What to type so that it becomes available; empty when it is. */
  readonly hint: string;
  /** Whether the image that MassGen runs agents' code in is here; it pulls it otherwise (`cli/quickstart.py`). */
  readonly hasImage: boolean;
  /**
   * The engine's address when the docker CLI uses another than the usual one (a context: rootless, colima, …); MassGen's Python client
   * knows DOCKER_HOST only (`filesystem_manager/_docker_manager.py`). Null otherwise.
   */
  readonly host: string | null;
}

/** The image that MassGen's quickstart writes into a step config (massgen 0.1.97). */
export const massgenImage = "ghcr.io/massgen/mcp-runtime-sudo:latest";

/** Seconds for one question to the engine; its socket may exist while nobody answers. */
export const dockerLimitSeconds = 10;

/** Asks for a docker engine with the docker CLI. Never throws, never takes much longer than `limitSeconds`. */
export async function findDocker(options: {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock?: Clock;
  readonly limitSeconds?: number;
}): Promise<DockerStatus> {
  const ask = (...words: string[]) =>
    capture(["docker", ...words], { ...options, limitSeconds: options.limitSeconds ?? dockerLimitSeconds, makesContainers: false });
  const [info, image, context] = await Promise.all([
    ask("info", "--format", "{{.ServerVersion}}"),
    ask("image", "inspect", "--format", "{{.Id}}", massgenImage),
    ask("context", "inspect", "--format", "{{.Endpoints.docker.Host}}"),
  ]);
  const version = info.stdout.trim().split("\n").at(-1)?.trim() ?? "";
  const none = { available: false, version: "", hasImage: false, host: null };
  if (info.exit.spawnError !== null)
    return { ...none, reason: "there is no docker command", hint: "Install docker, or accept that: --no-docker" };
  if (info.timedOut) return { ...none, reason: "the engine did not answer in time", hint: "Restart docker, or accept that: --no-docker" };
  // An old CLI exits 0 with an empty version when nobody answers.
  if (info.exit.code !== 0 || version === "") return { ...none, ...refusal(info.stderr) };
  const host = context.exit.code === 0 && !options.env.DOCKER_HOST ? unusual(context.stdout.trim()) : null;
  return { available: true, version, reason: "", hint: "", hasImage: image.exit.code === 0, host };
}

// --- internal ---

function refusal(stderr: string): { reason: string; hint: string } {
  if (/permission denied/i.test(stderr)) {
    return {
      reason: "you may not use its engine (permission denied)",
      hint: 'Add yourself to its group: sudo usermod -aG docker "$USER", then log in again',
    };
  }
  return { reason: "no engine answers", hint: "Start it (sudo systemctl start docker, or Docker Desktop), or accept that: --no-docker" };
}

function unusual(host: string): string | null {
  return /^[a-z]+:\/\/\S+$/.test(host) && host !== "unix:///var/run/docker.sock" ? host : null;
}
