import { type Check, lineFinder, mostProblems, oneLine, type Problem } from "./check.ts";

/**
 * YAML syntax of all documents, repeated keys and aliases without an anchor. Only events are made, no values: unknown tags are fine, and
 * an alias bomb stays small. Nesting is limited by the parser, which the configuration's own parser (`yaml`) is not: 1 MiB of brackets
 * took it 8 GB.
 */
export const yamlCheck: Check = {
  name: "yaml",
  applies: ({ extension }) => extension === ".yaml" || extension === ".yml",
  async run({ text }) {
    const yaml = await import("js-yaml");
    try {
      return problemsOf(text, yaml);
    } catch (error) {
      if (!(error instanceof yaml.YAMLException)) throw error;
      // A template that something else fills in first (Helm, Jinja); `${{ }}` of workflows is ordinary YAML.
      if (/(?<!\$)\{\{|\{%/.test(text)) return [];
      return [{ line: (error.mark?.line ?? -1) + 1, message: oneLine(error.reason) }];
    }
  },
};

// --- internal ---

function problemsOf(text: string, yaml: Yaml): readonly Problem[] {
  try {
    return repeatedKeys(text, yaml.parseEvents(text, {}), yaml);
  } catch (error) {
    // "]" below its own key breaks the letter of YAML, but people write it and other parsers take it: look again with such lines moved in.
    if (!(error instanceof yaml.YAMLException) || error.reason !== "deficient indentation") throw error;
    const moved = text.replace(/^[ \t]*(?=[\]}])/gm, " ".repeat(200));
    return repeatedKeys(moved, yaml.parseEvents(moved, {}), yaml);
  }
}

type Yaml = typeof import("js-yaml");
type Events = ReturnType<Yaml["parseEvents"]>;

interface Open {
  /** Keys so far; null for a sequence or a document. */
  readonly keys: Set<string> | null;
  /** Nodes so far: in a mapping every second one is a key. */
  count: number;
}

function repeatedKeys(text: string, events: Events, yaml: Yaml): readonly Problem[] {
  const lineOf = lineFinder(text);
  const problems: Problem[] = [];
  const open: Open[] = [];
  let anchors = new Set<string>();
  for (const event of events) {
    const parent = open.at(-1);
    if (problems.length >= mostProblems) break;
    if (event.type === yaml.EVENT_ID.POP) {
      open.pop();
      continue;
    }
    if (event.type === yaml.EVENT_ID.DOCUMENT) anchors = new Set();
    else if (event.type === yaml.EVENT_ID.ALIAS) {
      const name = text.slice(event.anchorStart, event.anchorEnd);
      if (!anchors.has(name)) problems.push({ line: lineOf(event.anchorStart), message: `nothing is called &${oneLine(name, 40)}` });
    } else if (event.anchorStart >= 0) anchors.add(text.slice(event.anchorStart, event.anchorEnd));
    const isKey = parent?.keys && parent.count % 2 === 0;
    if (parent) parent.count++;
    if (isKey && event.type === yaml.EVENT_ID.SCALAR) {
      const key = yaml.getScalarValue(text, event);
      // A merge may be written once for each source.
      if (parent.keys?.has(key) && key !== "<<")
        problems.push({ line: lineOf(event.valueStart), message: `the key ${oneLine(key, 60)} is there twice` });
      parent.keys?.add(key);
    }
    if (event.type === yaml.EVENT_ID.MAPPING) open.push({ keys: new Set(), count: 0 });
    else if (event.type === yaml.EVENT_ID.SEQUENCE || event.type === yaml.EVENT_ID.DOCUMENT) open.push({ keys: null, count: 0 });
  }
  return problems;
}
