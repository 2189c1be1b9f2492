import type { CompletedCommand, CompletedOption, Completions, Values } from "./completions.ts";

/** The completion script for bash 4 and later. Every word in it comes from our own definitions and has no special characters. */
export function bashScript({ commands, models }: Completions): string {
  const names = commands.map(({ name }) => name);
  return `# bash completion for mg-team; in ~/.bashrc: source <(mg-team completion bash)
_mg_team() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" command="" word at options=""
  for ((at = 1; at < COMP_CWORD; at++)); do
    word="\${COMP_WORDS[at]}"
    case "$word" in
      ${names.join("|")}) command="$word"; break ;;
      -*) ;;
      *) command=run; break ;;
    esac
  done
  COMPREPLY=()
  case "$previous" in
${caseLines(merged(commands))}
    with|using) COMPREPLY=($(compgen -W "${models.join(" ")}" -- "$current")); return ;;
  esac
  case "$command" in
${commands.map((command) => `    ${command.name}) options="${optionNames(command)}" ;;`).join("\n")}
    *) options="${optionNames(commands.find(({ name }) => name === "run") ?? commands[0])}" ;;
  esac
  if [[ "$current" == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
    return
  fi
  case "$command" in
    "") COMPREPLY=($(compgen -W "${names.join(" ")}" -- "$current")) ;;
${commands.flatMap(firstLine).join("\n")}
  esac
}
complete -F _mg_team mg-team
`;
}

// --- internal ---

/** Options of the same name mean the same for every command. */
function merged(commands: readonly CompletedCommand[]): CompletedOption[] {
  return [...new Map(commands.flatMap(({ options }) => options).map((option) => [option.names[0], option])).values()];
}

function caseLines(options: readonly CompletedOption[]): string {
  return options
    .filter(({ values }) => values.kind !== "none")
    .map(({ names, values }) => `    ${names.join("|")}) ${reply(values)}return ;;`)
    .join("\n");
}

function reply(values: Values): string {
  if (values.kind === "words") return `COMPREPLY=($(compgen -W "${values.words.join(" ")}" -- "$current")); `;
  return values.kind === "files" ? 'compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$current"); ' : "";
}

function firstLine({ name, first }: CompletedCommand): string[] {
  if (first.kind !== "words") return [];
  // Only the first argument is one of these.
  return [`    ${name}) [[ " \${COMP_WORDS[*]:at+1:COMP_CWORD-at-1} " =~ " "(${first.words.join("|")})" " ]] || ${reply(first)};;`];
}

function optionNames(command: CompletedCommand | undefined): string {
  return (command?.options ?? []).flatMap(({ names }) => names).join(" ");
}
