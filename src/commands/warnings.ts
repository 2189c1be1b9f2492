/** Warnings of an engine: they belong into the run's journal and result, but some come before there is a run. */
export interface Warnings {
  /** Each text once. */
  warn(message: string): void;
  /** From now on they go there, the earlier ones first. */
  follow(receiver: (message: string) => void): void;
}

export function createWarnings(): Warnings {
  const said = new Set<string>();
  const waiting: string[] = [];
  let receive = (message: string): void => {
    waiting.push(message);
  };
  return {
    warn(message) {
      if (said.has(message)) return;
      said.add(message);
      receive(message);
    },
    follow(receiver) {
      receive = receiver;
      for (const message of waiting.splice(0)) receiver(message);
    },
  };
}
