import type { ParserOptions, ParserPlugin } from "@babel/parser";
import { type Check, lineAt, oneLine, type Problem } from "./check.ts";

/**
 * Syntax of JavaScript and TypeScript, with JSX, and of the scripts inside HTML pages. By Babel, which only parses: `Bun.Transpiler` would
 * run the macros that a file imports (`with { type: "macro" }`, measured), which is code of the agents.
 */
export const javascriptCheck: Check = {
  name: "javascript",
  applies: ({ extension }) => /^\.([cm]?[jt]s|[jt]sx)$/.test(extension),
  run: ({ name, text }) => problemsOf(text, pluginsFor(name, text)),
};

/** The syntax error of a script, if any. */
export async function problemsOf(text: string, plugins: ParserPlugin[] = ["jsx"]): Promise<readonly Problem[]> {
  const { parse } = await import("@babel/parser");
  try {
    parse(text, { ...options, plugins });
    return [];
  } catch (error) {
    const { pos } = error as { readonly pos?: unknown };
    if (typeof pos !== "number" || !(error instanceof SyntaxError)) throw error;
    return [{ line: lineAt(text, pos), message: oneLine(error.message.replace(/ ?\(\d+:\d+\)/, "")) }];
  }
}

// --- internal ---

// A file may be a module, a script, or a piece that something wraps in a function: what one of them allows is no error.
const options: ParserOptions = {
  sourceType: "unambiguous",
  allowReturnOutsideFunction: true,
  allowAwaitOutsideFunction: true,
  allowNewTargetOutsideFunction: true,
  allowSuperOutsideMethod: true,
  allowUndeclaredExports: true,
  attachComment: false,
};

function pluginsFor(name: string, text: string): ParserPlugin[] {
  if (/\.d\.[cm]?ts$/.test(name)) return [["typescript", { dts: true }], "decorators-legacy"];
  if (/\.[cm]?ts$/.test(name)) return ["typescript", "decorators-legacy"];
  if (name.endsWith(".tsx")) return ["typescript", "jsx", "decorators-legacy"];
  return [...(/@flow\b/.test(text.slice(0, 2000)) ? (["flow"] as const) : []), "jsx", "decorators-legacy"];
}
