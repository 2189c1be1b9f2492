import { expect, spyOn, test } from "bun:test";
import fs from "node:fs";
import { dirname, join } from "node:path";
import { copyDeliverable, copyWinner, listFiles } from "../../src/session/deliverable.ts";
import { treeLimits } from "../../src/session/tree-plan.ts";
import { temporaryDirectory } from "../support/temp.ts";

/** A workspace with these files in a new temporary directory; `target` does not exist yet. */
async function workspaceWith(files: Readonly<Record<string, string>>) {
  const root = await temporaryDirectory();
  const workspace = join(root.path, "session", "workspace");
  fs.mkdirSync(workspace, { recursive: true });
  for (const [path, text] of Object.entries(files)) {
    fs.mkdirSync(dirname(join(workspace, path)), { recursive: true });
    fs.writeFileSync(join(workspace, path), text);
  }
  const target = join(root.path, "synthesis", "deliverable");
  return {
    root: root.path,
    workspace,
    target,
    at: (path: string) => join(workspace, path),
    [Symbol.asyncDispose]: () => root[Symbol.asyncDispose](),
  };
}

function treeOf(directory: string): string[] {
  return fs.readdirSync(directory, { recursive: true }).map(String).sort();
}

const why = (copied: { leftOut: readonly { path: string; why: string }[] }) =>
  Object.fromEntries(copied.leftOut.map((left) => [left.path, left.why]));

test("a deliverable has every file of the workspace with its bytes, and a manifest that says so", async () => {
  await using at = await workspaceWith({ "index.html": "<p>hi", "src/app.js": "let a;\n", "empty.txt": "" });
  const copied = await copyDeliverable(at.workspace, at.target);
  expect(treeOf(at.target)).toEqual(["empty.txt", "index.html", "src", "src/app.js"]);
  expect(fs.readFileSync(join(at.target, "src/app.js"), "utf8")).toBe("let a;\n");
  expect(copied).toEqual({
    files: [
      { path: "empty.txt", bytes: 0, sha256: Bun.SHA256.hash("", "hex"), link: null },
      { path: "index.html", bytes: 5, sha256: Bun.SHA256.hash("<p>hi", "hex"), link: null },
      { path: "src/app.js", bytes: 7, sha256: Bun.SHA256.hash("let a;\n", "hex"), link: null },
    ],
    leftOut: [],
    bytes: 12,
  });
});

test("what MassGen keeps in a workspace is left out and named, the user's files of similar names are not", async () => {
  await using at = await workspaceWith({
    ".git/HEAD": "ref: refs/heads/main",
    ".massgen/sessions/x": "1",
    ".massgen_scratch/notes.txt": "1",
    ".massgen_checkpoint_signal.json": "{}",
    ".codex/config.toml": "1",
    ".gemini/settings.json": "{}",
    ".tool_results/1.txt": "1",
    ".cache/pip/x": "1",
    "execution_trace.md": "# Execution Trace: agent_a\n",
    "memory/short_term/verification_latest.md": "1",
    "memory/short_term/essential_files_manifest.json": "{}",
    "memory/long_term/lessons_learned.md": "1",
    "tasks/plan.json": '{\n  "agent_id": "agent_a",\n  "tasks": []\n}',
    "tasks/changedoc.md": "1",
    "subagents/_registry.json": "{}",
    "subagents/one/answer.txt": "1",
    ".mcp/client.py": '"""\nDO NOT MODIFY THIS FILE - it\'s auto-generated and managed by MassGen.\n"""',
    "servers/weather/get.py": "1",
    "answer.py": "print(1)\n",
  });
  const copied = await copyDeliverable(at.workspace, at.target);
  expect(treeOf(at.target)).toEqual(["answer.py"]);
  expect(Object.values(why(copied)).every((reason) => reason === "internal")).toBe(true);
  expect(Object.keys(why(copied))).toContain(".massgen_scratch");
  expect(await listFiles(at.workspace)).toEqual([{ path: "answer.py", bytes: 9 }]);
});

test("an agent that MassGen did not run has no internals but a version history: all that it wrote is delivered, and listed there", async () => {
  const mine = [".cache/x", ".codex/config.toml", ".gemini/settings.json", ".massgenrc", "execution_trace.md", "tasks/changedoc.md"];
  await using at = await workspaceWith({
    ...Object.fromEntries(mine.map((path) => [path, "# Execution Trace"])),
    ".git/hooks/x": "1",
    "sub/.git/x": "1",
  });
  const answer = join(dirname(at.workspace), "answer.json");
  fs.writeFileSync(answer, JSON.stringify({ agent_id: "agent_a", answer: "See it", engine: "mg-team" }));
  const { files, leftOut } = await copyDeliverable(at.workspace, at.target);
  expect(files.map(({ path }) => path)).toEqual(mine);
  expect(leftOut.map(({ path }) => path)).toEqual([".git", "sub/.git"]);
  expect((await listFiles(at.target)).map(({ path }) => path)).toEqual(mine);
  for (const text of [JSON.stringify({ agent_id: "agent_a", answer: "See it" }), "{", "null"]) {
    fs.writeFileSync(answer, text);
    expect((await copyDeliverable(at.workspace, at.target)).files).toEqual([]);
  }
});

