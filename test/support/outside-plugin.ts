/** Text of a plugin file as anyone would write it: `body` is what its `apply(team)` does. Its name is that of its file. */
export function pluginText(name: string, body: string, more = ""): string {
  return `import { definePlugin, Stage, SynthesisStage } from "mg-team";
void [Stage, SynthesisStage];
${more}
export default definePlugin({
  name: ${JSON.stringify(name)},
  async apply(team) {
    ${body}
  },
});
`;
}

/** A run's `files` and `args` with such a plugin. */
export function withPlugin(name: string, body: string, args: readonly string[] = []) {
  return { files: { [`${name}.ts`]: pluginText(name, body) }, args: ["--plugin", `./${name}.ts`, ...args] };
}
