import { neutralise } from "../session/text.ts";
import { plural } from "../text.ts";
import type { PreflightCheck } from "./check.ts";

/** Checks as aligned lines for people, grouped by name, each hint below its check. `color` is for terminals only. */
export function renderChecks(checks: readonly PreflightCheck[], color: boolean): string {
  const width = Math.max(0, ...checks.map(({ name }) => name.length));
  // Checks of one name stand together, where the first of them stood.
  const names = [...new Set(checks.map(({ name }) => name))];
  const lines = names.flatMap((name) =>
    checks
      .filter((check) => check.name === name)
      .flatMap(({ status, message, hint }, index) => {
        const title = (index === 0 ? name : "").padEnd(width);
        const indent = " ".repeat(width + 8);
        const body = neutralise(message).replaceAll("\n", `\n${indent}`);
        const next = hint === "" ? [] : [`${indent}${paint(`→ ${neutralise(hint).replaceAll("\n", `\n${indent}  `)}`, "dim", color)}`];
        return [`${paint(words[status], status, color)}  ${title}  ${body}`, ...next];
      }),
  );
  return `${lines.join("\n")}\n`;
}

/** `Ready: a run can start (2 warnings).` */
export function renderVerdict(checks: readonly PreflightCheck[], color: boolean): string {
  const count = (status: PreflightCheck["status"]) => checks.filter((check) => check.status === status).length;
  const [warnings, failures] = [count("warn"), count("fail")];
  if (failures > 0) return paint(`Not ready: ${plural(failures, "thing")} to put right first.`, "fail", color);
  return `${paint("Ready: a run can start", "ok", color)}${warnings === 0 ? "" : ` (${plural(warnings, "warning")})`}.`;
}

// --- internal ---

/** Of equal width. */
const words = { ok: "ok  ", warn: "warn", fail: "FAIL" } as const;
const codes = { ok: 32, warn: 33, fail: 31, dim: 2 } as const;

function paint(text: string, style: keyof typeof codes, color: boolean): string {
  return color ? `\u001b[${codes[style]}m${text}\u001b[0m` : text;
}
