"""The `ranktree` command."""

import importlib
import os
import sys
from collections.abc import Sequence

from ranktree.child import Interrupted, become_result
from ranktree.cli import ABOUT, COMMON, VERBS
from ranktree.cli.options import BadParameter, Exit, Verb, nearest, overview, parse

FAILURE, WRONG_USAGE, INTERRUPTED = 1, 2, 130


def main() -> None:
    """Runs one verb; a failure is one line on stderr and exit code 1, wrong usage exit code 2."""
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115  it was closed
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    become_result(flushed(result()))


def result() -> int:
    """The exit code of the command line, or minus the signal of its termination."""
    try:
        run(sys.argv[1:])
    except BrokenPipeError:  # the reader has enough
        return FAILURE
    except KeyboardInterrupt:
        return INTERRUPTED
    except Interrupted as interrupted:
        return -interrupted.number
    except (Exit, SystemExit) as done:
        return int(done.code or 0)
    except (OSError, ValueError, RuntimeError) as error:
        print(f"ranktree: {error}", file=sys.stderr)
        return FAILURE
    return 0


def flushed(code: int) -> int:
    """The exit code, a failure where the output cannot be written: Python would complain, and exit with 120."""
    try:
        sys.stdout.flush()
    except OSError as error:
        if code == 0 and not isinstance(error, BrokenPipeError):
            print(f"ranktree: standard output: {error.strerror}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return code or FAILURE
    return code


def run(words: Sequence[str]) -> None:
    """The verb that the first word names."""
    verb = words[0] if words else ""
    if verb == "--version":
        print(f"ranktree {importlib.import_module('ranktree').__version__}")
    elif verb in VERBS:
        run_verb(verb, words[1:])
    elif verb in {"-h", "--help"}:
        overview(ABOUT, VERBS).print_help()
    elif not verb:
        print(first_steps())
    else:
        known = nearest(verb, VERBS) or f"expected one of {', '.join(VERBS)}"
        print(f"ranktree: no such command: '{verb}' ({known})", file=sys.stderr)
        sys.exit(WRONG_USAGE)


def first_steps() -> str:
    """The most common commands, each with an example."""
    lines = [f"  {VERBS[verb]}\n    {example}" for verb, example in COMMON.items()]
    return "\n".join([ABOUT, "", *lines, "", "All commands: ranktree --help. One of them: ranktree COMMAND --help."])


def load_verb(verb: str) -> Verb:
    """The verb as its module declares it."""
    module = importlib.import_module(f"ranktree.cli.{verb}")
    return Verb(verb, module.command, getattr(module, "INTERSPERSED", True), module.EXAMPLE)


def run_verb(verb: str, words: Sequence[str]) -> None:
    """Calls the verb's function with the values that the words give."""
    described = load_verb(verb)
    try:
        described.function(**parse(described, words))
    except BadParameter as error:
        print(f"ranktree {verb}: {error}\nTry 'ranktree {verb} --help' for help.", file=sys.stderr)
        sys.exit(WRONG_USAGE)
