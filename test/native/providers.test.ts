import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createCostReader } from "../../src/engine/massgen/cost.ts";
import { unknownCost } from "../../src/types.ts";
import { createSession, keys, type TestSession } from "./support.ts";
import { type SeenRequest, startWireServer } from "./wire/server.ts";
import { type Wire, wires } from "./wire/wire.ts";

// Several steps each, on machines that have other things to do.
setDefaultTimeout(60_000);

const answer = (content: string) => ({ calls: [{ name: "new_answer", arguments: { content } }] });
const write = (path: string, content: string) => ({ name: "write_file", arguments: { path, content } });

/** Votes for the answer that contains the words, as the prompt labels it. */
const voteFor = (words: string) => (request: SeenRequest) => {
  const shown = JSON.stringify(request.body);
  const label = new RegExp(`<(agent\\d+)\\.\\d+>\\\\n${words}`).exec(shown)?.[1] ?? "";
  return { calls: [{ name: "vote", arguments: { agent_id: label, reason: "correct" } }] };
};

async function run(wire: Wire, acts: Parameters<typeof startWireServer>[1], more: Partial<Parameters<TestSession["step"]>[0]> = {}) {
  const session = createSession();
  const server = startWireServer(wire, acts);
  const outcome = await session.step({ type: wire.type, baseUrl: server.baseUrl, ...more });
  return {
    ...outcome,
    session,
    requests: server.requests,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await session[Symbol.asyncDispose]();
    },
  };
}

/** As the host reads it. */
function costOf(session: TestSession) {
  return createCostReader(session.temp.join("run_agent_a"), "agent_a", null).readLast();
}

