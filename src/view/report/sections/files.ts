import type { CheckFinding } from "../../../session/result.ts";
import { plural } from "../../../text.ts";
import { html } from "../html.ts";
import type { ReportModel } from "../model.ts";
import { dataTable, fileLink, type Section } from "../parts.ts";
import { countWords, sizeWords } from "../words.ts";

/** What the run delivers beside the text; null without files. */
export function filesSection({ files, result }: ReportModel): Section | null {
  const { winner } = result.synthesis;
  if (files.length === 0) return null;
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const rows = files.slice(0, listed).map(({ path, bytes: own }) => [fileLink(`synthesis/deliverable/${path}`, path), sizeWords(own)]);
  const body = html`<p>${plural(files.length, "file")}, ${sizeWords(bytes)} in all. The agents have made them: look at them before you run them.</p>
${dataTable("Files", [{ title: "File" }, { title: "Size", right: true }], rows)}
${files.length > listed && html`<p>And ${countWords(files.length - listed)} more, in ${fileLink("synthesis/deliverable")}.</p>`}
${winner !== null && html`<p class="dim">The files and the answer of the chosen agent, untouched: ${fileLink("synthesis/winner")}</p>`}`;
  return { id: "files", title: "Files", body };
}

/** What was found in the files; null when nothing was looked for. */
export function checksSection({ result, files }: ReportModel): Section | null {
  const { checks, plugins } = result;
  if (checks.length === 0 && (plugins.checks === undefined || files.length === 0)) return null;
  const read = "The files were read, not run, and nothing was repaired.";
  const body =
    checks.length === 0
      ? html`<p>Nothing was found. ${read}</p>`
      : html`<p>${plural(checks.length, "finding")}. ${read}</p>${dataTable("Findings", findingColumns, checks.slice(0, listed).map(findingRow))}
${checks.length > listed && html`<p>And ${countWords(checks.length - listed)} more, in ${fileLink("result.json")}.</p>`}`;
  return { id: "checks", title: "Checks", body };
}

// --- internal ---

const listed = 200;

const findingColumns = [{ title: "File" }, { title: "Line", right: true }, { title: "Check" }, { title: "Finding" }];

function findingRow({ file, line, check, message }: CheckFinding) {
  return [file === "." ? "all files" : fileLink(`synthesis/deliverable/${file}`, file), line > 0 ? line : "–", check, message];
}
