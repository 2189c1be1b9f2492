import { stringify } from "yaml";

/** A map of a MassGen config. What is in it belongs to MassGen; we touch as little as possible. */
export type ConfigMap = Record<string, unknown>;

export function isMap(value: unknown): value is ConfigMap {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** The map under a key; made when there is none. */
export function mapAt(parent: ConfigMap, key: string): ConfigMap {
  const value = parent[key];
  if (isMap(value)) return value;
  const made: ConfigMap = {};
  parent[key] = made;
  return made;
}

/** Text of a config. YAML 1.1, as PyYAML reads it: there `on`, `1:30` and `0o7` need quotes to stay texts. */
export function formatConfig(config: ConfigMap): string {
  return stringify(config, { version: "1.1", aliasDuplicateObjects: false, lineWidth: 0 });
}

/** How MassGen's PyYAML understands a text; for `parse` and `parseDocument`. */
export const yamlOptions = { version: "1.1", merge: true } as const;
