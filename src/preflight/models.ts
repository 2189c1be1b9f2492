import { join } from "node:path";
import { type Keys, keysFor, loginCommand, loginIsHidden, loginOf, placeOf, unusableCodexLogin } from "../config/keys.ts";
import { splitModel } from "../config/models.ts";
import { isFile } from "../config/paths.ts";
import { runsNatively } from "../engine/choose.ts";
import { findOnPath } from "../engine/massgen/command.ts";
import { nativeBackend, nativeKeys } from "../native/backends.ts";
import { listOf } from "../text.ts";
import type { Agent } from "../types.ts";
import { fail, ok, type PreflightCheck, warn } from "./check.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** What there is to get in with. */
export interface Access {
  readonly keys: Keys;
  /** Variables that environment.json claims to be set, where a wrapper brings the keys and we cannot see them. */
  readonly claimed: readonly string[];
  readonly home: string;
  readonly env: Environment;
  readonly platform?: NodeJS.Platform;
  /** Whether mg-team runs the steps of agents that do not say otherwise: then it needs keys, and logins of programs are of no use. */
  readonly teamIsNative?: boolean;
}

/** How one model may get in, or what it lacks. */
export interface WayIn {
  /** `unseen`: nothing was found, but there may be a way that cannot be seen (its own config, a keychain, a server without keys). */
  readonly kind: "key" | "login" | "claimed" | "unseen" | "none";
  /** Where the key comes from, which login; for `none` and `unseen`, what was looked for. */
  readonly detail: string;
}

/** How a model gets in (massgen.md, "Making a config"). */
export function wayIn(agent: Pick<Agent, "backend" | "config" | "engine">, access: Access): WayIn {
  if (runsNatively(agent, access.teamIsNative ?? false)) return nativeWayIn(agent, access);
  const wanted = keysFor(agent.backend);
  const name = wanted.find((variable) => access.keys.variables[variable] !== undefined);
  if (name !== undefined) return { kind: "key", detail: `${name} from ${placeOf(access.keys.variables[name]?.source ?? "")}` };
  const login = loginOf(agent.backend, access.home, access.env);
  if (login !== null) return { kind: "login", detail: `the login in ${login}` };
  const claim = wanted.find((variable) => access.claimed.includes(variable));
  if (claim !== undefined) return { kind: "claimed", detail: `${claim}, as environment.json says` };
  const lacks = needsOf(agent.backend);
  if (agent.config !== undefined) return { kind: "unseen", detail: "whatever its own config says" };
  if (wanted.length === 0) return { kind: "unseen", detail: "no key that mg-team knows of" };
  if (loginIsHidden(agent.backend, access.platform))
    return { kind: "unseen", detail: `${lacks} (a login in the macOS keychain cannot be seen)` };
  return { kind: "none", detail: lacks };
}

/** Whether each model has a way in. One without is a warning, and launched all the same; none with one is a failure. */
export function checkModels(agents: readonly Agent[], access: Access): PreflightCheck[] {
  const ways = agents.map((agent) => ({ agent, way: wayIn(agent, access) }));
  const without = ways.filter(({ way }) => way.kind === "none");
  if (agents.length > 0 && without.length === agents.length) {
    const lacks = [...new Map(without.map(({ agent, way }) => [agent.model, `${agent.model} needs ${way.detail}`])).values()];
    const variables = [...new Set(agents.flatMap(({ backend }) => keysFor(backend).slice(0, 1)))];
    const blank = variables.filter((variable) => access.keys.blank[variable] !== undefined);
    const why =
      blank.length === 0
        ? ""
        : ` (${blank.map((variable) => `${variable} is blank in ${placeOf(access.keys.blank[variable] ?? "")}`).join(", ")})`;
    const hint = `Set ${listOf(variables, "or")}, in your shell (export ${variables[0]}=…) or in ./.env`;
    return [fail("models", `no model of the team has a key: ${lacks.join("; ")}${why}`, hint)];
  }
  return ways.map(({ agent, way }) => {
    const who = `${agent.id} ${agent.model}`;
    if (way.kind !== "none") return ok("models", `${who}: ${way.detail}`);
    return warn("models", `${who} has no key; it is launched all the same`, hintOf(agent, access));
  });
}

