import { describe, expect, test } from "bun:test";
import { chmodSync, existsSync, linkSync, lstatSync, mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileTools, runFileTool } from "../../src/native/tools.ts";
import { fileLimits } from "../../src/native/workspace/files.ts";
import type { Places } from "../../src/native/workspace/places.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temp.ts";

interface TestPlace extends AsyncDisposable {
  readonly temp: TemporaryDirectory;
  readonly places: Places;
  /** What the model gets back. */
  call(name: string, input: Readonly<Record<string, unknown>>): Promise<string>;
}

/** A workspace, an answer `agent1` with files, a context that may be read, and one that may be written. */
function createPlace(): TestPlace {
  const temp = temporaryDirectory();
  temp.write("session/agents/agent_b/001/workspace/index.html", "<h1>theirs</h1>");
  temp.write("session/agents/agent_b/001/workspace/js/app.js", "app");
  temp.write("docs/guide.md", "guide");
  temp.write("shared/notes.md", "notes");
  temp.write("secret.txt", "secret");
  mkdirSync(temp.join("ws"));
  const places: Places = {
    workspace: temp.join("ws"),
    candidates: [
      { label: "agent1", agent: "agent_b", step: 1, text: "Their answer", workspace: temp.join("session/agents/agent_b/001/workspace") },
    ],
    context: [
      { path: temp.join("docs"), permission: "read" },
      { path: temp.join("shared"), permission: "write" },
    ],
    sessionDir: temp.join("session"),
    foreign: new Set(),
  };
  return {
    temp,
    places,
    async call(name, input) {
      const found = fileTools.find((tool) => tool.name === name);
      if (!found) throw new Error(`no tool ${name}`);
      return (await runFileTool(found, input, { places, mark: "123456789012" })).text;
    },
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  };
}

describe("files of the workspace", () => {
  test("are written, read, edited, copied, listed and deleted", async () => {
    await using place = createPlace();
    expect(await place.call("write_file", { path: "a/b.txt", content: "one two two" })).toBe("wrote a/b.txt (11 bytes)");
    expect(await place.call("edit_file", { path: "a/b.txt", old_text: "one", new_text: "$& $1" })).toStartWith("edited a/b.txt");
    expect(await place.call("read_file", { path: "./a//b.txt" })).toBe("a/b.txt, 13 characters:\n$& $1 two two");
    expect(await place.call("copy_file", { from: "a/b.txt", to: "c.txt" })).toBe("copied a/b.txt to c.txt");
    expect(await place.call("list_files", {})).toBe("a/\na/b.txt  13 bytes\nc.txt  13 bytes");
    expect(await place.call("delete_file", { path: "a" })).toBe("deleted a");
    expect(await place.call("list_files", { path: "." })).toBe("c.txt  13 bytes");
  });

  test("are edited only where the text is unambiguous, or everywhere on demand", async () => {
    await using place = createPlace();
    await place.call("write_file", { path: "t.txt", content: "two two" });
    expect(await place.call("edit_file", { path: "t.txt", old_text: "two", new_text: "x" })).toContain("stands 2 times");
    expect(await place.call("edit_file", { path: "t.txt", old_text: "three", new_text: "x" })).toContain("does not stand in");
    expect(await place.call("edit_file", { path: "t.txt", old_text: "", new_text: "x" })).toContain("old_text is empty");
    expect(await place.call("edit_file", { path: "t.txt", old_text: "two", new_text: "$$", replace_all: true })).toContain("2 places");
    expect(readFileSync(place.temp.join("ws/t.txt"), "utf8")).toBe("$$ $$");
  });

  test("keep the bits of a script, and one that begins with #! can be run by its reader", async () => {
    await using place = createPlace();
    await place.call("write_file", { path: "run.sh", content: "#!/bin/sh\n" });
    await place.call("edit_file", { path: "run.sh", old_text: "sh", new_text: "bash" });
    expect(lstatSync(place.temp.join("ws/run.sh")).mode & 0o111).toBe(0o111);
  });

  test("are read in parts when they are long, and not at all when they are no text", async () => {
    await using place = createPlace();
    writeFileSync(place.temp.join("ws/long.txt"), "x".repeat(fileLimits.shown + 5));
    writeFileSync(place.temp.join("ws/image.png"), "\u0089PNG\0\0");
    expect(await place.call("read_file", { path: "long.txt" })).toStartWith(
      `long.txt, characters 0 to ${fileLimits.shown} of ${fileLimits.shown + 5}:`,
    );
    expect(await place.call("read_file", { path: "long.txt", offset: fileLimits.shown })).toEndWith(":\nxxxxx");
    expect(await place.call("read_file", { path: "image.png" })).toContain("is no text");
    expect(await place.call("read_file", { path: "." })).toContain("is a directory");
  });

  test("have limits on size", async () => {
    await using place = createPlace();
    writeFileSync(place.temp.join("ws/big.bin"), "");
    truncateSync(place.temp.join("ws/big.bin"), fileLimits.workspace - 10);
    expect(await place.call("write_file", { path: "a.txt", content: "more than ten bytes" })).toContain("the workspace is full");
    expect(await place.call("read_file", { path: "big.bin" })).toContain("is larger than 16 MiB");
    expect(await place.call("copy_file", { from: "big.bin", to: "b.bin" })).toContain("is larger than 256 MiB");
  });

  test("half a character in a text becomes U+FFFD, which every program can read", async () => {
    await using place = createPlace();
    await place.call("write_file", { path: "a.txt", content: "a\ud83d" });
    expect(readFileSync(place.temp.join("ws/a.txt"), "utf8")).toBe("a\ufffd");
  });
});

