import { type Keys, keyVariables } from "./keys.ts";
import { backends, shortNames } from "./models.ts";

/**
 * The values of keys that must not be shown or stored. Servers that want no key are given a word for form's sake (`OPENAI_API_KEY=ollama`): a
 * value that is the name of a backend or a model is no secret, and to remove it would make names unreadable.
 * @param models names of models that take part, as `backend/model`
 */
export function secretsOf({ variables }: Pick<Keys, "variables">, models: readonly string[] = []): string[] {
  const words = [...models, ...backends, ...Object.entries(shortNames).flat()].flatMap((model) => {
    const name = model.replace(/^\w+:/, "");
    const slash = name.indexOf("/");
    return [model, name, name.slice(0, Math.max(0, slash)), name.slice(slash + 1)];
  });
  const names = new Set(words.map((word) => word.toLowerCase()));
  return keyVariables.flatMap((name) => variables[name]?.value ?? []).filter((value) => !names.has(value.toLowerCase()));
}
