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
  const problem = problemIn(() => parse(text, { ...options, plugins: [...plugins, "decorators-legacy", "decoratorAutoAccessors"] }), text);
  if (!problem || !/\bexport\s+(default\s+)?@/.test(text)) return problem ? [problem] : [];
  // Decorators have an old form and a new one, and files of both kinds are fine.
  return problemIn(() => parse(text, { ...options, plugins: [...plugins, "decorators", "decoratorAutoAccessors"] }), text) ? [problem] : [];
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

function problemIn(parse: () => unknown, text: string): Problem | null {
  try {
    parse();
    return null;
  } catch (error) {
    const { pos } = error as { readonly pos?: unknown };
    if (typeof pos !== "number" || !(error instanceof SyntaxError)) throw error;
    return { line: lineAt(text, pos), message: oneLine(error.message.replace(/ ?\(\d+:\d+\)/, "")) };
  }
}

function pluginsFor(name: string, text: string): ParserPlugin[] {
  if (/\.d\.[cm]?ts$/.test(name)) return [["typescript", { dts: true }]];
  if (/\.[cm]?ts$/.test(name)) return ["typescript"];
  if (name.endsWith(".tsx")) return ["typescript", "jsx"];
  return /@flow\b/.test(text.slice(0, 2000)) ? ["flow", "jsx"] : ["jsx"];
}
