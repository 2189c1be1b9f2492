import { writeFileAtomic } from "../../session/atomic.ts";
import type { TeamDirectory } from "../../session/directory.ts";
import { createMarkdownRenderer } from "./markdown.ts";
import { modelOf } from "./model.ts";
import { type Colophon, renderPage } from "./page.ts";
import { readSource } from "./source.ts";

export interface ReportOptions extends Colophon {
  /** Takes secrets out of everything: a report is shown to others. */
  readonly redact: (text: string) => string;
}

/**
 * Makes the report of a run, finished or not, from its journal, `result.json` and session directory: one HTML file that needs nothing else.
 * @returns the page
 * @throws TeamError `not_found` when mg-team did not start the run
 */
export async function renderReport(directory: TeamDirectory, { redact, ...colophon }: ReportOptions): Promise<string> {
  const model = modelOf(await readSource(directory), redact);
  // Once more over the page, so that no field can be forgotten.
  return redact(renderPage(model, await createMarkdownRenderer(), colophon));
}

/**
 * Writes the report to `report.html` in the team directory.
 * @returns its absolute path
 * @throws TeamError `not_found` as {@link renderReport}; `write`
 */
export async function writeReport(directory: TeamDirectory, options: ReportOptions): Promise<string> {
  await writeFileAtomic(directory.report, await renderReport(directory, options));
  return directory.report;
}
