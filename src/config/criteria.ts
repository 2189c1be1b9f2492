import { z } from "zod";
import { messageOf, systemCodeOf, TeamError } from "../errors.ts";
import { isOfShell, readRegularFile } from "../session/regular-file.ts";
import { parseJson } from "./json.ts";

/** One evaluation criterion, as MassGen takes it (massgen.md, "Launching one step"). Fields that we do not know are kept. */
export type Criterion = z.infer<typeof criterionSchema>;

/**
 * Reads and checks the file of `--eval-criteria`: a JSON array of criteria, or an object with `criteria`. MassGen would find most of
 * these faults too, but only when every step has already started. Throws a TeamError `config` that names index and field.
 */
export async function readCriteria(path: string): Promise<readonly Criterion[]> {
  return parseCriteria(await readText(path), path);
}

/** The same for text that has been read. */
export function parseCriteria(text: string, path: string): readonly Criterion[] {
  const json = parseJson(text, path);
  const list = Array.isArray(json) ? json : (json as { criteria?: unknown } | null)?.criteria;
  if (list === undefined) throw wrong(path, ["it must be an array, or an object with `criteria`"]);
  const result = z.array(criterionSchema, "`criteria` must be an array").min(1, "there are no criteria in it").safeParse(list);
  if (result.success) return result.data;
  throw wrong(path, result.error.issues.map(sentence));
}

// --- internal ---

/** Every step reads them: no list of criteria is longer, in bytes. */
const largest = 1024 * 1024;

const example = '[{ "text": "Every claim has a source", "category": "primary" }]';

// "must", "core", "should" and "could" are MassGen's older names of the three.
const categories = ["primary", "standard", "stretch", "must", "core", "should", "could"] as const;

const notString = "must be a string";

const criterionSchema = z
  .looseObject(
    {
      text: z.string(notString).nullish(),
      description: z.string(notString).nullish(),
      name: z.string(notString).nullish(),
      category: z.enum(categories, "must be primary, standard or stretch").optional(),
      anti_patterns: z.array(z.string(notString), "must be an array of strings").nullish(),
      verify_by: z.string(notString).nullish(),
    },
    "must be an object with `text`",
  )
  .refine((criterion) => [criterion.text, criterion.description, criterion.name].some((words) => (words ?? "").trim() !== ""), {
    message: "needs a `text` (or `description`, or `name`) that is not blank",
  });

function sentence(issue: z.core.$ZodIssue): string {
  const [index, ...fields] = issue.path;
  if (index === undefined) return issue.message;
  const field = fields.map((part) => (typeof part === "number" ? `[${part}]` : `, ${String(part)}`)).join("");
  return `criterion ${Number(index) + 1}${field}: ${issue.message}`;
}

function wrong(path: string, sentences: readonly string[]): TeamError {
  const shown = sentences.slice(0, 5);
  const more = sentences.length > shown.length ? `; and ${sentences.length - shown.length} more` : "";
  return new TeamError("config", `${path}: ${shown.join("; ")}${more}`, `Criteria look like this: ${example}`);
}

async function readText(path: string): Promise<string> {
  if (isOfShell(path)) {
    throw new TeamError("config", `the criteria in ${path} can be read only once, and every step reads them`, "Save them in a file first.");
  }
  let bytes: Buffer;
  try {
    bytes = readRegularFile(path, largest);
  } catch (error) {
    const missing = systemCodeOf(error) === "ENOENT";
    const message = missing ? `the criteria file ${path} does not exist` : `the criteria file ${path} cannot be read: ${messageOf(error)}`;
    throw new TeamError("config", message, "Name an existing file with --eval-criteria, or `eval_criteria:` in mg-team.yaml.");
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new TeamError("config", `the criteria file ${path} is not UTF-8`, "Save it as UTF-8.");
  }
}
