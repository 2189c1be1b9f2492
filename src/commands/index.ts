import type { Command } from "./command.ts";

/** The commands by name, loaded when they are needed. */
export type Registry = Readonly<Record<string, () => Promise<Command>>>;

/** Every command, in the order of the help. To add one: its file, and a line here. */
export const commands: Registry = {
  run: async () => (await import("./run.ts")).command,
  demo: async () => (await import("./demo.ts")).command,
  resume: async () => (await import("./resume.ts")).command,
  status: async () => (await import("./status.ts")).command,
  sessions: async () => (await import("./sessions.ts")).command,
  show: async () => (await import("./show.ts")).command,
  report: async () => (await import("./report.ts")).command,
  clean: async () => (await import("./clean.ts")).command,
  init: async () => (await import("./init.ts")).command,
  doctor: async () => (await import("./doctor.ts")).command,
  plugin: async () => (await import("./plugin.ts")).command,
  trust: async () => (await import("./trust.ts")).command,
  completion: async () => (await import("./completion.ts")).command,
  step: async () => (await import("./step.ts")).command,
  help: async () => (await import("./help.ts")).command,
};

/** Loads every command, for lists of them. */
export function loadAll(registry: Registry): Promise<Command[]> {
  return Promise.all(Object.values(registry).map((load) => load()));
}
