"""The `ranktree` command."""

import importlib
import os
import sys
from collections.abc import Sequence

from ranktree.cli import ABOUT, VERBS
from ranktree.cli.options import BadParameter, Exit, Verb, overview, parse

FAILURE, WRONG_USAGE, INTERRUPTED = 1, 2, 130


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
    except Exit as done:
        sys.exit(done.code)
    except (OSError, ValueError, RuntimeError) as error:
        print(f"ranktree: {error}", file=sys.stderr)
        sys.exit(FAILURE)


def run(words: Sequence[str]) -> None:
    """The verb that the first word names."""
    verb = words[0] if words else ""
    if verb == "--version":
        print(f"ranktree {importlib.import_module('ranktree').__version__}")
    elif verb in VERBS:
        run_verb(verb, words[1:])
    elif verb in {"", "-h", "--help"}:
        overview(ABOUT, VERBS).print_help()
        sys.exit(0 if verb else WRONG_USAGE)
    else:
        print(f"ranktree: expected one of {', '.join(VERBS)}, found '{verb}'", file=sys.stderr)
        sys.exit(WRONG_USAGE)


def run_verb(verb: str, words: Sequence[str]) -> None:
    """Calls the verb's function with the values that the words give."""
    module = importlib.import_module(f"ranktree.cli.{verb}")
    described = Verb(verb, module.command, getattr(module, "INTERSPERSED", True), module.EXAMPLE)
    try:
        module.command(**parse(described, words))
    except BadParameter as error:
        print(f"ranktree {verb}: {error}\nTry 'ranktree {verb} --help' for help.", file=sys.stderr)
        sys.exit(WRONG_USAGE)
