import { chmodSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import type { RunResult } from "../../src/session/result.ts";
import type { ModelScripts } from "../massgen/models/script.ts";
import { type ModelServer, startModelServer } from "../massgen/models/server.ts";
import { realMassgen } from "../support/massgen.ts";
import { createProject, type TestProject } from "../support/project.ts";
import { until } from "../support/temp.ts";

/**
 * mg-team on the real MassGen, with scripted models instead of providers. Nothing leaves this machine. Several runs in one team spare
 * the making of configs, which mg-team keeps for models it knows.
 */
export interface RealTeam extends AsyncDisposable {
  readonly project: TestProject;
  readonly models: ModelServer;
  /** Runs `mg-team run --json …` to its end, with models that play these scripts. */
  run(scripts: ModelScripts, args: readonly string[]): Promise<FinishedRun>;
  /** Resolves when a path below the newest team directory exists. */
  untilFile(path: string): Promise<void>;
}

export interface FinishedRun {
  readonly code: number | null;
  readonly stderr: string;
  readonly result: RunResult;
  /** Path of a file of the team directory; `null` when it does not exist. */
  file(path: string): string | null;
  /** Lines of events.jsonl. */
  readonly events: readonly Readonly<Record<string, unknown>>[];
}

export interface RealTeamOptions {
  /**
   * MassGen's quickstart makes the configs, and base_url is changed. `full`: nothing else is, so a step starts planning, checklist and
   * file servers (half a minute each on a busy machine). `files`: of those only file tools are left. `none` (default): no tools, no workspace.
   */
  readonly tools?: "full" | "files" | "none";
  /**
   * The team, with light configs of its own in a trusted mg-team.yaml: quickstart, which takes ten seconds a model, is left out. Without,
   * `--models` in the arguments of a run names them.
   */
  readonly models?: readonly string[];
}

export function createRealTeam(options: RealTeamOptions = {}): RealTeam {
  const models = startModelServer();
  const project = createProject({ layout: "none" });
  const wrapper = project.temp.write("bin/massgen", wrapperScript(realMassgen(), models.baseUrl, options.tools ?? "none"));
  // Keeps `--quickstart` from installing skills with npm for the whole machine.
  const npm = project.temp.write("stub/npm", "#!/bin/sh\nexit 1\n");
  for (const path of [wrapper, npm]) chmodSync(path, 0o755);
  const tools = options.tools ?? "none";
  const trusted = options.models === undefined ? null : trustConfigs(project, options.models, models.baseUrl, tools);
  const warm = tools === "none" ? null : warmFileServer(project);
  const sessions = join(project.directory, ".massgen-quality/sessions");
  const newest = () => (existsSync(sessions) ? readdirSync(sessions).sort() : []).at(-1) ?? "none";
  return {
    project,
    models,
    async run(scripts, args) {
      // At once: who waits for a turn that is held waits for one of these scripts.
      models.play(scripts);
      await Promise.all([trusted, warm]);
      const { code, stdout, stderr } = await project.cli(["run", "--json", ...args]);
      if (!stdout.startsWith("{")) throw new Error(`no result on stdout (exit ${code}): ${stderr}`);
      const result: RunResult = JSON.parse(stdout);
      const path = (name: string) => join(result.session_dir, name);
      const file = (name: string) => (existsSync(path(name)) ? readFileSync(path(name), "utf8") : null);
      const lines = (file("events.jsonl") ?? "").split("\n").filter(Boolean);
      return { code, stderr, result, file, events: lines.map((line): Readonly<Record<string, unknown>> => JSON.parse(line)) };
    },
    untilFile: (path) => until(() => existsSync(join(sessions, newest(), path)), path, 300),
    async [Symbol.asyncDispose]() {
      await models[Symbol.asyncDispose]();
      await project[Symbol.asyncDispose]();
    },
  };
}

// --- internal ---

/** What quickstart would make, without all that a test of ours does not need. */
async function trustConfigs(
  project: TestProject,
  models: readonly string[],
  baseUrl: string,
  tools: RealTeamOptions["tools"],
): Promise<void> {
  const entries = models.map((model, index) => {
    const [type = "", name = ""] = model.split("/");
    const files = tools === "none" ? "" : ", cwd: workspace, exclude_file_operation_mcps: false";
    project.temp.write(
      `project/configs/${index}.yaml`,
      `agents: [{ id: some, backend: { type: ${type}, model: ${name}, base_url: "${baseUrl}"${files} } }]
orchestrator: { snapshot_storage: snapshots, agent_temporary_workspace: temp_workspaces }
ui: { display_type: simple, logging_enabled: true }
`,
    );
    return `{ model: ${model}, config: ./configs/${index}.yaml }`;
  });
  project.temp.write("project/mg-team.yaml", `models: [${entries.join(", ")}]\n`);
  const { code, stderr } = await project.cli(["trust"]);
  if (code !== 0) throw new Error(`mg-team trust: ${stderr}`);
}

/**
 * MassGen starts its file server with `npx`, which would download it once more into the home of each project, and waits half a minute for it
 * (mcp_tools/client.py): fetched once for this machine, it is there in time.
 */
async function warmFileServer({ env, directory }: TestProject): Promise<void> {
  env.npm_config_cache = join(process.env.MG_TEST_REAL_HOME ?? homedir(), ".npm");
  env.npm_config_prefer_offline = "true";
  env.npm_config_update_notifier = "false";
  const argv = ["npx", "-y", "@modelcontextprotocol/server-filesystem", directory];
  await Bun.spawn(argv, { env, cwd: directory, stdin: "ignore", stdout: "ignore", stderr: "ignore" }).exited;
}

/** The real program; what quickstart has made is pointed at the scripted models, before it says so: mg-team ends it there. */
function wrapperScript(massgen: string, baseUrl: string, tools: "full" | "files" | "none"): string {
  const servers =
    "use_skills|skills_directory|enable_agent_task_planning|task_planning_filesystem_mode|enable_memory_filesystem_mode|enable_multimodal_tools";
  const dropped = tools === "files" ? servers : `${servers}|cwd|exclude_file_operation_mcps|write_mode`;
  const trim = tools === "full" ? "" : ` -E -e 's/checklist_gated/lenient/' -e '/^ +(${dropped}):/d'`;
  return `#!/bin/sh
PATH="${dirname(massgen)}:$PATH"
case " $* " in *" --quickstart "*) ;; *) exec "${massgen}" "$@" ;; esac
said=$(PATH="$(dirname "$0")/../stub:$PATH" https_proxy=http://127.0.0.1:9 "${massgen}" "$@")
code=$?
while [ $# -gt 1 ]; do
  [ "$1" = --config ] && config=$2
  shift
done
[ ! -f "$config" ] || sed -i${trim} -e "s#https://api.x.ai/v1#${baseUrl}#" "$config"
echo "$said"
exit $code
`;
}
