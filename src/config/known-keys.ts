import { listOf, nearest, quoted } from "../text.ts";
import type { Issue } from "./issues.ts";
import { runOptions } from "./options.ts";
import { keyPlaces } from "./schema.ts";

/** Unknown keys of mg-team.yaml: which key was meant, and where it belongs. */

/** An issue for a key that is not known at `path`. */
export function unknownKey(path: Issue["path"], key: string): Issue {
  const under = String(path[0] ?? "");
  const where = under === "" ? "" : ` under ${under}`;
  return { path: [...path, key], at: "key", message: `unknown key ${quoted(key)}${where}`, hint: hintFor(under, key) };
}

// --- internal ---

/** Words that people use for a key. */
const otherWords: Readonly<Record<string, string>> = {
  agents: "models",
  rounds: "max_rounds",
  budget: "cost_budget",
  criteria: "eval_criteria",
  no_docker: "docker: off",
  no_report: "report: false",
  bell: "notify",
  ballot: "massgen: { ballot_fix: … }",
  time_limit: "timeout",
  timeout_seconds: "timeout",
};

function hintFor(under: string, key: string): string {
  const plain = key
    .replace(/([a-z])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replaceAll("-", "_");
  const here = keyPlaces.find((place) => place.under === under)?.keys ?? [];
  const elsewhere = keyPlaces.filter((place) => place.under !== under);
  if (here.includes(plain)) return `Write ${plain}.`;
  const home = elsewhere.find((place) => place.keys.includes(plain));
  if (home) return belongs(plain, home.under);
  const other = under === "" && Object.hasOwn(otherWords, plain) ? otherWords[plain] : undefined;
  if (other !== undefined) return `Write ${other}.`;
  const meant = nearest(plain, here);
  if (meant !== null) return `Did you mean ${meant}?`;
  const far = elsewhere.map((place) => ({ under: place.under, key: nearest(plain, place.keys) })).find((place) => place.key !== null);
  if (far?.key) return `Did you mean ${far.key}? ${belongs(far.key, far.under)}`;
  const option = plain.replaceAll("_", "-");
  if (Object.hasOwn(runOptions, option)) return `It is for the command line only: --${option}`;
  return `Known keys are ${listOf(here)}.`;
}

function belongs(key: string, under: string): string {
  if (under === "") return `${key} belongs at the top level of the file: write it without indentation.`;
  const examples: Readonly<Record<string, string>> = {
    massgen: `massgen: { ${key}: … }`,
    models: "models: [codex, { model: grok, config: ./my-agent.yaml }]",
    plugins: "plugins: [{ path: ./my-report.ts, options: { … } }]",
    prices: "prices: { MODEL: { input: 3, output: 15 } }",
  };
  return `${key} belongs under ${under}: write ${examples[under] ?? `${under}: { ${key}: … }`}`;
}
