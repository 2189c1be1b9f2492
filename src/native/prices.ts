import { nativeBackend, type Protocol } from "./backends.ts";
import table from "./prices.json" with { type: "json" };

/** Tokens of one reply, as the provider counts them. */
export interface TokenUsage {
  /** Everything that was sent, cached or not. */
  readonly input: number;
  /** Of those, the ones that the provider had in its cache. */
  readonly cachedInput: number;
  /** Of those, the ones that it put into its cache. */
  readonly cacheWrite: number;
  /** What the model wrote, its thinking included. */
  readonly output: number;
}

/** What a model costs, in US dollars per million tokens. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  /** Input that the provider had in its cache; as `input` where it is not given. */
  readonly cachedInput?: number;
  /** Input that it put into its cache; as `input` where it is not given. */
  readonly cacheWrite?: number;
  /** What a request costs instead, all of it, from that many tokens of input on. */
  readonly long?: { readonly from: number } & Omit<ModelPrice, "long">;
}

/**
 * The list price of a model, from prices.json: read on `date` at `source` there. Only whole names and dated versions of them count
 * (`gpt-5.4-2026-03-05`), so that no model gets the price of its little brother. Servers on this machine cost nothing, unless they pass the
 * request on (`gpt-oss:120b-cloud` of Ollama). Null when it is not known: unknown is not free.
 * @param baseUrl where it is asked; null for models that are built in
 */
export function listPrice(type: string, model: string, baseUrl: string | null): ModelPrice | null {
  const backend = nativeBackend(type);
  if (backend === null) return null;
  if (backend.local) return isOnThisMachine(baseUrl) && !/[-:]cloud$/i.test(model) ? { input: 0, output: 0 } : null;
  return entries.find((entry) => entry.provider === backend.protocol && isNamed(entry, model.toLowerCase()))?.price ?? null;
}

/** What one reply has cost, in US dollars. */
export function priceOfReply(usage: TokenUsage, price: ModelPrice): number {
  const { long } = price;
  const rates = long !== undefined && usage.input >= long.from ? long : price;
  const cached = usage.cachedInput * (rates.cachedInput ?? rates.input);
  const written = usage.cacheWrite * (rates.cacheWrite ?? rates.input);
  const fresh = Math.max(0, usage.input - usage.cachedInput - usage.cacheWrite) * rates.input;
  return (fresh + cached + written + usage.output * rates.output) / 1e6;
}

// --- internal ---

/** By its address alone; `0.0.0.0` is what people write into OLLAMA_HOST for the server's sake. */
function isOnThisMachine(baseUrl: string | null): boolean {
  if (baseUrl === null) return true;
  const host = URL.parse(baseUrl)?.hostname.toLowerCase() ?? "";
  return /^(localhost|[\w.-]+\.localhost|127(\.\d+){3}|0\.0\.0\.0|\[::1?\])$/.test(host);
}

interface Entry {
  readonly provider: Protocol;
  readonly names: readonly string[];
  readonly price: ModelPrice;
}

interface Rates {
  readonly input: number;
  readonly output: number;
  readonly cached_input?: number;
  readonly cache_write?: number;
}

interface Row extends Rates {
  readonly provider: string;
  readonly model: string;
  readonly also?: readonly string[];
  readonly long?: Rates & { readonly from: number };
}

const entries: readonly Entry[] = (table as readonly Row[]).map((row) => ({
  provider: row.provider as Protocol,
  names: [row.model, ...(row.also ?? [])],
  price: { ...ratesOf(row), ...(row.long === undefined ? {} : { long: { from: row.long.from, ...ratesOf(row.long) } }) },
}));

function ratesOf({ input, output, cached_input: cachedInput, cache_write: cacheWrite }: Rates): Omit<ModelPrice, "long"> {
  return { input, output, ...(cachedInput === undefined ? {} : { cachedInput }), ...(cacheWrite === undefined ? {} : { cacheWrite }) };
}

function isNamed({ names }: Entry, model: string): boolean {
  return names.some((name) => model === name || (model.startsWith(name) && /^-(\d{8}|\d{4}-\d{2}-\d{2})$/.test(model.slice(name.length))));
}
