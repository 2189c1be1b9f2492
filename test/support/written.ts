import { readFileSync } from "node:fs";

/** A system call that changes something in a file system, as strace shows it. */
export interface Change {
  /** A process of the fake MassGen, or of anything that it started. */
  readonly theirs: boolean;
  readonly line: string;
}

const changing =
  "creat,mkdir,mkdirat,rename,renameat,renameat2,unlink,unlinkat,rmdir,chmod,fchmodat,fchmodat2,chown,lchown,fchownat,utimensat,link,linkat,symlink,symlinkat,truncate,mknod,mknodat,setxattr,lsetxattr".split(
    ",",
  );

/** A wrapper for `startCli`: writes every change that mg-team and its children make to a file. */
export function traced(traceFile: string): string[] {
  const calls = [...changing, "open", "openat", "openat2", "clone", "clone3", "fork", "vfork", "execve"];
  return [
    "strace",
    "-f",
    "-qq",
    "-y",
    "-s",
    "4096",
    "-e",
    `trace=${calls.map((call) => `?${call}`).join(",")}`,
    "-e",
    "signal=none",
    "-o",
    traceFile,
  ];
}

/** The changes below a directory whose path ends in `tail`, in order. */
export function changesBelow(traceFile: string, tail: string, fake: string): Change[] {
  const lines = readFileSync(traceFile, "utf8").split("\n").map(parseLine);
  const parents = new Map<number, number>();
  const adopted = new Map<number, number>();
  for (const [index, { task, text }] of lines.entries()) {
    const child = /^(?:<\.\.\. )?(?:clone3?|v?fork)\b.*= (\d+)$/.exec(text)?.[1];
    if (child !== undefined) parents.set(Number(child), task);
    if (text.startsWith("execve(") && text.includes(`"${fake}"`) && !adopted.has(task)) adopted.set(task, index);
  }
  const isTheirs = (task: number, at: number): boolean => {
    for (let current: number | undefined = task; current !== undefined; current = parents.get(current)) {
      if ((adopted.get(current) ?? Number.POSITIVE_INFINITY) <= at) return true;
    }
    return false;
  };
  return lines.flatMap(({ task, text }, index) => {
    if (!changes(text) || !pathsIn(text).some((path) => path.includes(tail))) return [];
    return [{ theirs: isTheirs(task, index), line: text }];
  });
}

// --- internal ---

function parseLine(line: string): { readonly task: number; readonly text: string } {
  const [, task = "0", text = ""] = /^(\d+) +(.*)$/.exec(line) ?? [];
  return { task: Number(task), text };
}

function changes(text: string): boolean {
  const call = /^(\w+)\(/.exec(text)?.[1] ?? "";
  if (call.startsWith("open")) return /O_(WRONLY|RDWR|CREAT|TRUNC|APPEND)/.test(text);
  return changing.includes(call);
}

function pathsIn(text: string): string[] {
  return [...text.matchAll(/"((?:[^"\\]|\\.)*)"|<([^>]*)>/g)].map(([, quoted, described]) => quoted ?? described ?? "");
}