test("folders and files that share a name with MassGen's stay when their contents are not MassGen's", async () => {
  const mine = [
    "memory/cards.json",
    "memory/long_term/model.bin",
    "memory/short_term/deep/notes.md",
    "tasks/plan.json",
    "tasks/build.js",
    "subagents/bond.txt",
    "servers/web.ts",
    "execution_trace.md",
    ".gitignore",
    ".github/workflows/ci.yml",
    "src/.massgen.txt",
    "docs/memory/short_term/a.md",
    ".claude/skills/mine/SKILL.md",
    ".agent/skills/mine/SKILL.md",
  ];
  await using at = await workspaceWith(Object.fromEntries(mine.map((path) => [path, '{"tasks": ["mine"]}'])));
  const { files, leftOut } = await copyDeliverable(at.workspace, at.target);
  expect(files.map(({ path }) => path)).toEqual([...mine].sort());
  expect(leftOut).toEqual([]);
});

test("skills that MassGen synchronised for Claude Code are left out with the link to them", async () => {
  await using at = await workspaceWith({ ".agent/skills/review/SKILL.md": "1", "a.txt": "1", ".claude/settings.json": "{}" });
  fs.symlinkSync(at.at(".agent/skills"), at.at(".claude/skills"));
  const copied = await copyDeliverable(at.workspace, at.target);
  expect(copied.files.map(({ path }) => path)).toEqual([".claude/settings.json", "a.txt"]);
  expect(why(copied)).toEqual({ ".agent/skills": "internal", ".claude/skills": "internal" });
});

test("the repository of a folder inside is left out too: its hooks would run at the user's next git command", async () => {
  await using at = await workspaceWith({ "site/.git/config": "[core] fsmonitor = evil", "site/.git/HEAD": "", "site/a.txt": "1" });
  const copied = await copyDeliverable(at.workspace, at.target);
  expect(treeOf(at.target)).toEqual(["site", "site/a.txt"]);
  expect(why(copied)).toEqual({ "site/.git": "internal" });
});

test("nothing is left of a workspace that holds only MassGen's files: no empty deliverable", async () => {
  await using at = await workspaceWith({ ".git/HEAD": "1", "memory/short_term/a.md": "1" });
  fs.mkdirSync(at.at("memory/long_term"));
  const copied = await copyDeliverable(at.workspace, at.target);
  expect(copied.files).toEqual([]);
  expect(fs.existsSync(at.target)).toBe(false);
  expect(fs.readdirSync(dirname(at.target))).toEqual([]);
});

test.each([null, "missing", "a file", "a link"])("a workspace that is %p gives no deliverable, and an older one goes", async (kind) => {
  await using at = await workspaceWith({ "a.txt": "1" });
  const odd = join(at.root, "odd");
  if (kind === "a file") fs.writeFileSync(odd, "1");
  if (kind === "a link") fs.symlinkSync(at.workspace, odd);
  await copyDeliverable(at.workspace, at.target);
  expect(fs.existsSync(at.target)).toBe(true);
  expect(await copyDeliverable(kind === null ? null : odd, at.target)).toEqual({ files: [], leftOut: [], bytes: 0 });
  expect(fs.existsSync(at.target)).toBe(false);
});

test("links out of the workspace are neither followed nor copied", async () => {
  await using at = await workspaceWith({ "a.txt": "1", "dir/b.txt": "2" });
  fs.writeFileSync(join(at.root, "secret"), "SECRET");
  fs.mkdirSync(join(at.root, "session", "workspace-2"));
  fs.writeFileSync(join(at.root, "session", "workspace-2", "peer"), "SECRET");
  const links: Record<string, string> = {
    absolute: join(at.root, "secret"),
    relative: "../../secret",
    directory: at.root,
    neighbour: join(at.root, "session", "workspace-2", "peer"),
    chain: "relative",
    "dir/up": "..",
    nothing: "no-such-file",
    circle: "circle",
  };
  for (const [name, target] of Object.entries(links)) fs.symlinkSync(target, at.at(name));
  const copied = await copyDeliverable(at.workspace, at.target);
  expect(treeOf(at.target)).toEqual(["a.txt", "dir", "dir/b.txt"]);
  expect(why(copied)).toEqual({
    absolute: "it is a link that leaves the workspace",
    relative: "it is a link that leaves the workspace",
    directory: "it is a link that leaves the workspace",
    neighbour: "it is a link that leaves the workspace",
    chain: "it is a link that leaves the workspace",
    "dir/up": "it is a link to a directory that it lies in",
    nothing: "it is a link to nothing (no-such-file)",
    circle: "it is a link in a circle",
  });
});

