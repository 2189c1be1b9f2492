import { expect, test } from "bun:test";
import { knownSecrets } from "../../src/checks/known-secrets.ts";
import { temporaryDirectory } from "../support/temp.ts";

test("keys of the environment and of .env are secrets, and what is called a token or a password; settings and short words are not", async () => {
  await using temp = temporaryDirectory();
  temp.write("project/.env", "XAI_API_KEY=from-the-file\nUNRELATED=not-a-secret-at-all\n");
  const env = {
    OPENAI_API_KEY: "from-the-environment",
    GITHUB_TOKEN: "token-of-16-letters-or-more",
    DB_PASSWORD: "postgres",
    AZURE_OPENAI_API_KEY: "azure",
    AZURE_OPENAI_ENDPOINT: "https://example.openai.azure.com",
    PATH: "/usr/bin:/usr/local/bin:/bin",
    KEYBOARD: "something-quite-long-here",
  };
  const secrets = knownSecrets(temp.join("project"), env, temp.join("home"));
  expect([...secrets].sort()).toEqual(["azure", "from-the-environment", "from-the-file", "token-of-16-letters-or-more"]);
});
