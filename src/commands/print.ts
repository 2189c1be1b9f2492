import { escapeControls, neutralise } from "../session/text.ts";
import type { Output } from "./io.ts";

/** Writes text that names or words of others stand in: on a terminal nothing in it can act. */
export function writeText(stdout: Output, text: string): void {
  stdout.write(stdout.isTerminal ? neutralise(text) : text);
}

/** Writes a value as JSON and a line feed. On a terminal nothing in it can act: what neither shows nor prints becomes an escape of JSON. */
export function writeJson(stdout: Output, value: unknown, indent = 0): void {
  stdout.write(`${jsonFor(stdout, value, indent)}\n`);
}

/** The same as text, without the line feed. */
export function jsonFor({ isTerminal }: Pick<Output, "isTerminal">, value: unknown, indent = 0): string {
  const json = JSON.stringify(value, null, indent);
  return isTerminal ? escapeControls(json) : json;
}
