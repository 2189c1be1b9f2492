import { basename, sep } from "node:path";
import { argumentsOf } from "./processes.ts";

/** What ties a container to one of our children. */
export interface ContainerOwner {
  /** Cookie or mark: looked for in names, labels and environment. */
  readonly marks: readonly string[];
  /** A container that mounts something inside this directory (absolute) is this child's: MassGen mounts the workspaces of a step. */
  readonly directory: string;
  /** Names or ids from the command lines of its docker clients; see {@link containersOfClient}. */
  readonly names?: readonly string[];
}

/** Whether a process is a docker client: it gets TERM and time, since it passes TERM on to its container, and KILL would orphan it. */
export function isDockerClient(pid: number): boolean {
  return argumentsOf(pid)
    .slice(0, 2)
    .some((word) => /^(docker|podman|nerdctl)(\.\w+)?$/.test(basename(word)));
}

/** The containers that a docker client names on its command line (`--name web`, `--name=web`). */
export function containersOfClient(pid: number): string[] {
  const words = argumentsOf(pid);
  if (!words.includes("run") && !words.includes("create")) return [];
  return words.flatMap((word, at) => (word === "--name" ? (words[at + 1] ?? []) : word.startsWith("--name=") ? word.slice(7) : []));
}

/**
 * Removes the containers of a child that can be known as its own; others are never touched, whatever they are called. Without docker on
 * PATH, or when it does not answer within 3 s a command, nothing happens.
 * @returns names or ids of what was removed
 */
export async function removeContainers(owner: ContainerOwner, env: Readonly<Record<string, string>>): Promise<string[]> {
  const docker = Bun.which("docker", { PATH: env.PATH ?? "" });
  if (!docker) return [];
  const ids = (await output([docker, "ps", "-aq", "--no-trunc"], env)).split(/\s+/).filter(Boolean);
  const found = ids.length > 0 ? parseContainers(await output([docker, "inspect", ...ids], env)).filter((one) => belongs(one, owner)) : [];
  const doomed = [...new Set([...(owner.names ?? []), ...found.map((container) => container.Id)])];
  if (doomed.length > 0) await output([docker, "rm", "-f", ...doomed], env);
  return doomed;
}

// --- internal ---

const commandSeconds = 3;

interface Container {
  readonly Id: string;
  readonly Name?: string;
  readonly Config?: { readonly Labels?: Readonly<Record<string, string>> | null; readonly Env?: readonly string[] | null };
  readonly Mounts?: readonly { readonly Source?: string }[] | null;
}

function belongs(container: Container, owner: ContainerOwner): boolean {
  const texts = [container.Name, ...Object.values(container.Config?.Labels ?? {}), ...(container.Config?.Env ?? [])];
  const sources = (container.Mounts ?? []).map((mount) => mount.Source ?? "");
  return (
    owner.marks.some((mark) => texts.some((text) => typeof text === "string" && text.includes(mark))) ||
    sources.some((source) => source === owner.directory || source.startsWith(owner.directory + sep))
  );
}

function parseContainers(text: string): Container[] {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list.filter((one): one is Container => typeof one?.Id === "string" && /^[\w.-]+$/.test(one.Id)) : [];
  } catch {
    return [];
  }
}

async function output(argv: string[], env: Readonly<Record<string, string>>): Promise<string> {
  try {
    const client = Bun.spawn(argv, { stdin: "ignore", stdout: "pipe", stderr: "ignore", env: { ...env } });
    const timer = setTimeout(() => client.kill("SIGKILL"), commandSeconds * 1000);
    const text = await new Response(client.stdout).text();
    await client.exited;
    clearTimeout(timer);
    return text;
  } catch {
    return "";
  }
}
