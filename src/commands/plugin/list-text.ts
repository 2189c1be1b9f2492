import { shown } from "../../config/paths.ts";
import { neutralise } from "../../session/text.ts";
import { listOf } from "../../text.ts";
import { columns, leftWidth } from "../layout.ts";
import type { ListedPlugin, PluginList } from "./list.ts";

/** The plugins of a run for people, below where they come from. Files are shown relative to `cwd`. Pure. */
export function renderPlugins({ plugins, config }: PluginList, cwd: string): string {
  const titles = { built_in: "Built in", file: `From ${config === null ? "" : shown(config, cwd)}`, flag: "From --plugin" } as const;
  const rows = plugins.map((plugin) => ({ source: plugin.source, row: rowOf(plugin, cwd) }));
  const least = leftWidth(rows.map(({ row }) => row));
  const sections = (["built_in", "file", "flag"] as const).flatMap((source) => {
    const own = rows.filter((each) => each.source === source).map(({ row }) => row);
    return own.length === 0 ? [] : [[titles[source], ...columns(own, least)].join("\n")];
  });
  return `${[...sections, lastLine(plugins)].join("\n\n")}\n`;
}

// --- internal ---

function rowOf(plugin: ListedPlugin, cwd: string): readonly [string, string] {
  const { name, file, summary, hooks, problem, state, trust } = plugin;
  const place = file === null ? null : shown(file, cwd);
  const lines = [
    state === "left_out" ? "left out by --without-plugin" : null,
    state === "untrusted" ? `${problem?.message}: it was not loaded` : withPlace(problem?.message ?? null, file, place),
    problem?.hint ?? summary,
    hooks === null ? null : `taps ${listOf(hooks)}`,
    name === null || place === null ? null : `${place}${trust === "trusted" ? " (trusted)" : ""}`,
  ];
  // It is others' text: one line each, and nothing that acts on a terminal.
  const clean = (text: string) => neutralise(text).replace(/\s+/g, " ").trim();
  return [clean(name ?? place ?? ""), lines.flatMap((line) => (line === null ? [] : clean(line))).join("\n")];
}

/** What is wrong with a file names it by its absolute path, which would fill the line. */
function withPlace(message: string | null, file: string | null, place: string | null): string | null {
  return message === null || file === null || place === null ? message : message.replaceAll(file, place);
}

function lastLine(plugins: readonly ListedPlugin[]): string {
  if (plugins.some(({ problem }) => problem !== null)) return "A run here would be refused until that is put right.";
  const own = plugins.some(({ source }) => source !== "built_in");
  return own ? "A run here would load all of them." : "There are no others here. To write one: mg-team plugin new my-report";
}