test("links inside stay links, made relative, however they were written", async () => {
  await using at = await workspaceWith({ "data/v1/a.txt": "1", ".git/config": "1" });
  fs.symlinkSync(at.at("data/v1"), at.at("data/latest"));
  fs.symlinkSync("data/latest/a.txt", at.at("short"));
  fs.symlinkSync("../workspace/data/v1/a.txt", at.at("round"));
  fs.symlinkSync(".git/config", at.at("hidden"));
  const copied = await copyDeliverable(at.workspace, at.target);
  const links = copied.files.flatMap(({ path, link }) => (link === null ? [] : [[path, link]]));
  expect(links).toEqual([
    ["data/latest", "v1"],
    ["round", "data/v1/a.txt"],
    ["short", "data/v1/a.txt"],
  ]);
  for (const [path] of links) expect(fs.realpathSync(join(at.target, path ?? "")).startsWith(at.target)).toBe(true);
  expect(why(copied)).toEqual({ ".git": "internal", hidden: "it links to something that is left out" });
});

test("pipes and sockets are skipped and reported, and nothing waits for them", async () => {
  await using at = await workspaceWith({ "a.txt": "1" });
  expect(Bun.spawnSync(["mkfifo", at.at("pipe")]).exitCode).toBe(0);
  const server = Bun.listen({ unix: at.at("sock"), socket: { data() {} } });
  try {
    const copied = await copyDeliverable(at.workspace, at.target);
    expect(copied.files.map(({ path }) => path)).toEqual(["a.txt"]);
    expect(why(copied)).toEqual({ pipe: "it is a pipe", sock: "it is a socket" });
  } finally {
    server.stop(true);
  }
});

test("copies are the owner's alone, executable where they were, and never setuid", async () => {
  await using at = await workspaceWith({ "run.sh": "1", "a.txt": "1", "odd.txt": "1" });
  fs.chmodSync(at.at("run.sh"), 0o6755);
  fs.chmodSync(at.at("odd.txt"), 0o666);
  await copyDeliverable(at.workspace, at.target);
  const mode = (path: string) => (fs.statSync(join(at.target, path)).mode & 0o7777).toString(8);
  expect([mode("run.sh"), mode("a.txt"), mode("odd.txt"), mode("")]).toEqual(["700", "600", "600", "700"]);
});

test("names with spaces, newlines, dashes, other scripts and broken UTF-8 are kept byte for byte", async () => {
  await using at = await workspaceWith({ "a b\n-rf.txt": "1", "--help": "2", "日本/ü.txt": "3", "C:\\x": "4" });
  fs.writeFileSync(Buffer.concat([Buffer.from(at.at("broken")), Buffer.from([0xff, 0xfe])]), "5");
  const copied = await copyDeliverable(at.workspace, at.target);
  const bytes = (directory: string) =>
    fs
      .readdirSync(directory, { encoding: "buffer" })
      .map((name) => name.toString("hex"))
      .sort();
  expect(bytes(at.target)).toEqual(bytes(at.workspace));
  expect(copied.files).toHaveLength(5);
});

test("empty directories that the agents made are kept beside files", async () => {
  await using at = await workspaceWith({ "app.py": "1" });
  fs.mkdirSync(at.at("uploads/images"), { recursive: true });
  await copyDeliverable(at.workspace, at.target);
  expect(treeOf(at.target)).toEqual(["app.py", "uploads", "uploads/images"]);
});

test("beyond a limit files are left out with the reason, installed packages first", async () => {
  await using at = await workspaceWith({ "node_modules/a/big.js": "12345", "src/app.js": "123", "z.txt": "12" });
  const bytes = await copyDeliverable(at.workspace, at.target, { limits: { ...treeLimits, bytes: 6 } });
  expect(bytes.files.map(({ path }) => path)).toEqual(["src/app.js", "z.txt"]);
  expect(why(bytes)).toEqual({ "node_modules/a/big.js": "all files together would be larger than 6 bytes" });
  const count = await copyDeliverable(at.workspace, at.target, { limits: { ...treeLimits, files: 1 } });
  expect(count.files.map(({ path }) => path)).toEqual(["src/app.js"]);
  const deep = await copyDeliverable(at.workspace, at.target, { limits: { ...treeLimits, depth: 1 } });
  expect(why(deep)).toMatchObject({ "src/app.js": "it lies more than 1 directory deep" });
  const entries = await copyDeliverable(at.workspace, at.target, { limits: { ...treeLimits, entries: 4 } });
  expect(entries.leftOut).toEqual([{ path: "src/app.js", why: "there are more than 4 files and directories" }]);
});