for (const wire of wires) {
  describe(wire.name, () => {
    test("an answer is written, with what it cost in tokens", async () => {
      await using step = await run(wire, [{ text: "Easy.", ...answer("Four"), usage: { input: 700, output: 30 } }]);
      expect(step.stderr).toContain("ACTION: new_answer");
      expect(step.code).toBe(0);
      expect(step.session.read("agent_a/001/answer.json")).toMatchObject({ agent_id: "agent_a", answer: "Four" });
      expect(step.session.read("agent_a/last_action.json")).toMatchObject({ cost: { input_tokens: 700, output_tokens: 30 } });
      const [request] = step.requests;
      expect(request?.path).toMatch(wire.path);
      expect(request?.text).toContain("What is 2+2?");
      const expected = { openai: keys.OPENAI_API_KEY, claude: keys.ANTHROPIC_API_KEY, gemini: keys.GEMINI_API_KEY, grok: keys.XAI_API_KEY };
      expect(request?.key).toBe(expected[wire.type as "openai"] ?? null);
    });

    test("a vote names the agent behind the label", async () => {
      await using session = createSession();
      session.answer("agent_b", 1, "Five");
      session.answer("agent_c", 1, "Four");
      await using server = startWireServer(wire, [voteFor("Four")]);
      const { code } = await session.step({ type: wire.type, baseUrl: server.baseUrl });
      expect(code).toBe(0);
      expect(session.read("agent_a/001/vote.json")).toMatchObject({
        voter: "agent_a",
        target: "agent_c",
        reason: "correct",
        seen_steps: { agent_b: 1, agent_c: 1 },
      });
    });

    test("tools are used, and their results go back to the model", async () => {
      await using step = await run(wire, [{ calls: [write("a/index.html", "<h1>4</h1>")] }, answer("See a/index.html")]);
      expect(step.code).toBe(0);
      expect(step.session.files()).toEqual(["agent_a/001/answer.json", "agent_a/001/workspace/a/index.html", "agent_a/last_action.json"]);
      expect(step.requests[1]?.text).toContain("wrote a/index.html (10 bytes)");
    });

    test("parallel calls are all run, in order, before the answer that comes with them", async () => {
      const calls = [write("a.txt", "one"), write("b.txt", "two"), write("a.txt", "three"), ...answer("Done").calls];
      await using step = await run(wire, [{ calls }]);
      expect(step.code).toBe(0);
      const workspace = join(step.session.path, "agents/agent_a/001/workspace");
      expect(["a.txt", "b.txt"].map((name) => readFileSync(join(workspace, name), "utf8"))).toEqual(["three", "two"]);
      expect(step.requests).toHaveLength(1);
    });

    test("a refusal is a failure of the model, at once", async () => {
      await using step = await run(wire, [{ refuse: true }]);
      expect(step).toMatchObject({ code: 2, failureClass: "model" });
      expect(step.message).toContain("refused");
      expect(step.requests).toHaveLength(1);
    });

    test("a wrong key is named, and not tried again", async () => {
      await using step = await run(wire, [{ fail: "key" }]);
      expect(step).toMatchObject({ code: 1, failureClass: "auth" });
      expect(step.requests).toHaveLength(1);
    });

    test("a limit is waited for as long as the provider asks", async () => {
      await using step = await run(wire, [{ fail: "quota", headers: { "retry-after": "7" } }, answer("Four")]);
      expect({ code: step.code, waits: step.waits }).toEqual({ code: 0, waits: [7] });
    });

    test("a limit that lasts is left to the host, with the time that it asks for", async () => {
      await using step = await run(wire, [{ fail: "quota", headers: { "retry-after": "120" } }]);
      expect(step).toMatchObject({ code: 2, failureClass: "quota", waits: [] });
      expect(step.message).toStartWith("retry after 120 s: 429: ");
    });

    test("an empty account is a matter of quota that no waiting helps", async () => {
      await using step = await run(wire, [{ fail: "empty account" }]);
      expect(step).toMatchObject({ code: 2, failureClass: "quota", waits: [] });
      expect(step.requests).toHaveLength(1);
    });

    test("a fault of the server passes, or ends the step after some attempts", async () => {
      await using once = await run(wire, [{ fail: "server" }, { html: true }, answer("Four")]);
      expect({ code: once.code, waits: once.waits }).toEqual({ code: 0, waits: [1, 2] });
      await using always = await run(wire, [{ fail: "server" }], { limits: { attempts: 3 } });
      expect(always).toMatchObject({ code: 2, failureClass: "model", waits: [1, 2] });
      expect(always.message).toStartWith("500: ");
      expect(always.session.files()).toEqual([]);
    });

    test("a stream that breaks off counts for nothing, and is asked for again", async () => {
      await using once = await run(wire, [{ ...answer("Fou"), cut: true }, answer("Four")]);
      expect(once.code).toBe(0);
      expect(once.session.read("agent_a/001/answer.json")).toMatchObject({ answer: "Four" });
      await using always = await run(wire, [{ ...answer("Fou"), cut: true }], { limits: { attempts: 2 } });
      expect(always).toMatchObject({ code: 2, failureClass: "model" });
      expect(always.message).toMatch(/broke off|ended without a finish reason/);
    });

    test("a stream that stands still ends in a timeout", async () => {
      await using step = await run(wire, [{ hang: true }], { limits: { silence_seconds: 0.1, attempts: 2 } });
      expect(step).toMatchObject({ code: 3, failureClass: "timeout" });
      expect(step.requests).toHaveLength(2);
      // Also where more attempts at other accidents are left.
      await using patient = await run(wire, [{ fail: "server" }, { hang: true }], { limits: { silence_seconds: 0.1, attempts: 9 } });
      expect(patient).toMatchObject({ code: 3, failureClass: "timeout" });
      expect(patient.requests).toHaveLength(3);
    });

    test("what a reply has cost that was not counted to its end stays unknown; a refusal costs nothing", async () => {
      // Such a server costs nothing, counted or not.
      if (wire.type === "vllm") return;
      const price = "price: { input: 10, output: 100 }\n";
      const accidents = [{ ...answer("Fou"), cut: true }, { garble: true }, { hang: true }] as const;
      for (const accident of accidents) {
        await using step = await run(wire, [accident, answer("Four")], { limits: { silence_seconds: 0.1 }, config: price });
        expect(costOf(step.session)).toMatchObject({ usd: expect.any(Number), incomplete: true });
        expect(step.session.read("agent_a/last_action.json")?.cost).not.toHaveProperty("estimated_cost");
        await using failed = await run(wire, [accident], { limits: { silence_seconds: 0.1, attempts: 1 }, config: price });
        expect(failed.code).not.toBe(0);
        const cost = costOf(failed.session);
        expect(cost?.usd === null || cost?.incomplete).toBe(true);
      }
      let stop: (cause: string) => void = () => {};
      const stopped = () => {
        setTimeout(() => stop("SIGTERM"), 50);
        return { hang: true } as const;
      };
      const stopper = (end: typeof stop) => {
        stop = end;
      };
      await using ended = await run(wire, [stopped], { config: price, stopper });
      expect(costOf(ended.session)).toEqual(unknownCost);
      const closing = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: (socket) => void socket.end() } });
      await using dropped = createSession();
      await dropped.step({ type: wire.type, baseUrl: `http://127.0.0.1:${closing.port}/v1`, limits: { attempts: 1 }, config: price });
      expect(costOf(dropped)).toEqual(unknownCost);
      closing.stop();
      await using refused = await run(wire, [{ fail: "quota", headers: { "retry-after": "1" } }, answer("Four")], { config: price });
      expect(costOf(refused.session)).toEqual({ usd: 0.02, inputTokens: 1000, outputTokens: 100 });
      await using wrong = await run(wire, [{ fail: "key" }]);
      expect(costOf(wrong.session)).toEqual({ usd: 0, inputTokens: 0, outputTokens: 0 });
    });

    test("JSON that is none is an accident of the provider", async () => {
      await using once = await run(wire, [{ garble: true }, answer("Four")]);
      expect(once.code).toBe(0);
      await using always = await run(wire, [{ garble: true }], { limits: { attempts: 2 } });
      expect(always).toMatchObject({ code: 2, failureClass: "model" });
    });

    test("a prompt that is too long, and a model that does not exist, are not tried again", async () => {
      for (const kind of ["context", "model"] as const) {
        await using step = await run(wire, [{ fail: kind }]);
        expect(step).toMatchObject({ code: 2, failureClass: "model" });
        expect(step.requests).toHaveLength(1);
      }
    });
  });
}

