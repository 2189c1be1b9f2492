import { sep } from "node:path";
import { ask } from "./ask.ts";

/** What ties a container to one of our children. */
export interface ContainerOwner {
  /** Cookie or mark: looked for in names, labels and environment. */
  readonly marks: readonly string[];
  /** A container that mounts something inside this directory (absolute) is this child's: MassGen mounts the workspaces of a step. */
  readonly directory: string;
  /** From the command lines of its docker clients; see `containersOfClient`. Somebody else may have had a container of that name before. */
  readonly names?: readonly string[];
  /** When the child was started, in milliseconds since the epoch: what is older is not its own, whatever its name is. */
  readonly startedAt?: number;
}

/**
 * Removes the containers of a child that can be known as its own; others are never touched, whatever they are called. Without docker on
 * PATH, or when it does not answer within 3 s a command, nothing happens.
 * @returns ids of what was removed
 */
export async function removeContainers(owner: ContainerOwner, env: Readonly<Record<string, string>>): Promise<string[]> {
  const docker = Bun.which("docker", { PATH: env.PATH ?? "" });
  if (!docker) return [];
  const ids = (await ask([docker, "ps", "-aq", "--no-trunc"], env, commandSeconds)).split(/\s+/).filter(Boolean);
  if (ids.length === 0) return [];
  const found = parseContainers(await ask([docker, "inspect", ...ids], env, commandSeconds)).filter((one) => belongs(one, owner));
  const doomed = found.map((container) => container.Id);
  if (doomed.length > 0) await ask([docker, "rm", "-f", ...doomed], env, commandSeconds);
  return doomed;
}

// --- internal ---

const commandSeconds = 3;

interface Container {
  readonly Id: string;
  readonly Name?: string;
  /** ISO 8601, with nanoseconds. */
  readonly Created?: string;
  readonly Config?: { readonly Labels?: Readonly<Record<string, string>> | null; readonly Env?: readonly string[] | null };
  readonly Mounts?: readonly { readonly Source?: string }[] | null;
}

function belongs(container: Container, owner: ContainerOwner): boolean {
  const texts = [container.Name, ...Object.values(container.Config?.Labels ?? {}), ...(container.Config?.Env ?? [])];
  const sources = (container.Mounts ?? []).map((mount) => mount.Source ?? "");
  return (
    owner.marks.some((mark) => texts.some((text) => typeof text === "string" && text.includes(mark))) ||
    sources.some((source) => source === owner.directory || source.startsWith(owner.directory + sep)) ||
    (isNamed(container, owner.names ?? []) && isYounger(container, owner.startedAt))
  );
}

function isNamed({ Name: name }: Container, names: readonly string[]): boolean {
  return typeof name === "string" && names.includes(name.replace(/^\//, ""));
}

/** While it still pulls an image, or fails over a taken name, a client has made nothing: what has the name then is the user's. */
function isYounger({ Created: created }: Container, startedAt: number | undefined): boolean {
  return typeof created === "string" && startedAt !== undefined && Date.parse(created) >= startedAt;
}

function parseContainers(text: string): Container[] {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list.filter((one): one is Container => typeof one?.Id === "string" && /^[\w.-]+$/.test(one.Id)) : [];
  } catch {
    return [];
  }
}
