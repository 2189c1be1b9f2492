import { type Check, type CheckContext, lineFinder, mostProblems, type Problem } from "./check.ts";

/** Keys that must not be published: those of this run by value, others by their providers' shapes. The value is never shown. */
export const secretCheck: Check = {
  name: "secret",
  applies: () => true,
  run({ text }, { secrets }) {
    const lineOf = lineFinder(text);
    const found = new Map<number, string>();
    const add = (position: number, message: string) => {
      const line = lineOf(position);
      if (!found.has(line)) found.set(line, message);
      return found.size < mostProblems;
    };
    for (const form of formsOf(secrets)) {
      for (let at = text.indexOf(form); at !== -1 && add(at, "a key of yours is in the file"); ) at = text.indexOf(form, at + form.length);
    }
    for (const { owner, pattern } of shapes) {
      for (const match of text.matchAll(pattern)) if (!isExample(match[0]) && !add(match.index, `this looks like ${owner}`)) break;
    }
    return [...found].sort(([one], [other]) => one - other).map(([line, message]): Problem => ({ line, message }));
  },
};

// --- internal ---

const shortestSecret = 8;

interface Shape {
  /** Completes "this looks like …". */
  readonly owner: string;
  readonly pattern: RegExp;
}

// Extend with a shape that no ordinary text has: a fixed start, and a length or an alphabet that the provider guarantees.
const shapes: readonly Shape[] = [
  { owner: "an OpenAI key", pattern: /\bsk-(?:(?:proj|svcacct|admin)-)?[A-Za-z0-9_-]{20,200}T3BlbkFJ[A-Za-z0-9_-]{20,200}/g },
  { owner: "an Anthropic key", pattern: /\bsk-ant-[a-z]{3,8}\d\d-[A-Za-z0-9_-]{80,120}/g },
  { owner: "an OpenRouter key", pattern: /\bsk-or-v1-[0-9a-f]{64}\b/g },
  { owner: "a key of a model provider", pattern: /\bsk-(?:[0-9a-f]{32}|[A-Za-z0-9]{48})\b/g },
  { owner: "a Google key", pattern: /\bAIza[0-9A-Za-z_-]{35}(?![0-9A-Za-z_-])/g },
  { owner: "an xAI key", pattern: /\bxai-[A-Za-z0-9]{70,90}\b/g },
  { owner: "a Groq key", pattern: /\bgsk_[A-Za-z0-9]{52}\b/g },
  { owner: "a Perplexity key", pattern: /\bpplx-[A-Za-z0-9]{48}\b/g },
  { owner: "a Replicate token", pattern: /\br8_[A-Za-z0-9]{37}\b/g },
  { owner: "a Hugging Face token", pattern: /\bhf_[A-Za-z]{34}\b/g },
  { owner: "a GitHub token", pattern: /\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59})\b/g },
  { owner: "a GitLab token", pattern: /\bglpat-[A-Za-z0-9_-]{20}(?![A-Za-z0-9_-])/g },
  { owner: "an npm token", pattern: /\bnpm_[A-Za-z0-9]{36}\b/g },
  { owner: "a PyPI token", pattern: /\bpypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{50,200}/g },
  { owner: "an AWS access key", pattern: /\b(?:AKIA|ASIA)[A-Z2-7]{16}\b/g },
  { owner: "a Slack token", pattern: /\bxox[abprs]-\d{8,14}-[A-Za-z0-9-]{10,80}/g },
  { owner: "a Stripe key", pattern: /\b[rs]k_live_[A-Za-z0-9]{24,99}\b/g },
  { owner: "a SendGrid key", pattern: /\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])/g },
  { owner: "a private key", pattern: /-----BEGIN (?:[A-Z]{2,10} ){0,2}PRIVATE KEY-----(?:\\n|\s){1,4}[A-Za-z0-9+/=:, -]{30}/g },
];

/** As documentation writes them: marked as such, or of hardly any different characters. */
function isExample(value: string): boolean {
  return /example|placeholder|dummy|x{5}|X{5}|0{6}|1234567|abcdefgh|your/i.test(value) || new Set(value.slice(5)).size < 10;
}

/** The values, also as JSON and URLs write them. */
function formsOf(secrets: CheckContext["secrets"]): ReadonlySet<string> {
  const values = secrets.map((secret) => secret.trim()).filter((value) => value.length >= shortestSecret);
  return new Set(values.flatMap((value) => [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value.toWellFormed())]));
}
