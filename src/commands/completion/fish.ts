import type { CompletedCommand, CompletedOption, Completions, Values } from "./completions.ts";

/** The completion script for fish. */
export function fishScript({ commands, models }: Completions): string {
  const others = commands.filter(({ name }) => name !== "run").map(({ name }) => name);
  const lines = commands.flatMap((command) => {
    const here =
      command.name === "run" ? `not __fish_seen_subcommand_from ${others.join(" ")}` : `__fish_seen_subcommand_from ${command.name}`;
    return [
      `complete -c mg-team -n __fish_is_first_token -a ${command.name} -d ${quote(command.summary)}`,
      ...command.options.map((option) => optionLine(here, option)),
      ...firstLine(here, command),
    ];
  });
  return `# fish completion for mg-team; in config.fish: mg-team completion fish | source
complete -c mg-team -f
${lines.join("\n")}
complete -c mg-team -n 'contains -- (commandline -opc)[-1] with using' -a ${quote(models.join(" "))}
`;
}

// --- internal ---

function optionLine(condition: string, { names, description, values }: CompletedOption): string {
  const flags = names.map((name) => (name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`)).join(" ");
  return `complete -c mg-team -n ${quote(condition)} ${flags}${valuePart(values)} -d ${quote(description)}`;
}

function valuePart(values: Values): string {
  if (values.kind === "none") return "";
  if (values.kind === "words") return ` -x -a ${quote(values.words.join(" "))}`;
  return values.kind === "files" ? " -r -F" : " -x";
}

function firstLine(condition: string, { first }: CompletedCommand): string[] {
  if (first.kind !== "words") return [];
  const words = first.words.join(" ");
  // Only the first argument is one of these.
  return [`complete -c mg-team -n ${quote(`${condition}; and not __fish_seen_subcommand_from ${words}`)} -a ${quote(words)}`];
}

function quote(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
