import { expect, test } from "bun:test";
import { answerLimits } from "../../../src/view/report/answers.ts";
import { elementsOf, renderMade, textOf } from "./support.ts";

const megabytes = (page: string) => Buffer.byteLength(page) / 1e6;

test("a hundred agents with a hundred rounds and long answers make a page of a few megabytes", async () => {
  const long = "A sentence of an answer, *with* `code`.\n\n".repeat(500);
  const page = await renderMade({
    agents: 100,
    rounds: 100,
    text: (place) => (place === "answer" ? long : `${place} `.repeat(place === "reason" ? 100 : 1)),
  });
  expect(megabytes(page)).toBeLessThan(5);
  expect(textOf(page)).toContain("42 earlier answers");
}, 60_000);

test("an answer of megabytes is cut, with a link to the whole", async () => {
  const page = await renderMade({ agents: 2, rounds: 2, text: (place) => (place === "answer" ? "word ".repeat(1_000_000) : place) });
  expect(megabytes(page)).toBeLessThan(3 * (answerLimits.chosen / 1e6) + 0.2);
  expect(textOf(page)).toContain("longer than what is shown here");
  expect(elementsOf(page).flatMap(({ attributes }) => attributes.href ?? [])).toContain("synthesis/final_answer.md");
});

test("long texts of every kind are cut", async () => {
  const page = await renderMade({
    agents: 3,
    rounds: 3,
    text: (place) => (place === "answer" || place === "file" ? place : place + "x".repeat(1_000_000)),
  });
  expect(megabytes(page)).toBeLessThan(3);
});
