"""The `ranktree` command."""

import importlib
import inspect
import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence

from ranktree.cli import VERBS
from ranktree.cli.options import BadParameter, HelpWanted, Parameter, help_lines, parameters_of, parse, usage

FAILURE, WRONG_USAGE, INTERRUPTED = 1, 2, 130
ABOUT = "MPI programs that follow the machine: trace who talks to whom, place each rank where it belongs, rerun."
WIDEST = 100


def main() -> None:
    """Runs one verb; a failure is one line on stderr and exit code 1, wrong usage exit code 2."""
    try:
        run(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has enough; Python would complain again when it closes the stream
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(FAILURE)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except (OSError, ValueError, RuntimeError) as error:
        print(f"ranktree: {error}", file=sys.stderr)
        sys.exit(FAILURE)


def run(words: Sequence[str]) -> None:
    """The verb that the first word names."""
    verb = words[0] if words else ""
    if verb == "--version":
        print(f"ranktree {importlib.import_module('ranktree').__version__}")
    elif verb in VERBS:
        module = importlib.import_module(f"ranktree.cli.{verb}")
        run_verb(verb, module.command, words[1:], getattr(module, "INTERSPERSED", True))
    elif verb in {"", "--help"}:
        print(overview())
        sys.exit(0 if verb else WRONG_USAGE)
    else:
        print(f"ranktree: expected one of {', '.join(VERBS)}, found '{verb}'", file=sys.stderr)
        sys.exit(WRONG_USAGE)


def run_verb(verb: str, command: Callable[..., None], words: Sequence[str], interspersed: bool) -> None:
    """Calls the verb's function with what the words say."""
    parameters = parameters_of(command)
    try:
        command(**parse(parameters, words, interspersed))
    except HelpWanted:
        print(verb_help(verb, command, parameters))
    except BadParameter as error:
        lines = (usage(verb, parameters), f"Try 'ranktree {verb} --help' for help.", "", f"Error: {error}")
        print("\n".join(lines), file=sys.stderr)
        sys.exit(WRONG_USAGE)


def overview() -> str:
    """Every verb with what it does."""
    rows = [*VERBS.items(), ("--version", "Print the version and exit."), ("--help", "Show this and exit.")]
    end = "'ranktree VERB --help' shows a verb's options."
    return "\n".join(["Usage: ranktree VERB ...", "", ABOUT, "", *table(rows), "", end])


def verb_help(verb: str, command: Callable[..., None], parameters: Sequence[Parameter]) -> str:
    """A verb's page."""
    about = textwrap.fill(" ".join((inspect.getdoc(command) or "").split()), width())
    return "\n".join([usage(verb, parameters), "", about, "", *table(help_lines(parameters))])


def width() -> int:
    """Of a line."""
    return min(WIDEST, shutil.get_terminal_size().columns)


def table(rows: Iterable[tuple[str, str]]) -> list[str]:
    """Two columns; a long name has a line of its own."""
    lines = []
    for name, text in rows:
        found = textwrap.wrap(text, max(20, width() - 28), break_on_hyphens=False) or [""]
        head = [f"  {name:<24}  {found.pop(0)}"] if len(name) <= 24 else [f"  {name}"]
        lines += [*head, *(" " * 28 + line for line in found)]
    return lines
