import { type ModelPrice, priceOfReply, type TokenUsage } from "./prices.ts";

/** What a step has used so far. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars of what was counted; null when the price is unknown, or nothing was counted. */
  readonly usd: number | null;
  /** Replies that the provider began, finished or not. */
  readonly replies: number;
  /** Of those, the ones that it did not count to their end: while there are any, all other numbers are the least that it was. */
  readonly uncounted: number;
}

/** Adds up the replies of a step. */
export interface UsageMeter {
  /**
   * @param usage null when the provider counted nothing of this reply
   * @param whole false when it may have counted a part of it only
   */
  add(usage: TokenUsage | null, whole?: boolean): void;
  readonly total: Usage;
  /** Whatever is asked costs nothing. */
  readonly free: boolean;
}

/** @param price null when it is unknown */
export function createMeter(price: ModelPrice | null): UsageMeter {
  // What costs nothing costs nothing uncounted too.
  const free = price !== null && price.input === 0 && price.output === 0;
  let sums = { inputTokens: 0, outputTokens: 0, usd: 0, replies: 0, uncounted: 0, counted: 0 };
  return {
    free,
    add(usage, whole = true) {
      const { inputTokens, outputTokens, usd, replies, uncounted, counted } = sums;
      sums = {
        inputTokens: inputTokens + (usage?.input ?? 0),
        outputTokens: outputTokens + (usage?.output ?? 0),
        usd: usd + (usage === null || price === null ? 0 : priceOfReply(usage, price)),
        replies: replies + 1,
        uncounted: uncounted + (free || (usage !== null && whole) ? 0 : 1),
        counted: counted + (usage === null && !free ? 0 : 1),
      };
    },
    get total() {
      const { counted, ...total } = sums;
      const known = total.replies === 0 || (price !== null && counted > 0);
      return { ...total, usd: known ? total.usd : null };
    },
  };
}
