import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type CurrentAnswer, copyDeliverable, listFiles, listOf, plural, type SynthesisDocument } from "mg-team";

/**
 * Puts the synthesised files in place of the winner's. Throws a TeamError when they cannot be written.
 * @returns what they lost against those, as warnings
 */
export async function replaceDeliverable(
  { result, directory }: SynthesisDocument,
  winner: CurrentAnswer,
  workspace: string | null,
): Promise<readonly string[]> {
  const target = join(directory, "deliverable");
  const before = winner.workspace ? await listFiles(target) : [];
  const found = workspace ? await listFiles(workspace) : [];
  if (!workspace || found.length === 0) {
    return before.length > 0 ? ["the synthesis left no files, so deliverable/ holds the winner's"] : [];
  }
  const hadText = new Set(before.filter((file) => hasText(target, file)).map(({ path }) => path));
  const { files, leftOut } = await copyDeliverable(workspace, target);
  result.synthesis = { ...result.synthesis, deliverable: files.length > 0 ? target : null };
  const after = new Set(files.map(({ path }) => path));
  const gone = before.filter(({ path }) => !after.has(path)).map(({ path }) => path);
  const emptied = files.filter((file) => hadText.has(file.path) && !hasText(target, file)).map(({ path }) => path);
  return [
    ...(gone.length > 0 ? [`the synthesis left out files of the winner: ${some(gone)}; they are in winner/`] : []),
    ...(emptied.length > 0 ? [`the synthesis emptied files of the winner: ${some(emptied)}; they are whole in winner/`] : []),
    ...leftOut.filter(({ why }) => why !== "internal").map(({ path, why }) => `${path} is not in the deliverable: ${why}`),
  ];
}

/** How many files a warning names. */
const named = 20;

function some(paths: readonly string[]): string {
  return listOf(paths.length > named ? [...paths.slice(0, named), plural(paths.length - named, "more file")] : paths);
}

/** Whether there is more in a file than blanks. Larger files are not read. */
function hasText(directory: string, { path, bytes }: { readonly path: string; readonly bytes: number }): boolean {
  if (bytes > 4096) return true;
  try {
    return bytes > 0 && readFileSync(join(directory, path), "latin1").trim() !== "";
  } catch {
    return bytes > 0;
  }
}
