import { basename } from "node:path";
import type { Choices } from "./choices.ts";
import type { FileModel } from "./models.ts";
import { absolute, readCommand, readContext } from "./paths.ts";
import type { RuleContext } from "./rules.ts";
import type { FileValues } from "./schema.ts";
import type { PluginRequest } from "./settings.ts";

/** The values of a file as settings: names resolved, paths absolute. What the rules complain about is left out. */
export function normalise(values: FileValues, { path, directory, names }: RuleContext & { readonly path: string }) {
  const command = values.massgen?.command === undefined ? undefined : (readCommand(values.massgen.command, directory) ?? undefined);
  const choices: Partial<Choices> = {
    maxRounds: values.max_rounds,
    timeoutSeconds: values.timeout,
    stepTimeoutSeconds: values.step_timeout,
    costBudget: values.cost_budget,
    retries: values.retries,
    maxParallel: values.max_parallel,
    docker: values.docker,
    context: values.context?.map((path) => readContext(path, directory)),
    criteriaPath: pathOf(values.eval_criteria, directory),
    synthesis: values.synthesis,
    synthesizer: values.synthesizer === undefined ? undefined : names.find(values.synthesizer)?.model,
    prices: values.prices,
    ballotFix: values.massgen?.ballot_fix,
    engine: values.engine,
    massgenCommand: command,
    massgenSource: command === undefined ? undefined : `massgen.command of ${basename(path)}`,
    report: values.report,
    notify: values.notify,
  };
  const models = values.models?.flatMap((entry): FileModel[] => {
    const { model: word, config } = typeof entry === "string" ? { model: entry } : entry;
    const model = names.find(word);
    const path = pathOf(config, directory);
    return model === null ? [] : [path === undefined ? model : { ...model, config: path }];
  });
  const plugins = (values.plugins ?? []).map((entry): PluginRequest => {
    const { path, options } = typeof entry === "string" ? { path: entry } : entry;
    return { path: absolute(path, directory), options, source: "file" };
  });
  return { choices, models: models ?? null, plugins };
}

// --- internal ---

function pathOf(path: string | undefined, directory: string): string | undefined {
  return path === undefined ? undefined : absolute(path, directory);
}
