import { type StepCost, unknownCost } from "../types.ts";

/** US dollars per million tokens. */
export interface TokenPrice {
  readonly input: number;
  readonly output: number;
}

/** A report on cost as somebody else wrote it: anything may stand in it. */
export interface CostReport {
  readonly usd: unknown;
  readonly inputTokens: unknown;
  readonly outputTokens: unknown;
  /** The reporter says that it could not count all. */
  readonly incomplete?: boolean;
  /** The reporter says that it knows the price: zero with tokens is what they cost. */
  readonly priced?: boolean;
}

/** More than a single step can have cost, in US dollars: such a report is a fault of whoever wrote it. */
export const mostUsd = 10_000;

/**
 * What a report is worth (design.md, "Money"). An amount above zero counts. Zero with tokens means that the model is missing from the
 * reporter's price list, unless it says otherwise: unknown, unless `price` fills the gap. Zero without tokens is free, unless the report is incomplete: then nothing was
 * counted. What is no amount at all is unknown too.
 * @returns `problem`: what is wrong with the report, completing "its reported cost …"; null when nothing is
 */
export function costOf(report: CostReport, price: TokenPrice | null): { readonly cost: StepCost; readonly problem: string | null } {
  const usd = amountOf(report.usd);
  const [inputTokens, outputTokens] = [tokensOf(report.inputTokens), tokensOf(report.outputTokens)];
  const missing = report.incomplete ? ({ incomplete: true } as const) : {};
  const tokens = { inputTokens: inputTokens ?? 0, outputTokens: outputTokens ?? 0, ...missing };
  const problem = problemOf(report, usd, inputTokens, outputTokens);
  const isFree = usd === 0 && report.priced === true && !report.incomplete;
  if (usd !== null && (usd > 0 || isFree)) return { cost: { usd, ...tokens }, problem };
  if (tokens.inputTokens + tokens.outputTokens > 0) return { cost: { usd: price ? priced(tokens, price) : null, ...tokens }, problem };
  return { cost: usd === 0 && problem === null && !report.incomplete ? { usd: 0, ...tokens } : unknownCost, problem };
}

/**
 * The price of a model in `prices:`. A key is a model with or without its backend, or the beginning of one up to a `-`, `:` or `@`:
 * `grok-4.20` is the price of `grok/grok-4.20-0309-reasoning`, and `gpt-5` not that of `gpt-5.4`. The longest key wins, a whole name
 * before a beginning; upper case counts for nothing. Null without one.
 */
export function priceOf(prices: Readonly<Record<string, TokenPrice>>, backend: string, modelName: string): TokenPrice | null {
  const names = [`${backend}/${modelName}`, modelName].map((name) => name.toLowerCase());
  const keys = Object.keys(prices).sort((a, b) => b.length - a.length);
  const exact = keys.find((key) => names.includes(key.toLowerCase()));
  const key = exact ?? keys.find((begin) => names.some((name) => /^[-:@]/.test(tailAfter(name, begin.toLowerCase()))));
  return key === undefined ? null : (prices[key] ?? null);
}

// --- internal ---

function amountOf(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 && value <= mostUsd ? value : null;
}

function tokensOf(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 && value <= 1e12 ? Math.floor(value) : null;
}

function problemOf(report: CostReport, usd: number | null, inputTokens: number | null, outputTokens: number | null): string | null {
  if (usd === null) return `is ${shown(report.usd)}, no amount of dollars`;
  if (inputTokens === null) return `counts ${shown(report.inputTokens)} input tokens`;
  return outputTokens === null ? `counts ${shown(report.outputTokens)} output tokens` : null;
}

function priced(tokens: { readonly inputTokens: number; readonly outputTokens: number }, price: TokenPrice): number {
  return (tokens.inputTokens * price.input + tokens.outputTokens * price.output) / 1e6;
}

function tailAfter(name: string, beginning: string): string {
  return beginning !== "" && name.startsWith(beginning) ? name.slice(beginning.length) : "";
}

function shown(value: unknown): string {
  return value === undefined ? "missing" : (JSON.stringify(value) ?? String(value)).slice(0, 40);
}
