import { describe, expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { createCostReader } from "../../../src/engine/massgen/cost.ts";
import { temporaryDirectory } from "../../support/temp.ts";

const status = (usd: unknown, input: unknown = 10, output: unknown = 1) =>
  JSON.stringify({ costs: { total_estimated_cost: usd, total_input_tokens: input, total_output_tokens: output } });
const metrics = (usd: unknown, input: unknown = 20, output: unknown = 2) =>
  JSON.stringify({ totals: { estimated_cost: usd, input_tokens: input, output_tokens: output } });
const log = ".massgen/massgen_logs/log_20260101_000000_000001";

describe("the cost of a step", () => {
  test("is nothing to tell before it reports", async () => {
    await using run = temporaryDirectory();
    expect(createCostReader(run.path, "agent_a", null).read()).toBeNull();
    run.write(`${log}/turn_1/attempt_1/other.json`, "{}");
    expect(createCostReader(run.path, "agent_a", null).read()).toBeNull();
  });

  test("is read while it runs, and from the summary once that is there", async () => {
    await using run = temporaryDirectory();
    const reader = createCostReader(run.path, "agent_a", null);
    run.write(`${log}/turn_1/attempt_1/status.json`, status(0.1));
    reader.logDir(run.join(log));
    expect(reader.read()).toEqual({ usd: 0.1, inputTokens: 10, outputTokens: 1 });
    run.write(`${log}/turn_1/attempt_1/status.json`, status(0.15, 11));
    expect(reader.read()).toEqual({ usd: 0.15, inputTokens: 11, outputTokens: 1 });
    run.write(`${log}/turn_1/attempt_1/metrics_summary.json`, metrics(0.2));
    expect(reader.read()).toEqual({ usd: 0.2, inputTokens: 20, outputTokens: 2 });
    expect(reader.warnings).toEqual([]);
  });

  test("stays what it was while a file is half-written", async () => {
    await using run = temporaryDirectory();
    const reader = createCostReader(run.path, "agent_a", null);
    run.write(`${log}/turn_1/attempt_1/status.json`, status(0.1));
    reader.read();
    run.write(`${log}/turn_1/attempt_1/status.json`, status(0.2).slice(0, 30));
    run.write(`${log}/turn_1/attempt_1/metrics_summary.json`, "");
    expect(reader.read()?.usd).toBe(0.1);
  });

  test("of a report that is a link in a circle is unknown, and the other report counts", async () => {
    await using run = temporaryDirectory();
    run.write(`${log}/turn_1/attempt_1/status.json`, status(0.1));
    symlinkSync("metrics_summary.json", run.join(log, "turn_1/attempt_1/metrics_summary.json"));
    expect(createCostReader(run.path, "agent_a", null).read()?.usd).toBe(0.1);
    run.write(`${log}/turn_2/x`, "");
    symlinkSync("attempt_1", run.join(log, "turn_2/attempt_1"));
    expect(createCostReader(run.path, "agent_a", null).read()?.usd).toBe(0.1);
    const other = run.join("other");
    run.write(`other/${log}/turn_1/attempt_1/x`, "");
    symlinkSync("status.json", run.join("other", log, "turn_1/attempt_1/status.json"));
    expect(createCostReader(other, "agent_a", null).read()).toBeNull();
  });

  test("is that of the last turn and attempt with a report, not a sum", async () => {
    await using run = temporaryDirectory();
    run.write(`${log}/turn_1/attempt_9/metrics_summary.json`, metrics(0.9));
    run.write(`${log}/turn_1/attempt_10/status.json`, status(1.0));
    expect(createCostReader(run.path, "agent_a", null).read()?.usd).toBe(1.0);
    run.write(`${log}/turn_2/attempt_1/x`, "");
    expect(createCostReader(run.path, "agent_a", null).read()?.usd).toBe(1.0);
    run.write(`${log}/turn_10/attempt_1/status.json`, status(3));
    expect(createCostReader(run.path, "agent_a", null).read()?.usd).toBe(3);
  });

  test("without a LOG_DIR line is found in the newest log", async () => {
    await using run = temporaryDirectory();
    run.write(`${log}/turn_1/attempt_1/status.json`, status(0.1));
    run.write(".massgen/massgen_logs/log_20260102_000000_000000/turn_1/attempt_1/status.json", status(0.2));
    expect(createCostReader(run.path, "agent_a", null).read()?.usd).toBe(0.2);
  });

  test("with the NaN that Python writes is unknown, with a warning, and its tokens count", async () => {
    await using run = temporaryDirectory();
    run.write(`${log}/turn_1/attempt_1/metrics_summary.json`, metrics("@").replace('"@"', "NaN"));
    const reader = createCostReader(run.path, "agent_a", null);
    expect(reader.read()).toEqual({ usd: null, inputTokens: 20, outputTokens: 2 });
    expect(reader.warnings).toEqual(['agent_a: its reported cost is "NaN", no amount of dollars; it counts as unknown']);
  });

  test.each([["a lot"], [-1], [1e6], [null]])("of %j is unknown, with one warning", async (usd) => {
    await using run = temporaryDirectory();
    const reader = createCostReader(run.path, "agent_a", null);
    run.write(`${log}/turn_1/attempt_1/status.json`, status(usd));
    expect(reader.read()?.usd).toBeNull();
    run.write(`${log}/turn_1/attempt_1/status.json`, status(usd, 12));
    expect(reader.read()).toEqual({ usd: null, inputTokens: 12, outputTokens: 1 });
    expect(reader.warnings).toHaveLength(1);
  });

  test("takes the price of the config when MassGen has none", async () => {
    await using run = temporaryDirectory();
    run.write(`${log}/turn_1/attempt_1/status.json`, status(0, 1_000_000, 1_000_000));
    expect(createCostReader(run.path, "agent_a", { input: 3, output: 15 }).read()?.usd).toBe(18);
  });

  test.each(["[]", "3", '"x"', '{"totals": []}', '{"totals": null}', "{}"])("is not read from %s", async (text) => {
    await using run = temporaryDirectory();
    run.write(`${log}/turn_1/attempt_1/metrics_summary.json`, text);
    expect(createCostReader(run.path, "agent_a", null).read()).toBeNull();
  });
});

describe("the log directory", () => {
  test("that a child names elsewhere is ignored, with a warning; the own one is still found", async () => {
    await using other = temporaryDirectory();
    await using run = temporaryDirectory();
    other.write("turn_1/attempt_1/status.json", status(5000));
    run.write(`${log}/turn_1/attempt_1/status.json`, status(0.1));
    symlinkSync(other.path, run.join("link"));
    for (const path of [other.path, run.join("link"), run.join("..", ".."), run.path, "/nowhere", ""]) {
      const reader = createCostReader(run.path, "agent_a", null);
      reader.logDir(path);
      expect(reader.read()?.usd).toBe(0.1);
      expect(reader.warnings).toHaveLength(1);
    }
  });

  test("is never left by a link", async () => {
    await using other = temporaryDirectory();
    await using run = temporaryDirectory();
    const file = other.write("status.json", status(5000));
    run.write(`${log}/turn_1/attempt_1/x`, "");
    symlinkSync(file, run.join(log, "turn_1/attempt_1/status.json"));
    expect(createCostReader(run.path, "agent_a", null).read()).toBeNull();
  });

  test("that was named first stays", async () => {
    await using run = temporaryDirectory();
    run.write("one/turn_1/attempt_1/status.json", status(1));
    run.write("two/turn_1/attempt_1/status.json", status(2));
    const reader = createCostReader(run.path, "agent_a", null);
    reader.logDir(run.join("one"));
    reader.logDir(run.join("two"));
    expect(reader.read()?.usd).toBe(1);
  });
});