describe("bytes that the model did not mean to change", () => {
  test("stay as they are: a file that is not UTF-8 is refused, a byte order mark is kept", async () => {
    await using place = createPlace();
    const path = place.temp.join("shared/data.txt");
    for (const bytes of [
      Buffer.from("name=M\xfcller\ntotal=1\n", "latin1"),
      Buffer.from("total=1\0"),
      Buffer.from("\ufefftotal=1", "utf16le"),
    ]) {
      writeFileSync(path, bytes);
      expect(await place.call("edit_file", { path, old_text: "total=1", new_text: "total=2" })).toStartWith("Error: ");
      expect(readFileSync(path).equals(bytes)).toBe(true);
    }
    writeFileSync(path, "\ufeffa,b\r\n1,2\r\n");
    expect(await place.call("edit_file", { path, old_text: "1,2", new_text: "1,3" })).toStartWith("edited ");
    expect(readFileSync(path, "utf8")).toBe("\ufeffa,b\r\n1,3\r\n");
  });

  test("stay as they are where they are shown otherwise: marks and hidden characters", async () => {
    await using place = createPlace();
    const path = place.temp.join("shared/template.jinja");
    const text = "a\u202eb<|im_start|>system\n{{ x }}<|im_end|>\n<|im_start|>user\n\u{e0041}{{ x }}<|im_end|>\n";
    writeFileSync(path, text);
    const shown = await place.call("read_file", { path });
    expect(shown).toContain("shown broken up");
    expect(shown).toContain("ab‹|im_start|>system\n{{ x }}‹|im_end|>\n‹|im_start|>user\n{{ x }}‹|im_end|>\n");
    const edit = (old_text: string, new_text: string, replace_all = false) =>
      place.call("edit_file", { path, old_text, new_text, replace_all });
    expect(await edit("‹|im_end|>", "x")).toContain("2 times");
    expect(await edit("b‹|im_start|>system\n{{ x }}", "c‹|im_start|>system\n{{ y }}")).toStartWith("edited ");
    expect(readFileSync(path, "utf8")).toBe(text.replace("b<|im_start|>system\n{{ x }}", "c<|im_start|>system\n{{ y }}"));
    expect(await edit("‹|im_end|>\n", "‹|im_end|>\n\n", true)).toStartWith("edited ");
    expect(readFileSync(path, "utf8")).toBe(
      "a\u202ec<|im_start|>system\n{{ y }}<|im_end|>\n\n<|im_start|>user\n\u{e0041}{{ x }}<|im_end|>\n\n",
    );
  });
});

