import { randomBytes } from "node:crypto";
import fs from "node:fs";
import { join } from "node:path";
import { writeError } from "../session/reasons.ts";
import type { AgentId } from "../types.ts";
import type { Usage } from "./usage.ts";

/**
 * What a step keeps in its working directory, at the places and in the form that MassGen uses (massgen.md, "What it leaves"), so that whoever
 * reads costs of the one reads those of the other: `.massgen/massgen_logs/log_…/turn_1/attempt_1/status.json`, rewritten while it runs, and
 * `metrics_summary.json` at its end.
 */
export interface StepRecord {
  /** Absolute. */
  readonly directory: string;
  readonly statusFile: string;
  /** The step's own workspace; absolute, exists, empty. */
  readonly workspace: string;
  /** A request is sent: a step that is killed before its reply was counted has cost more than it says. */
  asking(usage: Usage): void;
  usage(usage: Usage): void;
  finish(usage: Usage): void;
}

/** Makes the directories. Throws a TeamError `write`. */
export function openRecord(cwd: string, agent: AgentId, model: string, now: number): StepRecord {
  const stamp = new Date(now).toISOString().replace(/[-:]/g, "").replace("T", "_").replace(".", "_").replace("Z", "");
  const directory = join(cwd, ".massgen", "massgen_logs", `log_${stamp}_${randomBytes(2).toString("hex")}`);
  const attempt = join(directory, "turn_1", "attempt_1");
  const workspace = join(cwd, ".massgen", "workspaces", `workspace_${randomBytes(4).toString("hex")}`);
  try {
    for (const path of [attempt, workspace]) fs.mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw writeError("make the step's directories in", cwd, error);
  }
  const statusFile = join(attempt, "status.json");
  const write = (name: string, value: unknown) => {
    try {
      // Whole for whoever reads it now; what a power cut leaves of it is no matter.
      const temporary = join(attempt, `.${name}.tmp`);
      fs.writeFileSync(temporary, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
      fs.renameSync(temporary, join(attempt, name));
    } catch {
      // Numbers that are missing are unknown; no reason to lose an answer.
    }
  };
  // MassGen's readers want a number where the price is unknown; ours see whether it was, and what was not counted.
  const more = ({ usd, uncounted }: Usage) => ({
    ...(usd === null ? {} : { priced: true }),
    ...(uncounted > 0 ? { uncounted_replies: uncounted } : {}),
  });
  const status = (usage: Usage, asking: boolean) => ({
    meta: { engine: "mg-team", agent_id: agent, model },
    costs: {
      total_input_tokens: usage.inputTokens,
      total_output_tokens: usage.outputTokens,
      total_estimated_cost: usage.usd ?? 0,
      ...more(usage),
      ...(asking ? { open_request: true } : {}),
    },
  });
  return {
    directory,
    statusFile,
    workspace,
    asking: (usage) => write("status.json", status(usage, true)),
    usage: (usage) => write("status.json", status(usage, false)),
    finish(usage) {
      const { inputTokens, outputTokens, usd, replies } = usage;
      write("status.json", status(usage, false));
      write("metrics_summary.json", {
        meta: { engine: "mg-team", agent_id: agent, model, replies },
        totals: {
          input_tokens: inputTokens,
          output_tokens: outputTokens,
          estimated_cost: usd ?? 0,
          ...more(usage),
        },
      });
    },
  };
}
