/** The shells that /bin/sh may be, as far as they are installed here. */
export const shells: readonly { readonly name: string; readonly command: readonly string[] }[] = [
  { name: "dash", command: ["dash"] },
  { name: "busybox", command: ["busybox", "sh"] },
  { name: "bash", command: ["bash", "--posix"] },
]
  .map(({ name, command: [program = "", ...rest] }) => ({ name, command: [Bun.which(program) ?? "", ...rest] }))
  .filter(({ command }) => command[0] !== "");