describe("what a provider is asked", () => {
  const asked: Readonly<Record<string, { readonly model: string; readonly body: object }>> = {
    openai: {
      model: "gpt-5.4",
      body: { store: false, stream: true, reasoning: { effort: "high" }, include: ["reasoning.encrypted_content"] },
    },
    claude: {
      model: "claude-opus-4-6",
      body: { stream: true, max_tokens: 64_000, output_config: { effort: "high" }, tool_choice: { type: "auto" } },
    },
    gemini: { model: "gemini-3.1-pro-preview", body: { generationConfig: { thinkingConfig: { thinkingLevel: "high" } } } },
    grok: { model: "grok-4", body: { store: false, stream: true, reasoning: { effort: "high" } } },
    vllm: { model: "qwen3", body: { stream: true, stream_options: { include_usage: true }, reasoning_effort: "high" } },
  };
  for (const wire of wires) {
    test(`${wire.name}: effort, and nothing kept that need not be`, async () => {
      const { model = "", body = {} } = asked[wire.type] ?? {};
      await using step = await run(wire, [answer("Four")], { model, backend: "      reasoning: { effort: high }\n" });
      expect(step.code).toBe(0);
      expect(step.requests[0]?.body).toMatchObject(body);
    });
  }

  test("Anthropic: what comes before each turn is to be kept in its cache, and paid as such", async () => {
    const [, anthropic] = wires;
    if (anthropic?.type !== "claude") throw new Error("not Anthropic");
    await using step = await run(anthropic, [{ calls: [write("a.txt", "b")] }, answer("Four")]);
    for (const { text } of step.requests) expect(text.match(/"cache_control":{"type":"ephemeral"}/g)).toHaveLength(2);
    expect(step.requests[1]?.body.messages).toHaveLength(3);
  });
});
