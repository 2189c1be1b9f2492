import type { Reply } from "../../massgen/models/reply.ts";
import type { ErrorKind, Wire } from "./wire.ts";

/** What the server does with one request; the last one repeats. */
export type Act =
  | Partial<Reply>
  | { readonly refuse: true }
  /** An error before anything was said. */
  | { readonly fail: ErrorKind; readonly headers?: Readonly<Record<string, string>> }
  /** A chunk that is no JSON, in the middle of a stream. */
  | { readonly garble: true }
  /** A page of HTML, as proxies send it. */
  | { readonly html: true }
  /** Begins a stream and then says nothing more. */
  | { readonly hang: true };

export interface SeenRequest {
  readonly path: string;
  readonly key: string | null;
  readonly body: Readonly<Record<string, unknown>>;
  /** The body as text: for looking whether something is in it. */
  readonly text: string;
}

export interface WireServer extends AsyncDisposable {
  /** For `base_url`, as the provider's own SDK takes it. */
  readonly baseUrl: string;
  readonly requests: readonly SeenRequest[];
}

/** A provider on a loopback port. `act` may look at the request, as an obedient model does. */
export function startWireServer(wire: Wire, acts: readonly (Act | ((request: SeenRequest) => Act))[]): WireServer {
  const requests: SeenRequest[] = [];
  const hanging = new AbortController();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(http) {
      const url = new URL(http.url);
      const text = await http.text();
      const request = { path: url.pathname, key: wire.key(http.headers, url), body: JSON.parse(text), text };
      requests.push(request);
      const found = acts[Math.min(requests.length, acts.length) - 1] ?? {};
      return respond(wire, typeof found === "function" ? found(request) : found, hanging.signal);
    },
  });
  return {
    baseUrl: `http://127.0.0.1:${server.port}/v1${wire.type === "gemini" ? "beta" : ""}`,
    requests,
    async [Symbol.asyncDispose]() {
      hanging.abort();
      await server.stop(true);
    },
  };
}

// --- internal ---

function respond(wire: Wire, act: Act, stop: AbortSignal): Response {
  if ("fail" in act) {
    const { status, body } = wire.error(act.fail);
    return Response.json(body, { status, headers: act.headers ?? {} });
  }
  if ("html" in act)
    return new Response("<html><body>502 Bad Gateway</body></html>", { status: 502, headers: { "content-type": "text/html" } });
  const whole: Reply = {
    text: "",
    calls: [],
    usage: { input: 1000, output: 100 },
    cut: false,
    ...("refuse" in act || "garble" in act || "hang" in act ? {} : act),
  };
  const events =
    "refuse" in act ? wire.refusal() : wire.events("garble" in act || "hang" in act ? { ...whole, text: "Let me think." } : whole);
  const stream = "garble" in act ? [events[0] ?? "", 'data: {"type": "respo\n\n', ...events.slice(1)] : events;
  const headers = { "content-type": "text/event-stream" };
  if (!("hang" in act)) return new Response(stream.join(""), { headers });
  let gone = false;
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(stream[0]));
      stop.addEventListener("abort", () => {
        if (!gone) controller.close();
      });
    },
    cancel() {
      gone = true;
    },
  });
  return new Response(body, { headers });
}
