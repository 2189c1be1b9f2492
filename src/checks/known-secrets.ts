import { homedir } from "node:os";
import { findKeys } from "../config/keys.ts";
import { secretsOf } from "../config/secrets.ts";

/**
 * Values that no file of a deliverable may hold: the keys of the model providers wherever mg-team finds them, and what the environment
 * calls a token, secret or password. Never print, log or store them.
 * @param projectDir absolute path of the project, for its `.env`
 */
export function knownSecrets(
  projectDir: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
  home: string = homedir(),
): readonly string[] {
  const keys = secretsOf(findKeys(env, projectDir, home));
  const others = Object.entries(env).flatMap(([name, value = ""]) => (secretName.test(name) && value.length >= shortest ? [value] : []));
  return [...new Set([...keys, ...others])];
}

// --- internal ---

const secretName = /(_KEY|_TOKEN|_SECRET|_PASSWORD|^PGPASSWORD)$/;

/** A shorter password may be an ordinary word. */
const shortest = 16;
