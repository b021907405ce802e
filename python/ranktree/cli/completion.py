"""`ranktree completion`: completes commands and options in a shell, from the declarations that the parsers read."""

import enum
from typing import Annotated

from ranktree.cli import VERBS
from ranktree.cli.options import Argument, Option, Parameter, Verb, echo, names_of, parameters_of

EXAMPLE = "ranktree completion bash > ~/.local/share/bash-completion/completions/ranktree"


class Shell(enum.Enum):
    """A shell with completion."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def command(shell: Annotated[Shell, Argument(help="bash, zsh or fish")]) -> None:
    """Print a script that completes ranktree's commands and options.

    bash: ~/.local/share/bash-completion/completions/ranktree; zsh: a file _ranktree in a folder of $fpath;
    fish: ~/.config/fish/completions/ranktree.fish.
    """
    from ranktree.cli.main import load_verb  # noqa: PLC0415  main imports the verbs

    verbs = [load_verb(name) for name in VERBS]
    echo({Shell.BASH: bash, Shell.ZSH: zsh, Shell.FISH: fish}[shell](verbs))


def options_of(verb: Verb) -> list[tuple[str, Parameter]]:
    """Every name of every option, the opposite of a flag too."""
    found = []
    for parameter in parameters_of(verb.function):
        if isinstance(parameter.declared, Option):
            found += [(word, parameter) for name in names_of(parameter) for word in name.split("/")]
    return found


def words_of(verb: Verb) -> str:
    """The names, with --help."""
    return " ".join([*(name for name, _ in options_of(verb)), "--help"])


def bash(verbs: list[Verb]) -> str:
    """Words after an option, and behind the options, are files: bash's own default."""
    cases = "\n".join(f"    {verb.name}) words='{words_of(verb)}' ;;" for verb in verbs)
    return f"""# bash completion of ranktree
_ranktree() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} words='{" ".join(VERBS)} --help --version'
  if ((COMP_CWORD > 1)); then
    case ${{COMP_WORDS[1]}} in
{cases}
    *) words='' ;;
    esac
    [[ $word == -* ]] || words=''
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _ranktree ranktree"""


def zsh(verbs: list[Verb]) -> str:
    """Commands with what they do, options, else files."""
    described = "\n".join(f"    {quoted(f'{verb.name}:{VERBS[verb.name]}')}" for verb in verbs)
    cases = "\n".join(f"    {verb.name}) options=({words_of(verb)}) ;;" for verb in verbs)
    return f"""#compdef ranktree
_ranktree() {{
  local -a verbs options
  verbs=(
{described}
  )
  if ((CURRENT == 2)); then
    _describe command verbs
    return
  fi
  case $words[2] in
{cases}
  esac
  if [[ $PREFIX == -* ]]; then compadd -- $options; else _files; fi
}}
_ranktree "$@"
""".rstrip()


def fish(verbs: list[Verb]) -> str:
    """A line a command, a line an option."""
    lines = ["# fish completion of ranktree"]
    for verb in verbs:
        lines.append(f"complete -c ranktree -n __fish_use_subcommand -f -a {verb.name} -d {quoted(VERBS[verb.name])}")
        for name, parameter in options_of(verb):
            letter = "-s" if len(name) == 2 else "-l"
            value = "" if parameter.kind is bool else " -r"
            condition = f"-n '__fish_seen_subcommand_from {verb.name}'"
            text = quoted(parameter.declared.help)
            lines.append(f"complete -c ranktree {condition} {letter} {name.lstrip('-')}{value} -d {text}")
    return "\n".join(lines)


def quoted(text: str) -> str:
    """In single quotes, as all three shells read them."""
    return "'" + text.replace("\\", "").replace("'", "’") + "'"
