import { statSync } from "node:fs";
import { join } from "node:path";
import { type CostReport, costOf, type TokenPrice } from "../../session/cost.ts";
import { isInside, isRealDirectory, namesIn, readUntrusted, realPathOf } from "../../session/untrusted.ts";
import { type StepCost, unknownCost } from "../../types.ts";
import { plainLine } from "./words.ts";

export interface CostReader {
  /** Takes the path of a `LOG_DIR:` line. The first one that lies below the step's own directory counts: the child prints it. */
  logDir(path: string): void;
  /** What the step has reported so far; null while it has reported nothing that can be read. */
  read(): StepCost | null;
  /** The same once its process is gone: a request whose reply it did not come to count makes the sum incomplete. */
  readLast(): StepCost | null;
  /** What was wrong with the reports, as sentences, each once. */
  readonly warnings: readonly string[];
}

/**
 * Reads the cost that MassGen reports (massgen.md, "What it leaves"): `metrics_summary.json` once it is there, else `status.json`, of the
 * last turn and attempt. Attempts are not summed: tokens are counted per backend, and those live as long as the process
 * (massgen 0.1.97, `cli/run.py` hands the same agents to the next attempt). A half-written file leaves the last report standing.
 * @param price what the model costs when MassGen does not know it
 */
export function createCostReader(runDir: string, agent: string, price: TokenPrice | null): CostReader {
  let base: string | null = null;
  let last: StepCost | null = null;
  let seen = "";
  let open = false;
  const warnings = new Set<string>();

  const take = (report: ReadReport) => {
    const { cost, problem } = costOf(report, price);
    if (problem !== null) warnings.add(`${agent}: its reported cost ${plainLine(problem, 120)}; it counts as unknown`);
    open = report.open === true;
    return cost;
  };
  const incomplete = (cost: StepCost): StepCost => {
    const nothing = cost.inputTokens + cost.outputTokens === 0 && (cost.usd ?? 0) === 0;
    return nothing ? unknownCost : { ...cost, incomplete: true };
  };

  const reader: CostReader = {
    get warnings() {
      return [...warnings];
    },
    logDir(path) {
      if (base !== null) return;
      const [real, root] = [realPathOf(path), realPathOf(runDir)];
      if (real !== null && root !== null && real !== root && isInside(real, root)) base = real;
      else warnings.add(`${agent}: the log directory that the step named is not below its own (${plainLine(path, 200)}); it was ignored`);
    },
    read() {
      for (const directory of attempts(base ?? findLogs(runDir))) {
        for (const file of reports) {
          const path = join(directory, file.name);
          const stamp = stampOf(path);
          if (stamp === null) continue;
          if (stamp === seen) return last;
          const report = readReport(path, runDir, file.pick);
          if (report === null) continue;
          seen = stamp;
          last = take(report);
          return last;
        }
      }
      return last;
    },
    readLast() {
      const cost = reader.read();
      return cost !== null && open ? incomplete(cost) : cost;
    },
  };
  return reader;
}

// --- internal ---

/** Larger ones are not MassGen's: a long step writes some hundred KiB. */
const longest = 16 * 1048576;

type Fields = Readonly<Record<string, unknown>>;

interface ReadReport extends CostReport {
  /** A request was under way when this was written. */
  readonly open?: boolean;
}

/** In the order in which they are believed. */
const reports: readonly { readonly name: string; readonly pick: (root: Fields) => ReadReport | null }[] = [
  {
    name: "metrics_summary.json",
    pick({ totals }) {
      if (!isObject(totals)) return null;
      const { estimated_cost: usd, input_tokens: inputTokens, output_tokens: outputTokens } = totals;
      return { usd, inputTokens, outputTokens, ...accountOf(totals) };
    },
  },
  {
    name: "status.json",
    pick({ costs }) {
      if (!isObject(costs)) return null;
      const { total_estimated_cost: usd, total_input_tokens: inputTokens, total_output_tokens: outputTokens } = costs;
      return { usd, inputTokens, outputTokens, ...accountOf(costs), open: costs.open_request === true };
    },
  },
];

/** What a native step says of its numbers (native/record.ts); MassGen has no such fields. */
function accountOf({ uncounted_replies: replies, priced }: Fields): Pick<CostReport, "incomplete" | "priced"> {
  return { incomplete: typeof replies === "number" && replies > 0, priced: priced === true };
}

/** Without a `LOG_DIR:` line (a crash before it): the newest log below the step's directory; their names begin with the time. */
function findLogs(runDir: string): string | null {
  const logs = join(runDir, ".massgen", "massgen_logs");
  const newest = namesIn(logs)
    .filter((name) => name.startsWith("log_"))
    .sort()
    .at(-1);
  return newest === undefined ? null : join(logs, newest);
}

/** Directories of attempts, the last turn and attempt first. */
function attempts(base: string | null): string[] {
  if (base === null) return [];
  return numbered(base, "turn_").flatMap((turn) => numbered(turn, "attempt_"));
}

function numbered(directory: string, prefix: string): string[] {
  return namesIn(directory)
    .filter((name) => name.startsWith(prefix) && /^\d{1,9}$/.test(name.slice(prefix.length)))
    .sort((a, b) => Number(b.slice(prefix.length)) - Number(a.slice(prefix.length)))
    .map((name) => join(directory, name))
    .filter(isRealDirectory);
}

/** Changes with the file; null when there is none, or none that can be looked at. */
function stampOf(path: string): string | null {
  try {
    const { mtimeMs, size } = statSync(path);
    return `${path}:${mtimeMs}:${size}`;
  } catch {
    return null;
  }
}

function readReport(path: string, runDir: string, pick: (root: Fields) => ReadReport | null): ReadReport | null {
  const file = readUntrusted(path, realPathOf(runDir) ?? runDir, longest);
  if (file.kind !== "bytes") return null;
  const value = parseLoosely(Buffer.from(file.bytes).toString("utf8"));
  return isObject(value) ? pick(value) : null;
}

/** Python writes NaN and Infinity, which are no JSON. */
function parseLoosely(text: string): unknown {
  for (const candidate of [text, text.replace(/:\s*(-?(?:NaN|Infinity))\b/g, ': "$1"')]) {
    try {
      return JSON.parse(candidate);
    } catch {
      // Half-written, or the next candidate.
    }
  }
  return null;
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
