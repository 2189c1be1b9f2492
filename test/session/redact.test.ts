import { describe, expect, test } from "bun:test";
import { createRedactor, redacted } from "../../src/session/redact.ts";

const plain = createRedactor([]);

describe("a given secret", () => {
  const secret = 'p@ss/wörd "quoted" $1';
  const redact = createRedactor([secret, "p@ss/wörd", "", "short"]);

  test("is gone wherever it stands, as often as it stands", () => {
    expect(redact(`${secret}|x${secret}x`)).toBe(`${redacted}|x${redacted}x`);
    expect(redact("no secret here")).toBe("no secret here");
  });
  test("is gone inside JSON, in a URL, and in text read as Latin-1", () => {
    for (const text of [
      JSON.stringify({ key: secret }),
      `https://x/?k=${encodeURIComponent(secret)}&y`,
      Buffer.from(secret).toString("latin1"),
    ]) {
      expect(redact(text)).toContain(redacted);
      expect(redact(text)).not.toContain("rd");
    }
  });
  test("is gone as a whole when another secret is its beginning", () => expect(redact(secret)).toBe(redacted));
  test("that is too short to be one is left", () => expect(redact("a short word")).toBe("a short word"));
  test("is replaced by the same text whatever its characters mean in patterns", () => {
    expect(createRedactor(["a.b*c+(d)[e]{f}|^$\\"])("x a.b*c+(d)[e]{f}|^$\\ x")).toBe(`x ${redacted} x`);
    expect(createRedactor(["aaaaaa.b"])("aaaaaaxb")).toBe("aaaaaaxb");
  });
  test("of several lines is gone line by line", () => {
    const pem = createRedactor(["-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0\nshort\n-----END KEY-----"]);
    expect(pem("a: MIIEvQIBADANBgkqhkiG9w0")).toBe(`a: ${redacted}`);
    expect(pem("a short line")).toBe("a short line");
  });
});

describe("what looks like a common key is gone without being given", () => {
  const letters = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6";
  const keys = [
    `sk-${letters}`,
    `sk-ant-api03-${letters}_${letters}`,
    `sk-proj-${letters}`,
    `AIza${letters.slice(0, 35)}`,
    `xai-${letters}`,
    `gsk_${letters}`,
    `hf_${letters}`,
    `ghp_${letters}`,
    `github_pat_${letters}`,
    `glpat-${letters.slice(0, 20)}`,
    `xoxb-123456789012-${letters}`,
    "AKIAIOSFODNN7EXAMPLE",
    `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.${letters}`,
    `-----BEGIN RSA PRIVATE KEY-----\n${letters}\n${letters}\n-----END RSA PRIVATE KEY-----`,
  ];
  for (const key of keys)
    test(key.slice(0, 14), () =>
      expect(plain(`Error 401: Incorrect key provided: ${key}. See`)).toMatch(/^Error 401: Incorrect key provided: \[redacted\]\.? See$/),
    );

  test("a header, an assignment and a URL keep their names", () => {
    expect(plain(`Authorization: Bearer ${letters}`)).toBe(`Authorization: Bearer ${redacted}`);
    expect(plain(`export MY_API_KEY="${letters}"`)).toBe(`export MY_API_KEY="${redacted}"`);
    expect(plain(`{"DB_PASSWORD": "${letters}"}`)).toBe(`{"DB_PASSWORD": "${redacted}"}`);
    expect(plain("postgres://me:hunter22@db:5432/x")).toBe(`postgres://me:${redacted}@db:5432/x`);
  });
});

test("ordinary text stays", () => {
  const text = [
    "ask-me-anything-about-this-long-sentence and task-based-scheduling-is-fine",
    "OPENAI_API_KEY is not set; see https://example.org:8080/path?a=b@c and mailto:someone@example.org",
    "max_tokens: 12345678901234567890, MAX_TOKENS=100000, PRIMARY_KEY: id",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b, uuid 123e4567-e89b-12d3-a456-426614174000",
    "a bearer of bad news, Basic principles",
    "agents/agent_a/001/workspace/very_long_file_name_without_any_secret_in_it.ts:10:4",
  ].join("\n");
  expect(plain(text)).toBe(text);
});

test("long text without an end takes no quadratic time", () => {
  for (const piece of ["sk-", "://a:", "-----BEGIN PRIVATE KEY-----", "eyJ", "A_KEY=", "_KEY", "Bearer "]) {
    const begin = performance.now();
    plain(piece.repeat(100_000));
    plain(`${piece}${"a".repeat(1_000_000)}`);
    expect(performance.now() - begin).toBeLessThan(2000); // milliseconds; quadratic would be minutes
  }
});
