// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates of other languages are what is checked here
import { describe, expect, test } from "bun:test";
import { checkFiles } from "../../src/checks/check-files.ts";
import { checks } from "../../src/checks/list.ts";
import { temporaryDirectory } from "../support/temp.ts";

async function messagesOf(check: string, files: Readonly<Record<string, string>>, secrets: readonly string[] = []): Promise<string[]> {
  await using temp = temporaryDirectory();
  for (const [path, content] of Object.entries(files)) temp.write(path, content);
  const findings = await checkFiles(temp.path, { secrets, checks: checks.filter(({ name }) => name === check) });
  return findings.map(({ file, line, message }) => `${file}:${line} ${message}`);
}

describe("links", () => {
  const target = { "img/a b.png": "x", "docs/guide.md": "x", "docs/sub/README.md": "x" };

  test("HTML: what a page needs and is not there is found, by tag and attribute", async () => {
    const page = `<a href="docs/none.html">x</a>
<img src="img/a%20b.png"><img src="img/a b.png?v=1#x">
<img src="img/A%20b.png">
<link rel="stylesheet" href="style.css"><script src="./app.js"></script>
<img srcset="img/a%20b.png 1x, img/two.png 2x">
<video poster="p.jpg"><source src="v.mp4"></video>
<a href="../up.html">x</a>`;
    expect(await messagesOf("links", { ...target, "index.html": page })).toEqual([
      "index.html:1 docs/none.html is not in the deliverable",
      "index.html:3 img/A%20b.png differs in upper and lower case from img/a b.png",
      "index.html:4 style.css is not in the deliverable",
      "index.html:4 ./app.js is not in the deliverable",
      "index.html:5 img/two.png is not in the deliverable",
      "index.html:6 p.jpg is not in the deliverable",
      "index.html:6 v.mp4 is not in the deliverable",
      "index.html:7 ../up.html leads out of the deliverable",
    ]);
  });

  test.each([
    '<a href="#top"><a href=""><a href="?q=1"><a href="https://example.com/a.html"><a href="//cdn/x.js"><a href="mailto:a@b.c"><a href="tel:1">',
    '<img src="data:image/png;base64,AAAA"><img srcset="data:image/png;base64,AA, 2x"><a href="javascript:void(0)"><script src="/server/x.js"></script>',
    '<a href="about"><a href="docs"><a href="docs/guide"><a href="docs/sub/"><a href="./">',
    '<a href="{{ url }}"><img src="${x}.png"><img src="<%= y %>.png"><img src="{% static \'a.png\' %}"><link href="%PUBLIC_URL%/a.png">',
    '<base href="https://example.com/"><img src="x.png">',
    '<!-- <img src="gone.png"> --><script>const a = \'<img src="no.png">\'</script><textarea><img src="no.png"></textarea>',
    '<img src="img/100%.png"><img data-src="later.png">',
  ])("HTML: what only a server, a template or another site can answer is none: %s", async (page) => {
    expect(await messagesOf("links", { ...target, "img/100%.png": "x", "index.html": page })).toEqual([]);
  });

  test("Markdown: links, images, references and HTML are found on their lines", async () => {
    const text = `# Guide

See [the guide](docs/guide.md#start) and
[the plan](docs/plan.md "a title"), or [that][ref].

![alt](img/none.png) | [web](https://example.com/x.md)

| a | b |
|---|---|
| x | [cell](cell.md) |

<img src="html.png">

Text <img src="inline.png">

\`[code](code.md)\`

    [indented](indented.md)

[ref]: docs/ref.md
`;
    expect(await messagesOf("links", { ...target, "README.md": text })).toEqual([
      "README.md:4 docs/plan.md is not in the deliverable",
      "README.md:4 docs/ref.md is not in the deliverable",
      "README.md:6 img/none.png is not in the deliverable",
      "README.md:10 cell.md is not in the deliverable",
      "README.md:12 html.png is not in the deliverable",
      "README.md:14 inline.png is not in the deliverable",
    ]);
  });

  test("links are relative to their file, and directories count", async () => {
    const files = { "docs/a.md": "[x](../img/a%20b.png) [y](sub) [z](sub/) [up](..) [w](guide.md) [no](img/a.png)" };
    expect(await messagesOf("links", { ...target, ...files })).toEqual(["docs/a.md:1 img/a.png is not in the deliverable"]);
  });
});

