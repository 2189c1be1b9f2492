import { expect, test } from "bun:test";
import { lastWords, plainLine } from "../../../src/engine/massgen/words.ts";

test("a line loses colours, control characters and whatever turns text around", () => {
  expect(plainLine("\u001b[31m\u001b[1mERROR\u001b[0m\t a\u0000b\r\nc \u202egpj.exe \u2066x\u2069 ")).toBe("ERROR a b c gpj.exe x");
});

test("a long line is cut at its limit, never inside a character", () => {
  expect(plainLine("x".repeat(1_000_000), 300)).toBe(`${"x".repeat(299)}…`);
  const cut = plainLine(`${"x".repeat(298)}👍👍`, 300);
  expect(cut.isWellFormed()).toBe(true);
  expect(cut.length).toBeLessThanOrEqual(300);
});

test("last words are the end of a text, from a whole word on", () => {
  expect(lastWords("short\ntext")).toBe("short text");
  const words = lastWords(`${"word ".repeat(200)}the end`, 40);
  expect(words).toMatch(/^…word .* the end$/);
  expect(words.length).toBeLessThanOrEqual(40);
});
