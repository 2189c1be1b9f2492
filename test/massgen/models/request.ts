import type { ObedientVote, SourceFile } from "./script.ts";

/** The parts of a request that both APIs have. */
export interface ModelRequest {
  readonly model: string;
  readonly tools: readonly OfferedTool[];
  readonly text: string;
  /** What tool calls brought, in order. */
  readonly outputs: readonly string[];
  readonly streaming: boolean;
}

export interface OfferedTool {
  readonly name: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** Reads a body of `/v1/responses` or `/v1/chat/completions`. */
export function readRequest(body: unknown): ModelRequest {
  const data = mapOf(body);
  const tools = (Array.isArray(data.tools) ? data.tools : []).map((tool) => {
    const entry = mapOf(tool);
    const definition = entry.function === undefined ? entry : mapOf(entry.function);
    return { name: String(definition.name ?? entry.type ?? ""), parameters: mapOf(definition.parameters) };
  });
  return {
    model: String(data.model ?? ""),
    tools,
    text: [data.instructions, data.input, data.messages].map(textOf).join("\n"),
    outputs: [data.input, data.messages].flatMap((list) => (Array.isArray(list) ? list : []).flatMap(outputOf)),
    streaming: data.stream === true,
  };
}

/** The values that the vote tool allows for `agent_id`. */
export function voteEnum(request: ModelRequest): readonly string[] | null {
  const vote = request.tools.find((tool) => tool.name === "vote");
  const values = mapOf(mapOf(vote?.parameters.properties).agent_id).enum;
  return Array.isArray(values) ? values.map(String) : null;
}

/** The tool that writes a file, or reads one: MassGen prefixes the tools of its MCP servers, and its `read_file` is the older of two. */
export function fileTool(request: ModelRequest, deed: "write" | "read"): OfferedTool | undefined {
  const names = deed === "write" ? [/(^|__)write_file$/] : [/(^|__)read_text_file$/, /(^|__)read_file$/];
  return names.flatMap((name) => request.tools.filter((tool) => name.test(tool.name)))[0];
}

/** The path of a file whose place the conversation tells; what it lacks is left out. */
export function sourcePath({ at, name }: SourceFile, request: ModelRequest): string {
  return `${new RegExp(at).exec(request.text)?.[1] ?? ""}${name}`;
}

/** The id that an obedient model votes for. */
export function obey(vote: ObedientVote, request: ModelRequest): string {
  const allowed = voteEnum(request);
  const blocks = [...request.text.matchAll(/<([\w-]+?)(?:\.\d+)?>((?:(?!<end of)[\s\S])*)<end of \1(?:\.\d+)?>/g)];
  const label = blocks.findLast((block) => block[2]?.includes(vote.preferring))?.[1];
  if (allowed === null) return label ?? "";
  return label !== undefined && allowed.includes(label) ? label : (allowed[0] ?? "");
}

// --- internal ---

/** Of the responses API, and of chat completions. */
function outputOf(item: unknown): string[] {
  const { type, role, output, content } = mapOf(item);
  if (type === "function_call_output") return [textOf(output)];
  return role === "tool" ? [textOf(content)] : [];
}

/** All strings below `text`, `content` and `output` keys, in order. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(textOf).join("\n");
  const { text, content, output } = mapOf(value);
  return [text, content, output]
    .filter((part) => part !== undefined)
    .map(textOf)
    .join("\n");
}

function mapOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