describe("what the file system refuses", () => {
  test.skipIf(process.getuid?.() === 0)("is told to the model and ends nothing: a directory that may not be read", async () => {
    await using place = createPlace();
    const closed = place.temp.join("docs/private");
    mkdirSync(closed);
    chmodSync(closed, 0);
    try {
      expect(await place.call("list_files", { path: closed })).toContain("cannot be read");
      expect(await place.call("copy_file", { from: closed, to: "p" })).toStartWith("Error: ");
      expect(await place.call("copy_file", { from: place.temp.join("docs"), to: "p" })).toContain("copied 1 file");
    } finally {
      chmodSync(closed, 0o700);
    }
  });

  test("is told to the model and ends nothing, whatever tool and whatever it is", async () => {
    await using place = createPlace();
    const places: Places = {
      ...place.places,
      get context(): Places["context"] {
        throw Object.assign(new Error("EACCES: permission denied, scandir '/session/agents/agent_b'"), { code: "EACCES" });
      },
    };
    for (const tool of fileTools) {
      const input = { path: "/x", from: "/x", to: "y", content: "", old_text: "a", new_text: "b" };
      const { text, failed } = await runFileTool(tool, input, { places, mark: "1" });
      expect([tool.name, failed, text]).toEqual([tool.name, true, "Error: the file system refuses it (EACCES)"]);
    }
  });
});

describe("files of others", () => {
  test("are taken over whatever else is there: names that no path can say are left out, files that cannot be written are named", async () => {
    await using place = createPlace();
    const theirs = place.temp.join("session/agents/agent_b/001/workspace");
    for (const name of ["a\\b.txt", "a\nb.txt", "\u0001"]) writeFileSync(join(theirs, name), "x");
    place.temp.write("session/agents/agent_b/001/workspace/zz/last.txt", "last");
    expect(await place.call("copy_file", { from: "@agent1", to: "." })).toBe("copied 3 files from @agent1; left out: �, a b.txt, a\\b.txt");
    expect(readFileSync(place.temp.join("ws/zz/last.txt"), "utf8")).toBe("last");
    await place.call("write_file", { path: "again/js", content: "a file in the place of a directory" });
    const again = await place.call("copy_file", { from: "@agent1", to: "again" });
    expect(again).toStartWith("Error: copied 2 files from @agent1; left out: ");
    expect(again).toContain("1 file could not be copied: again/js/app.js");
    expect(existsSync(place.temp.join("ws/again/zz/last.txt"))).toBe(true);
  });

  test("are read and taken over by their label, links and what MassGen keeps there left out", async () => {
    await using place = createPlace();
    const theirs = place.temp.join("session/agents/agent_b/001/workspace");
    place.temp.write("session/agents/agent_b/001/workspace/.git/config", "x");
    symlinkSync(place.temp.join("secret.txt"), join(theirs, "link.txt"));
    expect(await place.call("list_files", { path: "@agent1" })).not.toContain(".git/config");
    expect(await place.call("read_file", { path: "@Agent1/index.html" })).toBe(
      "@agent1/index.html, 15 characters:\n<file.123456789012>\n<h1>theirs</h1>\n<end of file.123456789012>",
    );
    expect(await place.call("copy_file", { from: "@agent1", to: "." })).toBe("copied 2 files from @agent1; left out: link.txt");
    expect(existsSync(place.temp.join("ws/js/app.js"))).toBe(true);
    expect(existsSync(place.temp.join("ws/.git"))).toBe(false);
    expect(await place.call("read_file", { path: "@agent1.md" })).toContain("Their answer");
  });

  test("are those that they wrote: what MassGen keeps is left out of its own agents' answers, at every depth, and nowhere else", async () => {
    await using place = createPlace();
    const theirs = "session/agents/agent_b/001";
    for (const path of [".gemini/settings.json", ".cache/x", "js/.cache/x"]) {
      place.temp.write(`${theirs}/workspace/${path}`, "x");
      place.temp.write(`docs/${path}`, "x");
      await place.call("write_file", { path, content: "x" });
    }
    const own = await place.call("list_files", {});
    for (const path of [".gemini/settings.json", ".cache/x", "js/.cache/x"]) expect(own).toContain(path);
    expect(await place.call("copy_file", { from: place.temp.join("docs"), to: "docs" })).toStartWith("copied 4 files");
    place.temp.write(`${theirs}/answer.json`, JSON.stringify({ agent_id: "agent_b", answer: "x" }));
    expect(await place.call("list_files", { path: "@agent1" })).not.toMatch(/gemini|\n\.cache/);
    expect(await place.call("list_files", { path: "@agent1/js" })).toContain(".cache/x");
    expect(await place.call("copy_file", { from: "@agent1", to: "massgen" })).toStartWith("copied 3 files");
    place.temp.write(`${theirs}/answer.json`, JSON.stringify({ agent_id: "agent_b", answer: "x", engine: "mg-team" }));
    expect(await place.call("list_files", { path: "@agent1" })).toContain(".gemini/settings.json");
    expect(await place.call("copy_file", { from: "@agent1", to: "native" })).toStartWith("copied 5 files");
  });

  test("are never changed", async () => {
    await using place = createPlace();
    for (const [name, input] of [
      ["write_file", { path: "@agent1/index.html", content: "x" }],
      ["edit_file", { path: "@agent1/index.html", old_text: "theirs", new_text: "x" }],
      ["copy_file", { from: "@agent1/js/app.js", to: "@agent1/index.html" }],
      ["delete_file", { path: "@agent1/index.html" }],
    ] as const) {
      expect(await place.call(name, input)).toStartWith("Error: ");
    }
    expect(readFileSync(place.temp.join("session/agents/agent_b/001/workspace/index.html"), "utf8")).toBe("<h1>theirs</h1>");
    expect(await place.call("read_file", { path: "@agent2/x" })).toContain("there is no @agent2; the answers are @agent1");
  });
});

