import { readFileSync, statSync } from "node:fs";
import { LineCounter, type ParsedNode, parseDocument, visit } from "yaml";
import { messageOf, TeamError } from "../../errors.ts";
import { reasonOf } from "../../session/reasons.ts";
import { onlyAgent } from "./adjust.ts";
import { type ConfigMap, isMap, yamlOptions } from "./config-map.ts";

/** A user's own config of an agent. */
export interface UserConfig {
  readonly config: ConfigMap;
  /** `backend/model` as it says itself; null where it leaves one out. */
  readonly model: string | null;
}

/** Longest config that is read, in bytes. */
export const longestConfig = 1048576;

/**
 * Reads and checks a user's own MassGen config: YAML or JSON, exactly one agent with a backend, no secret in it (the config is copied
 * into the team directory). What else is in it is MassGen's business.
 * @param redact changes a text that has a secret in it
 * @throws TeamError `config` with path and line, and what to change
 */
export function readUserConfig(path: string, redact: (text: string) => string): UserConfig {
  const lines = new LineCounter();
  const document = parseDocument<ParsedNode>(readText(path), { ...yamlOptions, lineCounter: lines, prettyErrors: false });
  const fail = (node: unknown, problem: string, hint: string): never => {
    const offset = (node as { readonly range?: readonly number[] } | null | undefined)?.range?.[0];
    throw new TeamError("config", `${path}${offset === undefined ? "" : `:${lines.linePos(offset).line}`} ${problem}`, hint);
  };

  const [error] = document.errors;
  if (error)
    fail({ range: error.pos }, `is not valid YAML: ${error.message.split("\n", 1)[0]}`, "Correct that line; indent with spaces, not tabs.");
  visit(document, {
    Scalar(_, node) {
      const { value } = node;
      if (typeof value !== "string" || redact(value) === value) return;
      fail(node, "holds a secret, which must not be copied", `Put it into the environment or into .env, and write "\${ITS_NAME}" here.`);
    },
  });

  let config: unknown;
  try {
    config = document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    fail(null, `cannot be read: ${messageOf(error)}`, "Write it with fewer aliases.");
  }
  if (!isMap(config)) return fail(document.contents, "holds no config", 'It needs "agents:" with one agent; see: massgen --list-examples');
  const agent = onlyAgent(config);
  const where = document.getIn([config.agents === undefined ? "agent" : "agents"], true) ?? document.contents;
  if (agent === null) {
    const count = Array.isArray(config.agents) ? config.agents.length : 0;
    const found = config.agents === undefined && config.agent === undefined ? "defines no agent" : `defines ${count} agents`;
    fail(where, `${found}; a step runs exactly one`, 'Leave one entry below "agents:"; mg-team makes the team out of several such files.');
  }
  const backend = agent?.backend;
  if (!isMap(backend) || typeof backend.type !== "string" || backend.type === "") {
    return fail(where, "gives its agent no backend", 'Add "backend:" with "type:" and "model:", for example type: openai, model: gpt-5.4');
  }
  return { config, model: typeof backend.model === "string" ? `${backend.type}/${backend.model}` : null };
}

// --- internal ---

function readText(path: string): string {
  try {
    const facts = statSync(path);
    if (!facts.isFile()) throw new Error("it is no regular file");
    if (facts.size > longestConfig) throw new Error("it is larger than 1 MiB");
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    const reason = error instanceof TypeError ? "it is not UTF-8" : reasonOf(error);
    throw new TeamError("config", `cannot read the agent config ${path}: ${reason}`, 'Correct "config:" of that model in mg-team.yaml.');
  }
}
