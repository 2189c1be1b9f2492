import { z } from "zod";
import { messageOf, TeamError } from "../errors.ts";
import { writeFileAtomic } from "../session/atomic.ts";
import type { TeamDirectory } from "../session/directory.ts";
import { readRegularText } from "../session/regular-file.ts";
import type { Agent } from "../types.ts";
import { splitModel } from "./models.ts";
import { largestTeam } from "./selection.ts";
import type { PluginRequest, RunSettings } from "./settings.ts";

/** What `config.json` of a run says: the keys of mission.md first, then everything that a resume needs. */
export interface RunFile {
  readonly settings: RunSettings;
  readonly docker: boolean;
  readonly plugins: readonly PluginRequest[];
  readonly withoutPlugins: readonly string[];
  readonly strict: boolean;
}

/** Writes `config.json`; for its mark see run-mark.ts. It holds no keys: those come from the environment, again on a resume. Throws a TeamError (write). */
export async function writeRunFile(directory: TeamDirectory, file: RunFile, mark: string | null): Promise<void> {
  const { settings } = file;
  const { agents, limits } = settings;
  const content = {
    session_id: directory.id,
    query: settings.query,
    models: agents.map(({ model }) => model),
    agent_mapping: Object.fromEntries(agents.map(({ id, model }) => [id, model])),
    max_rounds: limits.maxRounds,
    timeout_seconds: limits.timeoutSeconds,
    cost_budget: limits.costBudget,
    mg_team: { version: 1, ...file, mark },
  };
  await writeFileAtomic(directory.config, `${JSON.stringify(content, null, 2)}\n`);
}

/** Reads `config.json` of a run that mg-team started. Throws a TeamError (config) when it is none, or damaged. */
export function readRunFile(directory: TeamDirectory): RunFile & { readonly mark: string | null } {
  try {
    return schema.parse(JSON.parse(readRegularText(directory.config))).mg_team;
  } catch (error) {
    const detail = error instanceof z.ZodError ? z.prettifyError(error).replace(/\s*\n\s*/g, " ") : messageOf(error);
    throw new TeamError("config", `${directory.config} cannot be used: ${detail}`, "Only runs that mg-team started can be resumed.", {
      cause: error,
    });
  }
}

// --- internal ---

const limits = z.object({
  maxRounds: z.number().int().min(1),
  timeoutSeconds: z.number().positive(),
  costBudget: z.number().nullable(),
  stepTimeoutSeconds: z.number().positive().nullable(),
  retries: z.number().int().min(0),
  maxParallel: z.number().int().min(1).nullable(),
  allowUnpriced: z.boolean(),
});

const agent = z
  .object({
    // It becomes a part of paths.
    id: z.string().regex(/^agent_[a-z]{1,4}$/, "is no agent id such as agent_a"),
    model: z.string(),
    backend: z.string(),
    modelName: z.string(),
    config: z.string().optional(),
    engine: z.enum(["massgen", "native"]).optional(),
  })
  .refine(isModel, "its model is none such as codex/gpt-5.4, or its backend, modelName and engine are not those of its model");

const schema = z.object({
  mg_team: z.object({
    settings: z.object({
      query: z.string(),
      agents: z
        .array(agent)
        .min(1)
        .max(largestTeam)
        .refine((agents) => new Set(agents.map(({ id }) => id)).size === agents.length, "two agents have one id"),
      limits,
      docker: z.enum(["auto", "off"]),
      context: z.array(z.object({ path: z.string(), permission: z.enum(["read", "write"]) })),
      criteriaPath: z.string().nullable(),
      synthesis: z.enum(["agent", "markdown"]),
      synthesizer: z.string().nullable(),
      prices: z.record(z.string(), z.object({ input: z.number(), output: z.number() })),
      ballotFix: z.enum(["auto", "on", "off"]),
      engine: z.enum(["auto", "massgen", "native"]),
      massgenCommand: z.string().nullable(),
      massgenSource: z.string().nullable(),
      report: z.boolean(),
      projectDir: z.string(),
    }),
    docker: z.boolean(),
    plugins: z.array(z.object({ path: z.string(), options: z.unknown().optional(), source: z.enum(["flag", "file"]) })),
    withoutPlugins: z.array(z.string()),
    strict: z.boolean(),
    mark: z.string().nullable().default(null),
  }),
});

/** Whether an agent's model is one that could be asked for, or one of the demonstration. */
function isModel({ model, backend, modelName, engine }: Omit<Agent, "config">): boolean {
  if (backend === "demo") return model === `demo/${modelName}` && /^[a-z-]+$/.test(modelName) && engine === "native";
  const found = splitModel(model);
  return found !== null && found.backend === backend && found.modelName === modelName && found.engine === engine;
}
