import { join } from "node:path";
import { type AgentCost, formatCost, formatDuration, formatMoney, plural } from "mg-team";
import type { FinalAnswerInput } from "./input.ts";
import { link, size, table, words } from "./markup.ts";

/** The files of the deliverable, and where the winner's own are. */
export function filesSection({ files, result, directory, madeBy }: FinalAnswerInput): string {
  const parts = ["## Files"];
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const folder = join(directory, "deliverable");
  if (files.length === 0) parts.push("There are no files: the text above is all.");
  else {
    const lines = files
      .slice(0, listedFiles)
      .map(({ path, bytes: own }) => `- ${link(path, join(folder, path), directory)} (${size(own)})`);
    if (files.length > listedFiles) lines.push(`- and ${plural(files.length - listedFiles, "more file")}`);
    parts.push(`${plural(files.length, "file")}, ${size(bytes)}, in ${link("deliverable/", folder, directory)}:`, lines.join("\n"));
  }
  if (result.synthesis.winner !== null) {
    const what =
      madeBy !== null ? "The winner's answer and files, untouched by the synthesis," : "The winner's answer and files, untouched,";
    parts.push(`${what} are in ${link("winner/", result.synthesis.winner, directory)}.`);
  }
  return parts.join("\n\n");
}

/** What the checks of the files found; empty when nothing was checked. */
export function checksSection({ result, files }: FinalAnswerInput): string {
  const ran = result.plugins.checks !== undefined;
  if (result.checks.length === 0 && (!ran || files.length === 0)) return "";
  if (result.checks.length === 0) return `## Checks\n\nNothing was found in ${plural(files.length, "file")}. The files were read, not run.`;
  const lines = result.checks.slice(0, listedFindings).map(({ file, line, check, message }) => {
    const place = line > 0 ? `, line ${line}` : "";
    return `- ${file === "." ? "all files" : words(file, 200)}${place} (${words(check, 40)}): ${words(message, 300)}`;
  });
  if (result.checks.length > listedFindings)
    lines.push(`- and ${plural(result.checks.length - listedFindings, "more finding")}, in result.json`);
  return [
    "## Checks",
    `${plural(result.checks.length, "finding")}. The files were read, not run, and nothing was repaired.`,
    lines.join("\n"),
  ].join("\n\n");
}

/** Money, tokens and time by agent. What is unknown is never shown as nothing. */
export function costSection({ result, madeBy }: FinalAnswerInput): string {
  const { cost, agents } = result;
  const ids = [...new Set([...agents.map(({ id }) => id), ...Object.keys(cost.by_agent)])];
  const rows = ids.map((id) => {
    const agent = agents.find((each) => each.id === id);
    const spent = cost.by_agent[id];
    const seconds = agent?.steps.reduce((sum, step) => sum + step.seconds, 0);
    return [
      words(id, 60),
      // Steps of a plugin are by nobody of the team either, and by whom is not known here.
      words(agent?.model ?? (id === "synthesizer" ? (madeBy ?? "") : ""), 80),
      agent ? String(agent.steps.length) : "",
      seconds === undefined ? "" : formatDuration(seconds),
      count(spent?.input_tokens ?? 0),
      count(spent?.output_tokens ?? 0),
      agentCost(spent),
    ];
  });
  const total = `Total: ${formatCost(cost)}, in ${formatDuration(result.duration_seconds)}.`;
  return [
    "## Cost",
    table(["Agent", "Model", "Steps", "Time", "Tokens in", "Tokens out", "Cost"], rows, new Set([2, 3, 4, 5, 6])),
    total,
  ].join("\n\n");
}

/** Limits that were reached, and warnings; empty without any. */
export function notesSection({ result }: FinalAnswerInput): string {
  const { limits, warnings } = result;
  const notes: string[] = [];
  if (limits.reached === "max_rounds") notes.push(`The limit of ${plural(limits.max_rounds, "step")} per agent was reached.`);
  if (limits.reached === "timeout") notes.push(`The time limit of ${formatDuration(limits.timeout_seconds)} was reached.`);
  if (limits.reached === "cost_budget")
    notes.push(limits.cost_budget === null ? "The budget was reached." : `The budget of ${formatMoney(limits.cost_budget)} was reached.`);
  // Preflight says so as well where nobody asked for it.
  if (result.engine.name === "native" && !warnings.some((warning) => warning.includes("(native engine)")))
    notes.push("The agents were run by mg-team itself (native engine): they read and write files, but run no code.");
  const listed = [...notes, ...warnings.map((warning) => words(warning, 400))];
  return listed.length === 0 ? "" : `## Notes\n\n${listed.map((note) => `- ${note}`).join("\n")}`;
}

// --- internal ---

const listedFiles = 50;
const listedFindings = 50;

function agentCost(cost: AgentCost | undefined): string {
  if (!cost || cost.known === "none" || cost.usd === null) return "unknown";
  return cost.known === "partial" ? `≥ ${formatMoney(cost.usd)}` : formatMoney(cost.usd);
}

function count(tokens: number): string {
  return tokens.toLocaleString("en-US");
}