describe("the files of the person who asked", () => {
  test("are read by their whole path, and written only where that is allowed", async () => {
    await using place = createPlace();
    const [guide, notes] = [place.temp.join("docs/guide.md"), place.temp.join("shared/notes.md")];
    expect(await place.call("read_file", { path: guide })).toContain("guide");
    expect(await place.call("write_file", { path: guide, content: "x" })).toContain("it may only be read");
    expect(await place.call("write_file", { path: notes, content: "new" })).toStartWith("wrote ");
    expect(await place.call("delete_file", { path: notes })).toContain("only files of your workspace");
    expect(readFileSync(guide, "utf8") + readFileSync(notes, "utf8")).toBe("guidenew");
    expect(await place.call("copy_file", { from: place.temp.join("docs"), to: "docs" })).toBe(
      `copied 1 file from ${place.temp.join("docs")}`,
    );
  });

  test("keep their permissions when they are changed", async () => {
    await using place = createPlace();
    chmodSync(place.temp.join("shared/notes.md"), 0o640);
    await place.call("write_file", { path: place.temp.join("shared/notes.md"), content: "new" });
    expect(lstatSync(place.temp.join("shared/notes.md")).mode & 0o777).toBe(0o640);
  });
});

describe("nothing outside of these places is reached", () => {
  const outside = [
    "../secret.txt",
    "a/../../secret.txt",
    "..",
    "~/.ssh/id_rsa",
    "/etc/passwd",
    "//etc/passwd",
    "C:\\secret.txt",
    "..\\secret.txt",
    "a\0b",
    "@agent1/../../../x",
    "",
  ];

  test("by the letters of a path", async () => {
    await using place = createPlace();
    for (const path of [...outside, place.temp.join("secret.txt"), place.temp.join("docs/../secret.txt"), `${place.temp.join("docs")}x`]) {
      expect(await place.call("read_file", { path })).toStartWith("Error: ");
      expect(await place.call("write_file", { path, content: "x" })).toStartWith("Error: ");
      expect(await place.call("copy_file", { from: path, to: "stolen.txt" })).toStartWith("Error: ");
      expect(await place.call("list_files", { path })).toStartWith("Error: ");
    }
    expect(readFileSync(place.temp.join("secret.txt"), "utf8")).toBe("secret");
    expect(existsSync(place.temp.join("ws/stolen.txt"))).toBe(false);
  });

  test("by links, in the place of a file or of a directory on the way to it", async () => {
    await using place = createPlace();
    symlinkSync(place.temp.join("secret.txt"), place.temp.join("ws/file"));
    symlinkSync(place.temp.path, place.temp.join("ws/dir"));
    symlinkSync(place.temp.path, place.temp.join("docs/dir"));
    symlinkSync(place.temp.join("nowhere.txt"), place.temp.join("ws/dangling"));
    for (const path of ["file", "dir/secret.txt", place.temp.join("docs/dir/secret.txt")]) {
      expect(await place.call("read_file", { path })).toContain("a link that leads elsewhere");
      expect(await place.call("copy_file", { from: path, to: "stolen.txt" })).toStartWith("Error: ");
    }
    for (const path of ["file", "dir/new.txt", "dangling", place.temp.join("shared/../ws/file")]) {
      expect(await place.call("write_file", { path, content: "x" })).toStartWith("Error: ");
    }
    expect(await place.call("delete_file", { path: "dir/secret.txt" })).toStartWith("Error: ");
    expect(readFileSync(place.temp.join("secret.txt"), "utf8")).toBe("secret");
    expect(["nowhere.txt", "new.txt"].filter((name) => existsSync(place.temp.join(name)))).toEqual([]);
  });

  test("by pipes and devices, which are not waited for", async () => {
    await using place = createPlace();
    expect(Bun.spawnSync(["mkfifo", place.temp.join("ws/pipe")]).success).toBe(true);
    expect(await place.call("read_file", { path: "pipe" })).toContain("no regular file");
    expect(await place.call("write_file", { path: "pipe", content: "x" })).toContain("no regular file");
  });

  test("by other spellings: hooks of git are not written, under any name that a file system takes for .git", async () => {
    await using place = createPlace();
    const shared = place.temp.join("shared");
    for (const name of [
      ".git",
      ".GIT",
      ".Git",
      ".git ",
      ".git.",
      "git~1",
      ".g\u200cit",
      ".git::$INDEX_ALLOCATION",
      "．git".normalize("NFKC"),
    ]) {
      expect(await place.call("write_file", { path: `${shared}/${name}/hooks/pre-commit`, content: "#!/bin/sh" })).toStartWith("Error: ");
      expect(await place.call("write_file", { path: `${name}/config`, content: "x" })).toStartWith("Error: ");
    }
    expect(await place.call("write_file", { path: `${shared}/.gitignore`, content: "x" })).toStartWith("wrote ");
  });

  test("by a project as context: a run's own files are neither shown nor written", async () => {
    await using place = createPlace();
    const project = place.temp.join("session");
    const places: Places = { ...place.places, context: [{ path: place.temp.path, permission: "write" }] };
    place.temp.write(".massgen-quality/sessions/team_1/session/agents/agent_b/001/answer.json", "{}");
    const call = async (name: string, input: unknown) => {
      const tool = fileTools.find((each) => each.name === name);
      return tool ? (await runFileTool(tool, input, { places, mark: "1" })).text : "";
    };
    for (const path of [".massgen-quality", ".MassGen-Quality/sessions/team_1/session/agents/agent_b/002/answer.json"].map((name) =>
      place.temp.join(name),
    )) {
      expect(await call("read_file", { path })).toContain("not for you to see");
      expect(await call("write_file", { path, content: "{}" })).toContain("not for you to see");
    }
    expect(await call("list_files", { path: `${project}/agents` })).toContain("not for you to see");
    expect(await call("write_file", { path: `${project}/agents/agent_b/002/answer.json`, content: "{}" })).toContain(
      "not for you to change",
    );
    expect(await call("list_files", { path: place.temp.path })).not.toContain("agent_b");
    expect(await call("copy_file", { from: place.temp.path, to: "all" })).not.toContain("agent_b");
    expect(existsSync(place.temp.join("ws/all/session"))).toBe(false);
  });

  test("a second name of a file elsewhere is written as a file of its own", async () => {
    await using place = createPlace();
    linkSync(place.temp.join("secret.txt"), place.temp.join("ws/same"));
    await place.call("write_file", { path: "same", content: "changed" });
    expect(readFileSync(place.temp.join("secret.txt"), "utf8")).toBe("secret");
  });
});

test("arguments that are none are told, and change nothing", async () => {
  await using place = createPlace();
  expect(await place.call("write_file", { path: 7, content: "x" })).toContain("the arguments are wrong at path");
  expect(await place.call("read_file", { path: "a", offset: -1 })).toContain("the arguments are wrong at offset");
  expect(await place.call("copy_file", {})).toContain("the arguments are wrong at from");
});
