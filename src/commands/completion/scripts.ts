// Writes the completion scripts. They hold all words, so that a key press starts no process: a command takes half a second.

import type { Completed } from "./commandTree.ts";

export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

export function completionScript(shell: Shell, commands: readonly Completed[]): string {
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell](commands);
}

/** Values in single quotes, as all three shells read them. */
const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

const flagsOf = ({ options }: Completed) => [...options.map(({ flag }) => flag), "--help"];

/** Words for the command itself and for each of its options that take a value. */
function bashScript(commands: readonly Completed[]): string {
  const words = commands.map(
    (one) =>
      `    ${quote(one.path)}) words=${quote(one.subcommands.map(({ name }) => name).join(" "))}; flags=${quote(flagsOf(one).join(" "))} ;;`,
  );
  const values = commands.flatMap(({ path, arguments: places }) =>
    places.flatMap(({ choices, isVariadic }, at) => {
      const pattern = isVariadic ? `${quote(`${path}:`)}[${at}-9]` : quote(`${path}:${at}`);
      return choices.length > 0 ? [`    ${pattern}) words=${quote(choices.join(" "))} ;;`] : [];
    }),
  );
  const options = commands.flatMap(({ path, options: all }) =>
    all.flatMap(({ flag, takesValue, choices }) =>
      takesValue ? [`    ${quote(`${path} ${flag}`)}) takes=1; words=${quote(choices.join(" "))} ;;`] : [],
    ),
  );
  return `# bash completion for cleancast. Load it with: source <(cleancast completion bash)
_cleancast() {
  local word path='' place=0 takes='' words='' flags='' current="\${COMP_WORDS[COMP_CWORD]}" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    if [[ $takes ]]; then takes=''; continue; fi
    if [[ $word == -* ]]; then
      _cleancast_option "$path $word"
    elif _cleancast_is_command "\${path:+$path }$word"; then
      path="\${path:+$path }$word"; place=0
    else
      place=$((place + 1))
    fi
  done
  if [[ $takes ]]; then
    _cleancast_option "$path \${COMP_WORDS[COMP_CWORD-1]}"
  else
    _cleancast_words "$path"
    _cleancast_values "$path:$place"
  fi
  [[ $current == -* && ! $takes ]] && words="$flags"
  if [[ -n $words ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    [[ \${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
  return 0
}
_cleancast_is_command() {
  case "$1" in
${commands
  .filter(({ path }) => path !== "")
  .map(({ path }) => `    ${quote(path)}) return 0 ;;`)
  .join("\n")}
  esac
  return 1
}
_cleancast_words() {
  case "$1" in
${words.join("\n")}
  esac
}
_cleancast_values() {
  case "$1" in
${values.join("\n")}
  esac
}
_cleancast_option() {
  case "$1" in
${options.join("\n")}
  esac
}
complete -F _cleancast cleancast
`;
}

/** zsh runs the completions of bash. */
function zshScript(commands: readonly Completed[]): string {
  return `#compdef cleancast
# zsh completion for cleancast. Load it with: source <(cleancast completion zsh)
autoload -U +X bashcompinit && bashcompinit
${bashScript(commands).split("\n").slice(1).join("\n")}`;
}

function fishScript(commands: readonly Completed[]): string {
  const lines = commands.flatMap((one) => {
    const words = one.path === "" ? [] : one.path.split(" ");
    const next = one.subcommands.map(({ name }) => name);
    const conditions = [
      ...words.map((word) => `__fish_seen_subcommand_from ${word}`),
      ...(next.length > 0 ? [`not __fish_seen_subcommand_from ${next.join(" ")}`] : []),
    ];
    const when = conditions.length > 0 ? `-n ${quote(conditions.join("; and "))} ` : "";
    const subcommands = one.subcommands.map(
      ({ name, description }) => `complete -c cleancast -f ${when}-a ${name} -d ${quote(description)}`,
    );
    const values = [...new Set(one.arguments.flatMap(({ choices }) => choices))].map(
      (value) => `complete -c cleancast -f ${when}-a ${quote(value)}`,
    );
    const options = one.options.map(({ flag, description, takesValue, choices }) =>
      [
        `complete -c cleancast ${when}-l ${flag.replace(/^--/, "")}`,
        ...(takesValue ? ["-r"] : []),
        ...(choices.length > 0 ? [`-f -a ${quote(choices.join(" "))}`] : []),
        `-d ${quote(description)}`,
      ].join(" "),
    );
    return [...subcommands, ...values, ...options];
  });
  return `# fish completion for cleancast. Load it with: cleancast completion fish | source\n${lines.join("\n")}\n`;
}
