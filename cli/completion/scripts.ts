/**
 * The scripts of `completion`. Each hands the words up to the cursor to `tarn __complete`, which answers with one candidate a
 * line; `:files` asks the shell for names of files. A candidate that ends in `/` has more to come, so no space follows it.
 */

import type { SHELLS } from "../verbs/choices.ts";

/**
 * bash splits words at `:` and `=`, so that `lakefs://sales` comes as three. They are joined again where no space stood
 * between them, and of each candidate only what follows the last split is handed back.
 */
const BASH = `# bash completion of tarn; load it with: source <(tarn completion bash)
_tarn() {
  local rest=\${COMP_LINE:0:COMP_POINT} word line index count=0
  local -a words=()
  for ((index = 0; index <= COMP_CWORD; index++)); do
    word=\${COMP_WORDS[index]}
    if ((count > 0)) && [[ $rest != [[:space:]]* ]]; then
      words[count - 1]+=\${rest:0:\${#word}}
    else
      rest=\${rest#"\${rest%%[![:space:]]*}"}
      words[count++]=\${rest:0:\${#word}}
    fi
    rest=\${rest:\${#word}}
  done
  local current=\${words[count - 1]} head=
  [[ $current == *[:=]* && $COMP_WORDBREAKS == *[:=]* ]] && head=\${current%"\${current##*[:=]}"}
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "\${current//\\\\/}")
    else
      [[ $line == */ ]] && compopt -o nospace 2>/dev/null
      COMPREPLY+=("\${line#"$head"}")
    fi
  done < <("\${COMP_WORDS[0]}" __complete -- "\${words[@]:1}" 2>/dev/null)
}
complete -F _tarn tarn
`;

const ZSH = `#compdef tarn
# zsh completion of tarn; load it after compinit with: source <(tarn completion zsh)
_tarn() {
  local line
  local -a whole open
  local files=0
  for line in "\${(@f)$("\${words[1]}" __complete -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
    case $line in
      '') ;;
      :files) files=1 ;;
      */) open+=("$line") ;;
      *) whole+=("$line") ;;
    esac
  done
  (( \${#whole} )) && compadd -- "\${whole[@]}"
  (( \${#open} )) && compadd -S '' -- "\${open[@]}"
  (( files )) && _files
  return 0
}
compdef _tarn tarn
`;

const FISH = `# fish completion of tarn; load it with: tarn completion fish | source
function __tarn_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in (command $words[1] __complete -- $words[2..-1] $current 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path $current
        else
            echo $line
        end
    end
end
complete -c tarn -f -a '(__tarn_complete)'
`;

/** The scripts, by the shell's name. */
export const SCRIPTS: Readonly<Record<typeof SHELLS[number], string>> = { bash: BASH, zsh: ZSH, fish: FISH };
