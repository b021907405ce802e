"""The `ranktree` command."""

import sys

import typer

from ranktree.cli import verbs

USAGE_ERROR = 2
FAILURE = 1

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
for name, command, settings in verbs():
    app.command(name, **settings)(command)


def main() -> None:
    """Runs one verb; a failure is one line on stderr and exit code 1, wrong usage exit code 2."""
    try:
        app()
    except (OSError, ValueError, RuntimeError) as error:
        print(f"ranktree: {error}", file=sys.stderr)
        sys.exit(FAILURE)
