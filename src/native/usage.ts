import { type ModelPrice, priceOfReply, type TokenUsage } from "./prices.ts";

/** What a step has used so far. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars; null while a price is unknown, or a reply came without a count. */
  readonly usd: number | null;
  readonly replies: number;
}

/** Adds up the replies of a step. */
export interface UsageMeter {
  /** Null: the provider counted nothing, so the sum stays unknown. */
  add(usage: TokenUsage | null): void;
  readonly total: Usage;
}

/** @param price null when it is unknown */
export function createMeter(price: ModelPrice | null): UsageMeter {
  let total: Usage = { inputTokens: 0, outputTokens: 0, usd: price === null ? null : 0, replies: 0 };
  return {
    add(usage) {
      const { inputTokens, outputTokens, usd, replies } = total;
      total = {
        inputTokens: inputTokens + (usage?.input ?? 0),
        outputTokens: outputTokens + (usage?.output ?? 0),
        usd: usage === null || usd === null || price === null ? null : usd + priceOfReply(usage, price),
        replies: replies + 1,
      };
    },
    get total() {
      return total;
    },
  };
}
