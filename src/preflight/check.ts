import { type ErrorCode, TeamError } from "../errors.ts";

/** One thing that was looked at before the first launch. */
export interface PreflightCheck {
  /** One or two words: `MassGen`, `keys`, `disk`. */
  readonly name: string;
  /** `fail` keeps a run from starting. */
  readonly status: "ok" | "warn" | "fail";
  /** What was found, without any secret. */
  readonly message: string;
  /** What to type or change next; empty where nothing is to be done. */
  readonly hint: string;
  /** Of a `fail`: the kind of error that it becomes. */
  readonly code?: ErrorCode;
}

export function ok(name: string, message: string, hint = ""): PreflightCheck {
  return { name, status: "ok", message, hint };
}

export function warn(name: string, message: string, hint = ""): PreflightCheck {
  return { name, status: "warn", message, hint };
}

export function fail(name: string, message: string, hint: string, code: ErrorCode = "preflight"): PreflightCheck {
  return { name, status: "fail", message, hint, code };
}

/** An expected error as a check; any other is a bug and thrown on. */
export function failOf(name: string, error: unknown): PreflightCheck {
  if (error instanceof TeamError) return fail(name, error.message, error.hint, error.code);
  throw error;
}

/** The warnings among checks, each as one line that ends with what to do. */
export function warningsOf(checks: readonly PreflightCheck[]): string[] {
  return checks.filter(({ status }) => status === "warn").map(({ message, hint }) => (hint === "" ? message : `${message}. ${hint}`));
}

/** The error for all checks that failed, of the kind of the first; null when none did. */
export function errorOf(checks: readonly PreflightCheck[]): TeamError | null {
  const failed = checks.filter(({ status }) => status === "fail");
  const [first, ...others] = failed;
  if (first === undefined) return null;
  if (others.length === 0) return new TeamError(first.code ?? "preflight", first.message, first.hint);
  const lines = failed.map(({ name, message, hint }) => `  ${name}: ${message}${hint === "" ? "" : `\n    ${hint}`}`);
  const message = `${failed.length} things keep the run from starting:\n${lines.join("\n")}`;
  return new TeamError(first.code ?? "preflight", message, "mg-team doctor shows everything that was looked at.");
}