test("many files with the same reason are named up to twenty, the rest counted", async () => {
  await using at = await workspaceWith(Object.fromEntries(Array.from({ length: 45 }, (_, index) => [`f${index}`, "12"])));
  const { leftOut } = await copyDeliverable(at.workspace, at.target, { limits: { ...treeLimits, bytes: 1 } });
  expect(leftOut).toHaveLength(21);
  expect(leftOut.at(-1)?.path).toBe("25 more");
});

test("a copy replaces the one before as a whole, and clears what a killed copy left", async () => {
  await using at = await workspaceWith({ "new.txt": "1" });
  fs.mkdirSync(at.target, { recursive: true });
  fs.writeFileSync(join(at.target, "old.txt"), "1");
  fs.mkdirSync(join(dirname(at.target), ".deliverable.0123456789ab.new"));
  await copyDeliverable(at.workspace, at.target);
  expect(treeOf(dirname(at.target))).toEqual(["deliverable", "deliverable/new.txt"]);
});

test.each(["ENOSPC", "EDQUOT", "EIO"])(
  "on %s while writing the older copy stays, nothing half is left, and the error names the file",
  async (code) => {
    await using at = await workspaceWith({ "a.txt": "1", "b.txt": "2" });
    await copyDeliverable(at.workspace, at.target);
    fs.writeFileSync(at.at("a.txt"), "changed");
    const write = spyOn(fs, "writeSync").mockImplementation(() => {
      throw Object.assign(new Error(code), { code });
    });
    try {
      await copyDeliverable(at.workspace, at.target);
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ name: "TeamError", code: "write", exitCode: 7 });
      expect((error as Error).message).toContain("a.txt");
    } finally {
      write.mockRestore();
    }
    expect(treeOf(dirname(at.target))).toEqual(["deliverable", "deliverable/a.txt", "deliverable/b.txt"]);
    expect(fs.readFileSync(join(at.target, "a.txt"), "utf8")).toBe("1");
  },
);

test("a file that cannot be read is reported and costs only itself", async () => {
  await using at = await workspaceWith({ "a.txt": "1", "b.txt": "2" });
  const real = fs.readSync;
  let calls = 0;
  const read = spyOn(fs, "readSync").mockImplementation(((...args: Parameters<typeof fs.readSync>) => {
    if (++calls === 1) throw Object.assign(new Error("EIO"), { code: "EIO" });
    return real(...args);
  }) as typeof fs.readSync);
  try {
    const copied = await copyDeliverable(at.workspace, at.target);
    expect(why(copied)).toEqual({ "a.txt": "it cannot be read (the disk reports a read or write error)" });
  } finally {
    read.mockRestore();
  }
  expect(treeOf(at.target)).toEqual(["b.txt"]);
});

test("the winner is kept untouched, MassGen's files included, except for a copy of the user's login", async () => {
  await using at = await workspaceWith({
    ".git/HEAD": "1",
    "memory/short_term/a.md": "1",
    ".codex/auth.json": "SECRET",
    ".codex/config.toml": "1",
    "x.md": "1",
  });
  const to = join(at.root, "synthesis", "winner");
  const copied = await copyWinner({ answer: "# The answer\n", workspace: at.workspace, to });
  expect(fs.readFileSync(join(to, "answer.md"), "utf8")).toBe("# The answer\n");
  expect(copied.files.map(({ path }) => path)).toEqual([".codex/config.toml", ".git/HEAD", "memory/short_term/a.md", "x.md"]);
  expect(why(copied)).toEqual({ ".codex/auth.json": "it is a copy of your login" });
});

test("a winner without a workspace is its answer alone, and replaces an older winner", async () => {
  await using at = await workspaceWith({ "x.md": "1" });
  const to = join(at.root, "synthesis", "winner");
  await copyWinner({ answer: "old", workspace: at.workspace, to });
  await copyWinner({ answer: "new", workspace: null, to });
  expect(treeOf(to)).toEqual(["answer.md"]);
  expect(fs.readFileSync(join(to, "answer.md"), "utf8")).toBe("new");
});

test("a large tree lets timers run while it is copied", async () => {
  await using at = await workspaceWith(
    Object.fromEntries(Array.from({ length: 800 }, (_, index) => [`d${index % 50}/f${index}`, "x".repeat(200)])),
  );
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  const { files } = await copyDeliverable(at.workspace, at.target);
  clearInterval(timer);
  expect(files).toHaveLength(800);
  expect(turns).toBeGreaterThan(1);
});
