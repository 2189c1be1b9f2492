import type { Check } from "./check.ts";

/** Files with nothing in them, except those whose presence is their meaning. */
export const emptyCheck: Check = {
  name: "empty",
  applies: ({ name }) => !/^(__init__\.pyi?|py\.typed|\..*|.*\.(keep|lock|log))$/.test(name),
  run: ({ text }) => (text.trim() === "" ? [{ line: 0, message: text === "" ? "is empty" : "holds nothing but white space" }] : []),
};

/** What git leaves in a file where two versions were not reconciled: both marks must be there, and each on a line of its own. */
export const conflictCheck: Check = {
  name: "conflict",
  applies: () => true,
  run({ text }) {
    if (!/^>{7} /m.test(text)) return [];
    return text
      .split("\n")
      .flatMap((line, index) => (/^<{7} /.test(line) ? [{ line: index + 1, message: "a merge conflict is left" }] : []));
  },
};

/** Characters that have no place in a text file. */
export const charactersCheck: Check = {
  name: "characters",
  applies: () => true,
  run({ text }) {
    const line = text.split("\n").findIndex((row) => row.includes("\0"));
    return line === -1 ? [] : [{ line: line + 1, message: "a NUL byte is in the text" }];
  },
};
