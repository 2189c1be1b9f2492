/** Places for steps that may run at the same time (`--max-parallel`). */
export interface Slots {
  /** Runs it once there is a place, in the order of the calls. */
  take(work: () => Promise<void>): Promise<void>;
  /** For work that has a place: leaves it to others while it only waits, and goes on once there is one again. */
  leave(wait: () => Promise<void>): Promise<void>;
}

/** @param size 1 or more; `Infinity` is all at once */
export function createSlots(size: number): Slots {
  const waiting: (() => void)[] = [];
  let free = size;
  // Not async: what has a place starts within the call, so that all of a round know the same answers.
  const enter = (): Promise<void> | null => {
    if (free === 0) return new Promise<void>((resolve) => waiting.push(resolve));
    free--;
    return null;
  };
  const exit = () => {
    const next = waiting.shift();
    if (next) next();
    else free++;
  };
  return {
    async take(work) {
      const turn = enter();
      if (turn) await turn;
      try {
        await work();
      } finally {
        exit();
      }
    },
    async leave(wait) {
      exit();
      try {
        await wait();
      } finally {
        await enter();
      }
    },
  };
}
