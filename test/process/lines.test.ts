import { describe, expect, test } from "bun:test";
import { LineSplitter, lineCapBytes } from "../../src/process/lines.ts";

function split(...chunks: (string | Uint8Array)[]): string[] {
  const lines: string[] = [];
  const splitter = new LineSplitter((line) => lines.push(line));
  for (const chunk of chunks) splitter.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
  splitter.flush();
  return lines;
}

describe("lines (fault 10)", () => {
  const cases: [string, (string | Uint8Array)[], string[]][] = [
    ["end at a line feed, also empty ones", ["a\n\nb\n"], ["a", "", "b"]],
    ["without a last line feed are delivered at the end", ["a\nb"], ["a", "b"]],
    ["lose one carriage return at their end, only one, and none inside", ["a\r\nb\r\r\nc\rd\n"], ["a", "b\r", "c\rd"]],
    ["lose a carriage return that came in another chunk than its line feed", ["a\r", "\nb"], ["a", "b"]],
    ["do not end at U+2028, U+2029, U+0085, vertical tab or form feed", ["{\u2028\u2029\u0085\v\f}\n"], ["{\u2028\u2029\u0085\v\f}"]],
    ["keep NUL bytes", ["a\0b\n"], ["a\0b"]],
    ["keep a byte order mark", ["\ufeff{}\n"], ["\ufeff{}"]],
    ["may hold bytes that are not UTF-8", [new Uint8Array([0x61, 0xe9, 0x62, 10])], ["a\ufffdb"]],
    ["join a character that was split between chunks", [new Uint8Array([0xe2, 0x82]), new Uint8Array([0xac, 10])], ["€"]],
    ["stay apart when a chunk is a single line feed", ["a", "\n", "b", "\n"], ["a", "b"]],
    ["are not made of nothing", ["", ""], []],
  ];
  for (const [title, chunks, lines] of cases) test(title, () => expect(split(...chunks)).toEqual(lines));

  test("are the same however the bytes are cut into chunks", () => {
    const bytes = Buffer.from("é€😀\r\n\n{\u2028}\r\r\nlast 😀");
    const whole = split(bytes);
    for (let size = 1; size < bytes.length; size++) {
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
      expect(split(...chunks)).toEqual(whole);
    }
  });

  test("may live in a buffer that is used again", () => {
    const lines: string[] = [];
    const splitter = new LineSplitter((line) => lines.push(line));
    const buffer = Buffer.from("abc");
    splitter.push(buffer);
    buffer.write("xyz");
    splitter.push(Buffer.from("\n"));
    expect(lines).toEqual(["abc"]);
  });
});

describe("a line longer than the cap (fault 9)", () => {
  test("is cut there, says how much is missing, and the next one is whole", () => {
    const extra = 12345;
    for (const chunk of [lineCapBytes + extra, 65536]) {
      const long = Buffer.alloc(lineCapBytes + extra, "x");
      const chunks = Array.from({ length: Math.ceil(long.length / chunk) }, (_, at) => long.subarray(at * chunk, (at + 1) * chunk));
      const [first, second] = split(...chunks, "\nnext\n");
      expect(first).toBe(`${"x".repeat(lineCapBytes)}… (${extra} bytes more)`);
      expect(second).toBe("next");
    }
  });

  test("of exactly the cap is whole", () => expect(split(`${"x".repeat(lineCapBytes)}\n`)).toEqual(["x".repeat(lineCapBytes)]));

  test("is not cut inside a character", () => {
    const [line] = split(`${"x".repeat(lineCapBytes - 1)}😀tail`);
    expect(line).toBe(`${"x".repeat(lineCapBytes - 1)}… (8 bytes more)`);
    expect(split(`${"x".repeat(lineCapBytes - 4)}😀tail`)[0]).toBe(`${"x".repeat(lineCapBytes - 4)}😀… (4 bytes more)`);
  });
});
