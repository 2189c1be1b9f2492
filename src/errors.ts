/** Exit codes of the program (design.md, "Exit codes"). */
export const ExitCode = {
  ok: 0,
  bug: 1,
  usage: 2,
  preflight: 3,
  plugin: 4,
  noAnswer: 5,
  noConsensus: 6,
  write: 7,
  interrupted: 130,
  terminated: 143,
  hungUp: 129,
} as const;

export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** What kind of expected error it is; becomes `error.code` of `--json`. */
export type ErrorCode = "usage" | "config" | "preflight" | "untrusted" | "plugin" | "write" | "locked" | "not_found";

const exitCodes: Record<ErrorCode, ExitCode> = {
  usage: ExitCode.usage,
  not_found: ExitCode.usage,
  config: ExitCode.preflight,
  preflight: ExitCode.preflight,
  untrusted: ExitCode.preflight,
  plugin: ExitCode.plugin,
  write: ExitCode.write,
  locked: ExitCode.write,
};

/**
 * An error that a user can do something about. The error boundary of `cli.ts` prints `message`, then `hint`
 * (what to type or change next), and exits with `exitCode`; any other error is a bug and exits 1.
 */
export class TeamError extends Error {
  override readonly name = "TeamError";
  readonly exitCode: ExitCode;

  constructor(
    readonly code: ErrorCode,
    message: string,
    /** What to do next, as one sentence or a command; shown on its own line. */
    readonly hint: string = "",
    options?: { readonly cause?: unknown; readonly exitCode?: ExitCode },
  ) {
    super(message, options);
    this.exitCode = options?.exitCode ?? exitCodes[code];
  }
}

/** The message of anything that was thrown, on one line. */
export function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/\s*\n\s*/g, " ").trim();
}

/** The `code` of a system error (`ENOSPC`), or undefined. */
export function systemCodeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : undefined;
}
