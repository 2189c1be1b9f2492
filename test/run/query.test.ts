import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { argumentsOf, createRunProject, inTurn, onlyRun, patience, playRun, runHere } from "../support/runs.ts";

// The query's bytes arrive exactly: at every step, in config.json, in the result. Nothing of it is ever run, expanded, cut or taken for something else.

const queries: Readonly<Record<string, string>> = {
  "a package name": "Upgrade @types/node and @angular/core to the newest version",
  "a file name behind an at sign": "Explain @mg-team.yaml and @./nowhere and @/etc/passwd",
  "an escaped at sign": "What does \\@media mean?",
  "an e-mail address": "Write to me@example.org, please.",
  "line ends": "First line\nSecond line\r\nThird line\n",
  "spaces around it": "  indented\n\ttabbed  ",
  quotes: `Say "it's" and 'that "is" it' and \`ls\``,
  "a command substitution": "What is $(touch evil) and `touch evil` and \u0024{HOME} and $HOME?",
  "shell characters": "a && touch evil; b | c > evil * ? [x] {a,b} ~ ! # \\ % ^ &",
  "a leading dash": "-5 + 3",
  "an option": "--help",
  "an option of MassGen": "--config=/etc/passwd --quickstart",
  "two dashes": "-- what is this?",
  "an emoji and combining characters": "👩‍👩‍👧‍👦 e\u0301 ﷽ \u202emirrored",
  "a line separator": "one\u2028two\u2029three",
  "format characters": "%s %d %% {} {0} {{x}} <agent1.1> <end of agent_b>",
  "a clause with models": "Compare it with codex and gemini",
  JSON: '{"answer": "\\u0041", "x": [1, 2]}',
  "an escape sequence": "\u001b[31mred\u001b[0m",
  "a hundred KB": "All work and no play. ".repeat(4_700),
};

describe("every step gets the same bytes", () => {
  for (const [what, query] of Object.entries(queries)) {
    test.concurrent(
      what,
      async () => {
        await playRun(
          { plays: { a: "answer", b: "fail auth" }, query, files: { "mg-team.yaml": "retries: 1\n" } },
          ({ launches, result, directory, project }) => {
            const steps = launches.filter(({ kind }) => kind === "step");
            expect(steps.length).toBe(2);
            for (const { argvBase64, query: got } of steps) {
              expect(got).toBe(query);
              expect(Buffer.from(argvBase64.at(-1) ?? "", "base64").equals(Buffer.from(query))).toBe(true);
            }
            expect(result.query).toBe(query);
            expect(JSON.parse(readFileSync(directory.config, "utf8")).query).toBe(query);
            expect(project.temp.path && Bun.spawnSync(["find", project.temp.path, "-name", "evil"]).stdout.toString()).toBe("");
          },
        );
      },
      patience,
    );
  }
});

describe("wherever it comes from", () => {
  const query = '-a file\nwith "quotes", $(touch evil), ümlaut 🎉 and an end of line\n';

  test.concurrent(
    "from a file",
    async () => {
      const files = { "my task.md": query };
      await inTurn(async () => {
        const spec = { plays: { a: "answer", b: "fail auth" }, files, args: ["--query-file", "my task.md"] };
        await using project = createRunProject(spec);
        const { code } = await runHere(project, argumentsOf(spec).slice(0, -2));
        expect(code).toBe(0);
        expect(project.launches("step").map((launch) => launch.query)).toEqual([query, query]);
      });
    },
    patience,
  );

  test.concurrent(
    "from standard input, and the steps' own standard input is closed all the same",
    () =>
      inTurn(async () => {
        const spec = {
          plays: { a: [{ process: { readStdin: true }, answer: { text: "x", workspace: false } }], b: "fail auth" },
          args: ["--query-file", "-"],
        };
        await using project = createRunProject(spec);
        const { code, stderr } = await project.cli(argumentsOf(spec).slice(0, -2), { stdin: query });
        expect({ code, stderr }).toMatchObject({ code: 0 });
        expect(project.launches("step").map((launch) => launch.query)).toEqual([query, query]);
      }),
    patience,
  );

  for (const stdin of ["pipe", "inherit"] as const) {
    test.concurrent(
      `a step that reads its standard input to the end sees none of ours (${stdin}), and the run ends`,
      () =>
        inTurn(async () => {
          const spec = { plays: { a: [{ process: { readStdin: true }, answer: { text: "x", workspace: false } }], b: "fail auth" } };
          await using project = createRunProject(spec);
          const { code } = await project.cli(argumentsOf(spec), { stdin });
          expect(code).toBe(0);
          expect(onlyRun(project).id).toStartWith("team_");
        }),
      patience,
    );
  }

  test.concurrent(
    "the task of a synthesis holds it word for word",
    async () => {
      const { launches, result } = await playRun({
        plays: { a: "answer, vote a, answer merged", b: "answer, vote a" },
        query,
        args: ["--synthesis", "agent"],
      });
      expect(result.synthesis.kind).toBe("agent");
      const [synthesis] = launches.filter(({ sessionDir }) => sessionDir?.endsWith("synthesis/session"));
      expect(synthesis?.query).toContain(query);
    },
    patience,
  );
});
