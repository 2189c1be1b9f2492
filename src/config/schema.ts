import { z } from "zod";
import { choice, duration, money, onOrOff, type Reader, someText, wholeNumber } from "./values.ts";

const modelEntry = "a model, or { model: grok, config: ./my-agent.yaml }";
const pluginEntry = "the path of a file, or { path: ./my-report.ts, options: { … } }";

/**
 * The keys of mg-team.yaml (design.md, "Configuration") and what each may hold. A message of this schema is what to read after "must be".
 * To add a setting: a key here, a line in normalise.ts, and its default in choices.ts.
 */
export const fileSchema = {
  models: z
    .array(
      z.union(
        [z.string("a model"), z.strictObject({ model: z.string("a model"), config: text("the path of a file").optional() }, modelEntry)],
        {
          error: modelEntry,
        },
      ),
      "a list of models: [codex, gemini]",
    )
    .min(1, "a list of two or more models, for example [codex, gemini]; leave the key out to let mg-team choose"),
  aliases: z.record(z.string(), z.string("a model, for example codex/gpt-5.5"), "a map of names, for example { codex: codex/gpt-5.5 }"),
  max_rounds: value(wholeNumber(1), "a whole number, 1 or more, for example 5"),
  timeout: value(duration, "a time above 0, for example 1800, 30m or 2h"),
  step_timeout: value(duration, "a time above 0, for example 600, 10m or 1h"),
  cost_budget: value(money, "an amount of US dollars above 0, for example 2.50"),
  retries: value(wholeNumber(0), "a whole number, 0 or more, for example 1"),
  max_parallel: value(wholeNumber(1), "a whole number, 1 or more, for example 3"),
  docker: value(choice(["auto", "off"]), "auto or off"),
  context: z.array(text("a path, for example ./docs"), "a list of paths: [./docs, ./src:rw]"),
  eval_criteria: text("the path of a JSON file"),
  synthesis: value(choice(["agent", "markdown"]), "agent or markdown"),
  synthesizer: text("a model, for example claude"),
  prices: z.record(
    z.string(),
    z.strictObject({ input: price(), output: price() }, "a map: { input: 3, output: 15 }, in US dollars per million tokens"),
    "a map of models: { grok-4.20: { input: 3, output: 15 } }",
  ),
  massgen: z.strictObject(
    {
      command: text("a command that starts MassGen").optional(),
      ballot_fix: value(choice(["auto", "on", "off"]), "auto, on or off").optional(),
    },
    "a map: { command: massgen, ballot_fix: auto }",
  ),
  engine: value(choice(["auto", "massgen", "native"]), "auto, massgen or native"),
  report: value(onOrOff, "true or false"),
  notify: value(onOrOff, "true or false"),
  plugins: z.array(
    z.union(
      [text("the path of a file"), z.strictObject({ path: text("the path of a file"), options: z.unknown().optional() }, pluginEntry)],
      {
        error: pluginEntry,
      },
    ),
    "a list of files: [./plugins/my-report.ts]",
  ),
} as const;

export type FileKey = keyof typeof fileSchema;

/** What mg-team.yaml says, key by key; keys that are absent or wrong are missing. Paths and names are as written. */
export type FileValues = { readonly [Key in FileKey]?: z.output<(typeof fileSchema)[Key]> };

/** Where keys may stand; "" is the top level. What an unknown key is compared with. */
export const keyPlaces: readonly { readonly under: string; readonly keys: readonly string[] }[] = [
  { under: "", keys: Object.keys(fileSchema) },
  { under: "massgen", keys: Object.keys(fileSchema.massgen.shape) },
  { under: "models", keys: ["model", "config"] },
  { under: "plugins", keys: ["path", "options"] },
  { under: "prices", keys: ["input", "output"] },
];

// --- internal ---

function text(allowed: string) {
  return z.string(allowed).refine((given) => someText(given) !== undefined, allowed);
}

function price() {
  const allowed = "a number, 0 or more, in US dollars per million tokens";
  return z.number(allowed).min(0, allowed);
}

/** A scalar, read as the options read theirs, so that `timeout: 30m` and `--timeout 30m` can't differ. */
function value<Value>(reader: Reader<Value>, allowed: string) {
  return z.unknown().transform((given, context): Value => {
    const read = ["string", "number", "boolean"].includes(typeof given) ? reader(String(given)) : undefined;
    if (read !== undefined) return read;
    context.issues.push({ code: "custom", message: allowed, input: given });
    return z.NEVER;
  });
}
