import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { type Adjustment, adjustConfig, onlyAgent } from "../../../src/engine/massgen/adjust.ts";
import { type ConfigMap, formatConfig, yamlOptions } from "../../../src/engine/massgen/config-map.ts";
import { temporaryDirectory } from "../../support/temp.ts";

/** What massgen 0.1.97 `--quickstart` wrote, with and without docker. */
const quickstart = (name: string): ConfigMap =>
  parse(readFileSync(join(import.meta.dir, "../../fixtures/quickstart", `${name}.yaml`), "utf8"), yamlOptions);

const adjustment = (more: Partial<Adjustment> = {}): Adjustment => ({
  agent: "agent_b",
  docker: false,
  context: [],
  baseDir: "/p",
  env: {},
  ...more,
});
const adjusted = (config: ConfigMap, more: Partial<Adjustment> = {}) => adjustConfig(config, adjustment(more));
const backendOf = (config: ConfigMap) => onlyAgent(config)?.backend as ConfigMap;

describe("a config of quickstart", () => {
  test.each(["codex", "grok", "gemini", "claude"])("of %s keeps all but its agent's id and its relative inputs", (name) => {
    const before = quickstart(name);
    const after = adjusted(before);
    expect(onlyAgent(after)?.id).toBe("agent_b");
    expect(backendOf(after)).toEqual(backendOf(before));
    const { orchestrator, ...rest } = after;
    expect(orchestrator).toEqual({ ...(before.orchestrator as ConfigMap), coordination: expect.anything(), context_paths: [] });
    expect((orchestrator as { coordination: ConfigMap }).coordination.skills_directory).toBe("/p/.agent/skills");
    expect({ ...rest, agents: null, orchestrator: null }).toEqual({ ...before, agents: null, orchestrator: null });
  });

  test.each(["codex", "grok"])("of %s made for docker is, without docker, what quickstart writes where there is none", (name) => {
    expect(backendOf(adjusted(quickstart(`${name}-docker`)))).toEqual(backendOf(quickstart(name)));
  });

  test("made for docker names the keys that are set to the container, and no value", () => {
    const after = adjusted(quickstart("codex-docker"), {
      docker: true,
      env: { OPENAI_API_KEY: "hunter2", GEMINI_API_KEY: "hunter3", HOME: "/h" },
    });
    expect(backendOf(after).command_line_execution_mode).toBe("docker");
    expect(backendOf(after).command_line_docker_credentials).toEqual({
      env_file: "/p/.env",
      env_vars_from_file: ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY"],
      env_vars: ["OPENAI_API_KEY", "GEMINI_API_KEY"],
    });
    expect(formatConfig(after)).not.toContain("hunter");
  });

  test("survives being written and read by YAML 1.1", () => {
    const config = { agents: [{ id: "on", backend: { type: "grok", note: "1:30", time: "2026-01-01", no: "yes", o: "0o7", e: "1e3" } }] };
    expect(parse(formatConfig(config), { version: "1.1" })).toEqual(config);
  });

  test("is not changed itself", () => {
    const config = quickstart("codex-docker");
    const copy = structuredClone(config);
    adjusted(config, { context: [{ path: "/c", permission: "read" }] });
    expect(config).toEqual(copy);
  });
});

describe("context paths", () => {
  const paths = (existing: unknown, context: Adjustment["context"]) => {
    const config = { agents: [{ id: "x", backend: { type: "grok" } }], orchestrator: { context_paths: existing } };
    return (adjusted(config, { context }).orchestrator as ConfigMap).context_paths;
  };

  test("of the run join those of the config, absolute", () => {
    expect(paths([{ path: "docs", permission: "read" }, "notes.md"], [{ path: "/run/a b", permission: "write" }])).toEqual([
      { path: "/p/docs", permission: "read" },
      { path: "/p/notes.md" },
      { path: "/run/a b", permission: "write" },
    ]);
  });

  test("named twice may be written when either says so", () => {
    expect(paths([{ path: "/d", permission: "write" }], [{ path: "/d", permission: "read" }])).toEqual([
      { path: "/d", permission: "write" },
    ]);
    expect(paths([{ path: "/d", permission: "read" }], [{ path: "/d", permission: "write" }])).toEqual([
      { path: "/d", permission: "write" },
    ]);
  });

  test("in the home directory are found there, and variables are left for the step to read", () => {
    expect(paths([{ path: "~/docs" }, "~", "${HOME}/docs", "~other"], [])).toEqual([
      { path: join(homedir(), "docs") },
      { path: homedir() },
      { path: "${HOME}/docs" },
      { path: "/p/~other" },
    ]);
  });

  test("that are nonsense are left out, and a missing list is made", () => {
    expect(paths(undefined, [])).toEqual([]);
    expect(paths([3, null, {}, { path: "" }], [])).toEqual([]);
  });
});

describe("a config of a user", () => {
  test("in the short form becomes the long form, with our id", () => {
    const after = adjusted({
      agent: { id: "mine", backend: { type: "openai", base_url: "http://localhost:1/v1" }, system_message: "Be brief." },
    });
    expect(after.agent).toBeUndefined();
    expect(after.agents).toEqual([
      { id: "agent_b", backend: { type: "openai", base_url: "http://localhost:1/v1" }, system_message: "Be brief." },
    ]);
  });

  test("loses a session of its own", () => {
    expect(adjusted({ session_id: "old", agents: [{ backend: { type: "grok" } }] }).session_id).toBeUndefined();
  });

  test("has what it reads made absolute, and what MassGen writes left relative", async () => {
    await using base = temporaryDirectory();
    base.write("tools/mine.py", "");
    base.write("server.py", "");
    const after = adjusted(
      {
        agents: [
          {
            backend: {
              type: "grok",
              cwd: "workspace",
              shared_tools_directory: "shared",
              custom_tools: [{ path: "tools/mine.py" }, { path: "massgen/tool/_web_tools/x.py" }],
              mcp_servers: [{ name: "s", command: "python", args: ["./server.py", "./not-here", "server.py"] }],
              command_line_docker_credentials: { env_file: ".env", additional_mounts: { data: { bind: "/data", mode: "ro" } } },
              command_line_execution_mode: "local",
            },
          },
        ],
        orchestrator: { snapshot_storage: "snapshots", coordination: { skills_directory: "~/skills" } },
      },
      { baseDir: base.path, docker: true },
    );
    expect(backendOf(after)).toMatchObject({
      cwd: "workspace",
      shared_tools_directory: "shared",
      custom_tools: [{ path: base.join("tools/mine.py") }, { path: "massgen/tool/_web_tools/x.py" }],
      mcp_servers: [{ args: [base.join("server.py"), "./not-here", "server.py"] }],
      command_line_docker_credentials: { env_file: base.join(".env"), additional_mounts: { [base.join("data")]: { bind: "/data" } } },
    });
    expect(after.orchestrator).toMatchObject({ snapshot_storage: "snapshots", coordination: { skills_directory: "~/skills" } });
  });

  test("that runs code locally keeps doing so without docker", () => {
    const backend = { type: "grok", enable_mcp_command_line: true, command_line_execution_mode: "local", command_line_docker_image: "x" };
    expect(backendOf(adjusted({ agents: [{ backend }] }))).toEqual({
      type: "grok",
      enable_mcp_command_line: true,
      command_line_execution_mode: "local",
    });
  });
});