/** Whether the model of the synthesis has a way in, where it is none of the team. Without one it will fail, when all else is paid for. */
export function checkSynthesizer(model: string | null, agents: readonly Agent[], access: Access): PreflightCheck[] {
  const found = model === null || agents.some((agent) => agent.model === model) ? null : splitModel(model);
  if (found === null) return [];
  const way = wayIn(found, access);
  if (way.kind !== "none") return [ok("models", `synthesis ${model}: ${way.detail}`)];
  return [
    warn("models", `the synthesizer ${model} has no key; without it the winner's answer is delivered as it is`, hintOf(found, access)),
  ];
}

/** Programs that a model's backend starts on this machine (massgen 0.1.97, `backend/codex.py`, `gemini_cli.py`, `antigravity_cli.py`). */
const programs: Readonly<Record<string, { readonly name: string; readonly install: string }>> = {
  codex: { name: "codex", install: "npm install -g @openai/codex" },
  gemini_cli: { name: "gemini", install: "npm install -g @google/gemini-cli" },
  antigravity_cli: { name: "agy", install: "see its own documentation" },
};

/** Whether the programs of command-line backends are here. With docker they run in the container, which brings its own. */
export function checkPrograms(agents: readonly Agent[], docker: boolean, isHere: (name: string) => boolean): PreflightCheck[] {
  if (docker) return [];
  const backends = [...new Set(agents.map(({ backend }) => backend))];
  return backends.flatMap((backend) => {
    const program = programs[backend];
    if (program === undefined || isHere(program.name)) return [];
    const models = listOf(agents.filter((agent) => agent.backend === backend).map(({ model }) => model));
    return [warn("models", `${models} will fail: its program ${program.name} is not on PATH`, `Install it: ${program.install}`)];
  });
}

/** Whether a backend's program is on PATH, or where MassGen looks besides (its `backend/codex.py`). */
export function isInstalled(name: string, env: Environment, home: string): boolean {
  const besides = [join(home, ".npm-global", "bin"), "/usr/local/bin", join(home, "node_modules", ".bin")];
  return findOnPath(name, env) !== null || besides.some((directory) => isFile(join(directory, name)));
}

// --- internal ---

/** The native engine gets in with a key; a server on this machine, or one that a variable names, may want none. */
function nativeWayIn({ backend, config }: Pick<Agent, "backend" | "config">, { keys, env }: Access): WayIn {
  const wanted = nativeKeys(backend);
  const name = wanted.find((variable) => keys.variables[variable] !== undefined);
  if (name !== undefined) return { kind: "key", detail: `${name} from ${placeOf(keys.variables[name]?.source ?? "")}` };
  const native = nativeBackend(backend);
  if (config !== undefined) return { kind: "unseen", detail: "whatever its own config says" };
  if (native?.local) return { kind: "unseen", detail: "a server on this machine, without a key" };
  const moved = native?.baseUrlVariable;
  if (moved !== undefined && (env[moved] ?? "") !== "") return { kind: "unseen", detail: `the server that ${moved} names` };
  return { kind: "none", detail: listOf(wanted, "or") };
}

function needsOf(backend: string): string {
  const login = loginCommand(backend);
  const wanted = backend === "chatcompletion" ? ["the key of its base_url"] : keysFor(backend);
  return listOf([...wanted, ...(login === null ? [] : [`a login (${login})`])], "or");
}

function hintOf(agent: Pick<Agent, "backend" | "engine">, access: Access): string {
  return runsNatively(agent, access.teamIsNative ?? false) ? `Set ${nativeWayIn(agent, access).detail}` : hintFor(agent, access);
}

function hintFor({ backend }: Pick<Agent, "backend">, { keys, home, env }: Access): string {
  const stray = backend === "codex" ? unusableCodexLogin(home, env) : null;
  if (stray !== null) return `MassGen looks for the codex login in ~/.codex only: mkdir -p ~/.codex && cp ${stray} ~/.codex/auth.json`;
  const blank = keysFor(backend).find((variable) => keys.blank[variable] !== undefined);
  return `${blank === undefined ? "" : `${blank} is blank in ${placeOf(keys.blank[blank] ?? "")}. `}Set ${needsOf(backend)}`;
}
