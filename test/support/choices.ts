/** A stream of small choices: random by a seed, or a recorded one again. 0 is always the plainest choice, so that shorter and smaller is simpler. */
export interface Choices {
  /** 0 to `count` - 1. */
  next(count: number): number;
  readonly taken: readonly number[];
}

export function randomChoices(seed: number): Choices {
  const taken: number[] = [];
  let state = seed >>> 0;
  return {
    taken,
    next(count) {
      // mulberry32
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      const choice = ((mixed ^ (mixed >>> 14)) >>> 0) % count;
      taken.push(choice);
      return choice;
    },
  };
}

export function recordedChoices(recorded: readonly number[]): Choices {
  const taken: number[] = [];
  return {
    taken,
    next(count) {
      const choice = (recorded[taken.length] ?? 0) % count;
      taken.push(choice);
      return choice;
    },
  };
}

/** The simplest choices, found by leaving out and lowering, for which `fails` still holds. */
export function shrink(choices: readonly number[], fails: (choices: readonly number[]) => boolean): readonly number[] {
  let best = choices;
  for (let progress = true; progress; ) {
    progress = false;
    for (let size = best.length; size >= 1; size = Math.floor(size / 2)) {
      for (let from = best.length - size; from >= 0; from--) {
        const shorter = [...best.slice(0, from), ...best.slice(from + size)];
        if (!fails(shorter)) continue;
        best = shorter;
        progress = true;
        from = Math.min(from, best.length - size + 1);
      }
    }
    for (let index = 0; index < best.length; index++) {
      for (const lower of [0, Math.floor((best[index] ?? 0) / 2), (best[index] ?? 0) - 1]) {
        if (lower < 0 || lower >= (best[index] ?? 0)) continue;
        const smaller = best.with(index, lower);
        if (!fails(smaller)) continue;
        best = smaller;
        progress = true;
        break;
      }
    }
  }
  return best;
}
