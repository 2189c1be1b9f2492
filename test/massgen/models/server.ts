import { chatEvents, errorBody, type Reply, responsesEvents, wholeReply } from "./reply.ts";
import { fileTool, type ModelRequest, obey, readRequest, sourcePath, voteEnum } from "./request.ts";
import type { ModelScripts, RecordedRequest, Turn } from "./script.ts";

/** Scripted models on a loopback port, speaking `/v1/responses` and `/v1/chat/completions`. Closed at the end of its `using` block. */
export interface ModelServer extends AsyncDisposable {
  /** What a config's `base_url` takes: `http://127.0.0.1:PORT/v1`. */
  readonly baseUrl: string;
  readonly requests: readonly RecordedRequest[];
  /** From now on these scripts, from their first turns; forgets requests and holds. */
  play(scripts: ModelScripts): void;
  /** Lets the turns that hold this name go on, now and later. */
  release(name: string): void;
  /** Resolves when a request has come to a turn that holds this name. */
  held(name: string): Promise<void>;
}

export function startModelServer(first: ModelScripts = {}): ModelServer {
  let scripts = first;
  const requests: RecordedRequest[] = [];
  const used = new Map<string, number>();
  const gates = new Map<string, Gate>();
  const gate = (name: string): Gate => {
    const known = gates.get(name) ?? { arrived: Promise.withResolvers<void>(), open: Promise.withResolvers<void>() };
    gates.set(name, known);
    return known;
  };

  /** The next turn of the request's script; null for a request that is not the agent's own (no workflow tools). */
  const nextTurn = (request: ModelRequest, key: string): Turn | null => {
    if (!request.tools.some((tool) => tool.name === "new_answer" || tool.name === "vote")) return null;
    const name = `key:${key}` in scripts ? `key:${key}` : request.model;
    const turns = scripts[name];
    const next = used.get(name) ?? 0;
    const before = turns?.[Math.min(next, turns.length) - 1];
    const index = before !== undefined && hasFailed(before, request) ? next - 1 : next;
    const turn = turns?.[Math.min(index, turns.length - 1)] ?? { text: `no script for ${name}` };
    if (!lacksTool(turn, request)) used.set(name, index + 1);
    return turn;
  };

  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(http) {
      const path = new URL(http.url).pathname;
      if (http.method !== "POST") return Response.json({ object: "list", data: [] });
      const body: unknown = await http.json();
      const request = readRequest(body);
      const key = (http.headers.get("authorization") ?? "").replace(/^Bearer /, "");
      const turn = nextTurn(request, key);
      const { model, text } = request;
      requests.push({ path, model, key, tools: request.tools.map((tool) => tool.name), voteEnum: voteEnum(request), text, turn, body });
      if (turn?.hold !== undefined) {
        gate(turn.hold).arrived.resolve();
        await gate(turn.hold).open.promise;
      }
      if (turn?.status !== undefined)
        return Response.json(errorBody(turn.status), { status: turn.status, headers: { "retry-after": "1" } });
      const reply = replyOf(turn ?? { text: "OK" }, request);
      if (!request.streaming) return Response.json(wholeReply(path, reply, model));
      const events = path.endsWith("/responses") ? responsesEvents(reply, model) : chatEvents(reply, model);
      return new Response(events.join(""), { headers: { "content-type": "text/event-stream" } });
    },
  });

  return {
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    requests,
    play(next) {
      openAll(gates);
      scripts = next;
      for (const memory of [used, gates]) memory.clear();
      requests.length = 0;
    },
    release: (name) => gate(name).open.resolve(),
    held: (name) => gate(name).arrived.promise,
    async [Symbol.asyncDispose]() {
      openAll(gates);
      await server.stop(true);
    },
  };
}

// --- internal ---

interface Gate {
  readonly arrived: PromiseWithResolvers<void>;
  readonly open: PromiseWithResolvers<void>;
}

function openAll(gates: ReadonlyMap<string, Gate>): void {
  for (const { open } of gates.values()) open.resolve();
}

/** Whether the file calls of the turn before brought an error: on a busy machine MassGen's file server is late. */
function hasFailed({ write, read }: Turn, { outputs }: ModelRequest): boolean {
  const calls = write === undefined ? (read?.length ?? 0) : Object.keys(write).length;
  return calls > 0 && outputs.slice(-calls).some((output) => output.startsWith("Error"));
}

/** Whether a turn cannot be played yet. */
function lacksTool(turn: Turn, request: ModelRequest): boolean {
  return (
    (turn.write !== undefined && fileTool(request, "write") === undefined) ||
    (turn.read !== undefined && fileTool(request, "read") === undefined)
  );
}

function replyOf(turn: Turn, request: ModelRequest): Reply {
  const usage = turn.usage ?? { input: 1000, output: 100 };
  const cut = turn.cut === true;
  const say = (text: string): Reply => ({ text, calls: [], usage, cut });
  const call = (name: string, args: Readonly<Record<string, unknown>>): Reply => ({
    text: "",
    calls: [{ name, arguments: args }],
    usage,
    cut,
  });
  if (turn.answer !== undefined) return call("new_answer", { content: turn.answer });
  if (turn.call !== undefined) return call(turn.call.name, turn.call.arguments);
  if (turn.vote !== undefined) {
    const target = typeof turn.vote === "string" ? turn.vote : obey(turn.vote, request);
    return call("vote", { agent_id: target, reason: turn.reason ?? `${target} is best` });
  }
  const deed = turn.write === undefined ? "read" : "write";
  const calls =
    turn.write === undefined
      ? turn.read?.map((file) => ({ path: sourcePath(file, request) }))
      : Object.entries(turn.write).map(([path, content]) => ({ path, content: fill(content, request) }));
  if (calls === undefined) return say(turn.text ?? "Let me think.");
  const tool = fileTool(request, deed);
  if (tool === undefined) return say(`no tool that can ${deed} files among ${request.tools.map(({ name }) => name).join(", ")}`);
  return { text: "", calls: calls.map((args) => ({ name: tool.name, arguments: args })), usage, cut };
}

/** Puts in what tool calls brought. */
function fill(content: string, { outputs }: ModelRequest): string {
  return content.replace(/\{\{(\d+)\}\}/g, (_, place: string) => outputs[Number(place) - 1] ?? "(nothing)");
}
