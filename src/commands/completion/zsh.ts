import type { CompletedCommand, CompletedOption, Completions, Values } from "./completions.ts";

/** The completion script for zsh, by its `_arguments`. */
export function zshScript({ commands, models }: Completions): string {
  const run = commands.find(({ name }) => name === "run");
  return `#compdef mg-team
# zsh completion for mg-team; in ~/.zshrc: source <(mg-team completion zsh)
_mg_team() {
  local -a commands
  commands=(
${commands.map(({ name, summary }) => `    ${quote(`${name}:${summary}`)}`).join("\n")}
  )
  if (( CURRENT > 2 )) && [[ $words[CURRENT-1] == (with|using) ]]; then
    compadd -- ${models.join(" ")}
    return
  fi
  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
    _describe command commands
    return
  fi
  case $words[2] in
${commands
  .filter(({ name }) => name !== "run")
  .map(clause)
  .join("\n")}
    *) _arguments -S ${argumentsOf(run)} ;;
  esac
}
if [[ $funcstack[1] == _mg_team ]]; then _mg_team "$@"; else compdef _mg_team mg-team; fi
`;
}

// --- internal ---

function clause(command: CompletedCommand): string {
  return `    ${command.name}) (( CURRENT-- )); shift words; _arguments -S ${argumentsOf(command)} ;;`;
}

function argumentsOf(command: CompletedCommand | undefined): string {
  // Without a place for words, _arguments would offer nothing behind the query.
  const first = command?.first.kind === "words" ? quote(`1:argument:${action(command.first)}`) : quote("*:words: ");
  return [...(command?.options ?? []).flatMap(specs), first].join(" \\\n      ");
}

function specs({ names, description, values }: CompletedOption): string[] {
  const text = description.replace(/[[\]\\]/g, "\\$&").replaceAll(":", "\\:");
  return names.map((name) => quote(`${name}[${text}]${values.kind === "none" ? "" : `:value:${action(values)}`}`));
}

function action(values: Values): string {
  if (values.kind === "words") return `(${values.words.join(" ")})`;
  return values.kind === "files" ? "_files" : " ";
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
