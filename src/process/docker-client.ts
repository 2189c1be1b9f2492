import { basename } from "node:path";
import { argumentsOf } from "./processes.ts";

/** Whether a process is a docker client: it gets TERM and time, since it passes TERM on to its container, and KILL would orphan it. */
export function isDockerClient(pid: number): boolean {
  return programAt(argumentsOf(pid)) >= 0;
}

/** The containers that a docker client makes, as it names them on its command line (`--name web`, `--name=web`). */
export function containersOfClient(pid: number): string[] {
  return containersMadeBy(argumentsOf(pid));
}

/**
 * The names that a command line gives to the containers that it makes: only of docker's own `run` and `create`, and only before the image.
 * What stands behind is for the program in the container (`docker exec web migrate --name db` makes nothing).
 */
export function containersMadeBy(words: readonly string[]): string[] {
  const at = programAt(words);
  if (at < 0) return [];
  const docker = readOptions(words.slice(at + 1), isValueless);
  const [first, ...others] = docker.rest;
  const [command, behind] = first === "container" ? [others[0], others.slice(1)] : [first, others];
  if (command !== "run" && command !== "create") return [];
  const { options } = readOptions(behind, (option) => switches.has(option));
  return options.flatMap(({ name, value }) => (name === "--name" && value !== "" ? [value] : []));
}

// --- internal ---

/** Where the name of the program stands: a script of that name comes behind its shell. -1 when it is another program. */
function programAt(words: readonly string[]): number {
  return words.slice(0, 2).findIndex((word) => /^(docker|podman|nerdctl)(\.\w+)?$/.test(basename(word)));
}

interface Option {
  /** `--name`, `-e`. */
  readonly name: string;
  /** Empty for a switch. */
  readonly value: string;
}

/** Takes the options in front of the first word that is none, as docker reads them: `--name=x`, `--name x`, `-it`, `-ex`, `-e x`. */
function readOptions(
  words: readonly string[],
  isSwitch: (option: string) => boolean,
): { readonly options: readonly Option[]; readonly rest: readonly string[] } {
  const options: Option[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    if (word === "--") return { options, rest: words.slice(at + 1) };
    if (!word.startsWith("-") || word === "-") return { options, rest: words.slice(at) };
    const { name, value } = word.startsWith("--") ? longOption(word) : shortOption(word, isSwitch);
    if (value !== null) options.push({ name, value });
    else if (isSwitch(name)) options.push({ name, value: "" });
    else options.push({ name, value: words[++at] ?? "" });
  }
  return { options, rest: [] };
}

/** `value` is null where it stands in the next word, if there is one. */
function longOption(word: string): { readonly name: string; readonly value: string | null } {
  const end = word.indexOf("=");
  return end < 0 ? { name: word, value: null } : { name: word.slice(0, end), value: word.slice(end + 1) };
}

/** Switches may stand together, and the last letter may take what is behind it. */
function shortOption(word: string, isSwitch: (option: string) => boolean): { readonly name: string; readonly value: string | null } {
  const last = word.length - 1;
  const at = [...word].findIndex((letter, index) => index > 0 && !isSwitch(`-${letter}`));
  if (at < 0) return { name: `-${word[last]}`, value: null };
  return { name: `-${word[at]}`, value: at === last ? null : word.slice(at + 1).replace(/^=/, "") };
}

/** Options of docker itself that take no value (`docker --help`); all others take one. */
function isValueless(option: string): boolean {
  return ["--debug", "-D", "--tls", "--tlsverify", "--version", "-v", "--help", "--remote", "-r"].includes(option);
}

/** Options of `docker run` and `docker create` that take no value (their `--help`); all others take one. */
const switches: ReadonlySet<string> = new Set([
  "--detach",
  "-d",
  "--disable-content-trust",
  "--help",
  "--init",
  "--interactive",
  "-i",
  "--no-healthcheck",
  "--oom-kill-disable",
  "--privileged",
  "--publish-all",
  "-P",
  "--quiet",
  "-q",
  "--read-only",
  "--replace",
  "--rm",
  "--sig-proxy",
  "--tty",
  "-t",
  "--use-api-socket",
]);
