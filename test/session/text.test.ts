import { expect, test } from "bun:test";
import { neutralise } from "../../src/session/text.ts";

const cases: [title: string, text: string, harmless: string][] = [
  ["ordinary text, accents, emoji and joiners stay", "Hé 👩‍👩‍👧 €\n\ttab", "Hé 👩‍👩‍👧 €\n\ttab"],
  ["colours go", "\x1b[31mred\x1b[0m \x1b[1;38;5;200mx", "red x"],
  ["other escapes become visible", "\x1b]0;title\x07 \x1b[2J \x1b[?1049h", "␛]0;title␇ ␛[2J ␛[?1049h"],
  ["a lone carriage return cannot overwrite the line, one before a line feed goes", "good\rbad\r\n", "good␍bad\n"],
  ["backspace, delete and NUL become visible", "a\bb\x7fc\0", "a␈b␡c␀"],
  ["8-bit escapes become visible", "\x9b31m \x85", "<9B>31m <85>"],
  ["text cannot turn its direction", "user\u202e gnp.exe\u2066x\u2069\u200f", "user<202E> gnp.exe<2066>x<2069><200F>"],
  ["hidden tags become visible", "a\u{e0041}b", "a<E0041>b"],
];
for (const [title, text, harmless] of cases) test(title, () => expect(neutralise(text)).toBe(harmless));
