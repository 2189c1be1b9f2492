import { z } from "zod";
import { systemCodeOf } from "../errors.ts";
import { fenced, harmless, harmlessName } from "./data.ts";
import { copyFiles, deleteFile, editText, fileLimits, listFiles, readText, type TextPart, writeText } from "./workspace/files.ts";
import { type Places, ToolError } from "./workspace/places.ts";

/** A tool that works on files, as a model sees it and as we run it. */
export interface FileTool {
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodType;
  /** What the model gets back. Throws a ToolError for what the model did wrong. */
  run(input: unknown, reach: Reach): Promise<string>;
}

/** What the tools of a step work on. */
export interface Reach {
  readonly places: Places;
  /** See `drawMark`. */
  readonly mark: string;
}

/** What came of a tool call. */
export interface ToolOutcome {
  readonly text: string;
  readonly failed: boolean;
}

/** Every file tool. To add one, add an entry. There is none that runs anything. */
export const fileTools: readonly FileTool[] = [
  tool(
    "list_files",
    'Lists the files below a directory with their sizes: of your workspace ("."), of another answer ("@agent1"), or of a directory that you were given.',
    { path: z.string().describe('"." for your workspace').optional() },
    async ({ path }, reach) => list(path ?? ".", reach),
  ),
  tool(
    "read_file",
    `Reads a text file, at most ${fileLimits.shown} characters at a time. "@agent1.md" is the whole text of that answer.`,
    {
      path: z.string(),
      offset: z.number().int().min(0).describe("Characters to skip; default 0").optional(),
      length: z.number().int().min(1).describe(`Characters to read; default and most ${fileLimits.shown}`).optional(),
    },
    async ({ path, offset = 0, length = fileLimits.shown }, reach) => read(path, offset, Math.min(length, fileLimits.shown), reach),
  ),
  tool(
    "write_file",
    "Writes a whole text file into your workspace, over an older one, and makes the directories that it needs.",
    { path: z.string().describe("Relative to your workspace"), content: z.string() },
    async ({ path, content }, { places }) => writeText(path, places, content),
  ),
  tool(
    "edit_file",
    "Replaces a text in a file of your workspace. old_text must stand there exactly once, unless replace_all is true.",
    { path: z.string(), old_text: z.string(), new_text: z.string(), replace_all: z.boolean().optional() },
    async ({ path, old_text, new_text, replace_all }, { places }) => editText(path, places, old_text, new_text, replace_all === true),
  ),
  tool(
    "copy_file",
    'Copies a file, or a directory with all that is in it, into your workspace: from "@agent1" to "." takes over all files of that answer.',
    { from: z.string(), to: z.string().describe("Relative to your workspace") },
    ({ from, to }, { places }) => copyFiles(from, to, places),
  ),
  tool(
    "delete_file",
    "Deletes a file or directory of your workspace.",
    { path: z.string().describe("Relative to your workspace") },
    async ({ path }, { places }) => deleteFile(path, places),
  ),
];

/** Runs one call. Never rejects over what the model asked for. */
export async function runFileTool(found: FileTool, input: unknown, reach: Reach): Promise<ToolOutcome> {
  try {
    return { text: await found.run(input, reach), failed: false };
  } catch (error) {
    if (error instanceof ToolError) return { text: `Error: ${error.message}`, failed: true };
    // What the file system refuses is no reason to lose all that was paid for. Its own words name places that say whose they are.
    const code = systemCodeOf(error);
    if (code === undefined) throw error;
    return { text: `Error: the file system refuses it (${code})`, failed: true };
  }
}

/** Reads the input of a call by its schema. Throws a ToolError that says what is wrong. */
export function parseInput<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue?.path.join(".") ?? "";
  throw new ToolError(`the arguments are wrong${where === "" ? "" : ` at ${where}`}: ${issue?.message ?? "not as described"}`);
}

// --- internal ---

function tool<Shape extends z.ZodRawShape>(
  name: string,
  description: string,
  shape: Shape,
  run: (input: z.output<z.ZodObject<Shape>>, reach: Reach) => Promise<string>,
): FileTool {
  const schema = z.object(shape);
  return { name, description, schema, run: async (input, reach) => run(parseInput(schema, input), reach) };
}

function read(path: string, offset: number, length: number, reach: Reach): string {
  const part = answerPart(path, offset, length, reach.places) ?? readText(path, reach.places, offset, length);
  const end = part.from + part.text.length;
  const range = part.from === 0 && end >= part.total ? `${part.total} characters` : `characters ${part.from} to ${end} of ${part.total}`;
  const title = `${part.place.name}, ${range}`;
  // What others wrote is kept apart from what we say; the agent's own words need no fence.
  if (part.place.kind === "own" && !reach.places.foreign.has(part.place.name)) return `${title}:\n${part.text}`;
  const changed = harmless(part.text) === part.text ? "" : "; marks in it are shown broken up, and hidden characters not at all";
  return `${title}${changed}:\n${fenced("file", reach.mark, part.text)}`;
}

async function list(path: string, { places, mark }: Reach): Promise<string> {
  const { place, lines } = await listFiles(path, places);
  if (lines.length === 0) return `${place.name} is empty`;
  if (place.kind === "own" && places.foreign.size === 0) return lines.join("\n");
  return fenced("files", mark, lines.map(harmlessName).join("\n"));
}

/** `@agent1.md`: the answer itself. */
function answerPart(path: string, from: number, length: number, { candidates }: Places): TextPart | null {
  const candidate = candidates.find(({ label }) => path.trim().toLowerCase() === `@${label}.md`);
  if (candidate === undefined) return null;
  const place = { name: `@${candidate.label}.md`, root: "", parts: [], path: "", kind: "peer", writable: false, closed: [] } as const;
  return { place, text: candidate.text.slice(from, from + length).toWellFormed(), from, total: candidate.text.length };
}
