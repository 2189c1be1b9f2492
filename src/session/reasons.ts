import { messageOf, systemCodeOf, TeamError } from "../errors.ts";

/** What went wrong with a file, in words for people: "the disk is full" for `ENOSPC`. Unknown codes give the system's own message. */
export function reasonOf(error: unknown): string {
  const code = systemCodeOf(error);
  return reasons[code ?? ""]?.words ?? (messageOf(error) || "unknown error");
}

/** Whether the system keeps it from us, but nothing is broken: somebody else may have made it so. */
export function isDenied(error: unknown): boolean {
  return ["EACCES", "EPERM"].includes(systemCodeOf(error) ?? "");
}

/** What a user can do about it, as one sentence. */
export function hintOf(error: unknown): string {
  return reasons[systemCodeOf(error) ?? ""]?.hint ?? "Check the directory and its disk, then run the same command again.";
}

/**
 * The error for a file of ours that could not be written.
 * @param action what was tried, as in "cannot ACTION PATH: REASON"
 */
export function writeError(action: string, path: string, error: unknown): TeamError {
  if (error instanceof TeamError) return error;
  const code = systemCodeOf(error);
  const reason = reasonOf(error);
  return new TeamError("write", `cannot ${action} ${path}: ${reason}${code ? ` (${code})` : ""}`, hintOf(error), { cause: error });
}

// --- internal ---

const space = "Free some space on that disk, then run the same command again.";
const rights = "Make it writable for your user (chmod, chown), or start mg-team in another directory.";

const reasons: Readonly<Record<string, { readonly words: string; readonly hint: string }>> = {
  ENOSPC: { words: "the disk is full", hint: space },
  EDQUOT: { words: "your disk quota is used up", hint: space },
  EFBIG: {
    words: "the file would be larger than the system allows",
    hint: "Raise the limit (ulimit -f), then run the same command again.",
  },
  EIO: { words: "the disk reports a read or write error", hint: "Check the disk (dmesg shows its errors), or use another one." },
  EROFS: { words: "the disk is mounted read-only", hint: "Start mg-team in a directory that can be written." },
  EACCES: { words: "no permission", hint: rights },
  EPERM: { words: "not permitted", hint: rights },
  ENOENT: { words: "no such file or directory", hint: "Something removed the directory; do not move or delete it during a run." },
  ENOTDIR: { words: "a part of the path is a file, not a directory", hint: "Move that file away, then run the same command again." },
  EISDIR: { words: "a directory is in its place", hint: "Move that directory away, then run the same command again." },
  EEXIST: { words: "something else is in its place", hint: "Move it away, then run the same command again." },
  EMFILE: { words: "too many open files", hint: "Raise the limit (ulimit -n 4096), or use fewer agents at once (--max-parallel)." },
  ENFILE: { words: "the system has too many open files", hint: "Close other programs, then run the same command again." },
  ENAMETOOLONG: { words: "the path is too long", hint: "Start mg-team in a directory with a shorter path." },
  ESTALE: { words: "the network disk lost the file", hint: "Check the network disk, or use a local one." },
  EBUSY: { words: "another program is using it", hint: "Close that program, then run the same command again." },
};