describe("placeholders", () => {
  test.each([
    ["a.js", "// TODO: write this"],
    ["a.py", "    # FIXME handle errors"],
    ["a.html", "<!-- TODO add the menu -->"],
    ["a.css", "/* XXX colours */"],
    ["a.sql", "-- TODO index"],
    ["a.md", "TODO: write this section"],
    ["a.md", "[TODO]"],
    ["a.md", "| price | TBD |"],
    ["a.html", "<p>Lorem ipsum dolor sit amet</p>"],
    ["a.js", "  // your code here"],
    ["a.js", 'const key = "YOUR_API_KEY_HERE";'],
    ["a.html", "<h1><INSERT TITLE></h1>"],
    ["a.md", "Dear [Recipient Name],"],
    ["a.txt", "[Your Name]"],
    ["a.js", "// ... rest of the code remains the same"],
    ["a.py", "# ... existing code ..."],
    ["a.ts", "/* … (remaining methods) */"],
    ["a.js", "// implementation omitted for brevity"],
    ["a.ts", 'throw new Error("Not implemented yet");'],
    ["a.rs", "fn f() { todo!() }"],
  ])("%s: %s", async (name, line) => {
    expect(await messagesOf("placeholder", { [name]: `first\n${line}\n` })).toHaveLength(1);
  });

  test.each([
    ["app.js", "const TODO = 'todo'; // the TODO list of the user"],
    ["app.js", "const todos = items.filter((todo) => !todo.done);"],
    ["README.md", "# TODO App\n\nA TODO list application. Add a TODO item."],
    ["index.html", "<h1>TODO</h1><input placeholder='Your text here'>"],
    ["README.md", "export OPENAI_API_KEY=your-key-here"],
    [".env.example", "API_KEY=your_api_key_here"],
    ["a.sql", "INSERT INTO t VALUES (1); -- [INSERT INTO]"],
    ["a.ts", "type A = Map[Company]; const [first, ...rest] = list; f(...rest);"],
    ["a.md", "He slept for the rest of the day... The rest of the team left."],
    ["a.md", "[Your Profile](profile.md) and [Company News][news]"],
    ["a.py", "def f(x: int = ...) -> None: ..."],
    ["a.py", "raise NotImplementedError"],
    ["LICENSE", "TODO: x"],
    ["a.js", `const a = "${"x".repeat(2000)} TODO: x";`],
    ["a.js", "const mastodon = 'TODOIST'; // XXXL sizes"],
  ])("no false alarm: %s: %s", async (name, text) => {
    expect(await messagesOf("placeholder", { [name]: text })).toEqual([]);
  });

  test("a finding shows the line, short and without control characters", async () => {
    const [message = ""] = await messagesOf("placeholder", { "a.js": `// TODO: \u001b[31m\u0007${"very ".repeat(60)}` });
    expect(message).toStartWith("a.js:1 work left to do: // TODO: ␇very");
    expect(message.length).toBeLessThan(130);
    expect(message).not.toMatch(/[\u0000-\u001f]/);
  });
});

describe("secrets", () => {
  const characters = "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zC0fR";
  const random = (length: number) => characters.repeat(4).slice(0, length);
  const upper = (length: number) => "QWERTZ2345UIOPAS67DFGHJK".slice(0, length);
  const hex = (length: number) => "0a9b8c7d6e5f4132a7b9c8d6e5f40312".repeat(3).slice(0, length);
  const keys: readonly (readonly [string, string])[] = [
    ["an OpenAI key", `sk-proj-${random(40)}T3Blbk${"FJ"}${random(40)}`],
    ["an Anthropic key", `sk-ant-api03-${random(95)}`],
    ["an OpenRouter key", `sk-or-v1-${hex(64)}`],
    ["a key of a model provider", `sk-${hex(32)}`],
    ["a Google key", `AIza${random(35)}`],
    ["an xAI key", `xai-${random(80)}`],
    ["a Groq key", `gsk_${random(52)}`],
    ["a GitHub token", `ghp_${random(36)}`],
    ["an npm token", `npm_${random(36)}`],
    ["an AWS access key", `AKIA${upper(16)}`],
    ["a Slack token", `xoxb-${"20398475610"}-${random(24)}`],
    ["a Stripe key", `sk_live_${random(24)}`],
    ["a SendGrid key", `SG.${random(22)}.${random(43)}`],
    ["a private key", `-----BEGIN RSA PRIVATE KEY-----\n${random(64)}`],
    ["a private key", `-----BEGIN PRIVATE KEY-----\\n${random(64)}`],
  ];

  test.each(keys.map((each) => [...each] as const))("%s is found by its shape, and not shown", async (owner, key) => {
    const found = await messagesOf("secret", { "a.js": `const a = 1;\nconst key = "${key}";\n` });
    expect(found).toEqual([`a.js:2 this looks like ${owner}`]);
  });

  test.each([
    "sk-your-api-key-here sk-1234567890abcdef1234567890abcdef sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "AKIAIOSFODNN7EXAMPLE AIzaSyXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "sk-learn task-0a9b8c7d6e5f4132a7b9c8d6e5f40312 disk-0a9b8c7d6e5f4132a7b9c8d6e5f40312",
    "-----BEGIN PUBLIC KEY-----\nabc",
    "grep '-----BEGIN PRIVATE KEY-----' file",
    `sha512-${characters.repeat(2)}== ${hex(64)}`,
  ])("documentation and hashes are no secrets: %s", async (text) => {
    expect(await messagesOf("secret", { "a.md": text })).toEqual([]);
  });

  test("the run's own keys are found by value, also inside JSON and URLs; short values are not looked for", async () => {
    const secrets = ['my "odd" key/42', "short", "plain-value-1"];
    const files = {
      "a.txt": 'x\nmy "odd" key/42\n',
      "b.json": JSON.stringify({ key: 'my "odd" key/42' }),
      "c.html": `<a href="https://x/?k=${encodeURIComponent('my "odd" key/42')}">`,
      "d.txt": "short plain-value-1 plain-value-1",
      "e.txt": "plain-value-2",
    };
    expect(await messagesOf("secret", files, secrets)).toEqual(
      ["a.txt:2", "b.json:1", "c.html:1", "d.txt:1"].map((place) => `${place} a key of yours is in the file`),
    );
  });

  test("one line is one finding", async () => {
    const key = `ghp_${random(36)}`;
    expect(await messagesOf("secret", { "a.js": `${key} ${key}\n${key}` }, [key])).toHaveLength(2);
  });
});
