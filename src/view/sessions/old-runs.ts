import { plural } from "../../text.ts";
import { oneLine } from "../fit.ts";
import { paint } from "../paint.ts";
import { table } from "../table.ts";
import { localTime } from "./render.ts";

/** Runs that are about to be removed, as a table with a sum; no line wider than `width`. Pure. */
export function renderOldRuns(
  runs: readonly { readonly id: string; readonly last_used: string; readonly bytes: number; readonly query: string | null }[],
  width: number,
  color: boolean,
): string[] {
  const title = (text: string) => ({ text, style: "bold" }) as const;
  const total = runs.reduce((sum, { bytes }) => sum + bytes, 0);
  const columns = [
    { cells: [title("RUN"), ...runs.map(({ id }) => ({ text: id }))], least: 20, rank: 4 },
    { cells: [title("LAST USED"), ...runs.map((run) => ({ text: localTime(run.last_used) }))], least: 16, rank: 2 },
    { cells: [title("SIZE"), ...runs.map(({ bytes }) => ({ text: formatBytes(bytes) }))], least: 8, rank: 3, align: "right" as const },
    { cells: [title("QUERY"), ...runs.map(({ query }) => ({ text: oneLine((query ?? "").slice(0, 500)) }))], least: 12, rank: 1 },
  ];
  return [...table(columns, width, color), paint(`${plural(runs.length, "run")}, ${formatBytes(total)}`, "bold", color)];
}

/** `0 B`, `812 B`, `1.4 kB`, `23 MB`: in powers of 1000, as disks are sold. */
export function formatBytes(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  // 999.6 kB would round to 1000 kB.
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit > 0 && value < 9.95 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}
