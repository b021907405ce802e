"""The `ranktree` command."""

import sys

import typer

from ranktree.cli import verbs

FAILURE = 1


def make_app(wanted: str | None) -> typer.Typer:
    """The command with one verb or all of them."""
    app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

    @app.callback()
    def about() -> None:
        """MPI programs that follow the machine: trace who talks to whom, place each rank where it belongs, rerun."""

    for name, command, settings in verbs(wanted):
        app.command(name, **settings)(command)
    return app


def main() -> None:
    """Runs one verb; a failure is one line on stderr and exit code 1, wrong usage exit code 2."""
    try:
        make_app(sys.argv[1] if len(sys.argv) > 1 else None)(prog_name="ranktree")
    except (OSError, ValueError, RuntimeError) as error:
        print(f"ranktree: {error}", file=sys.stderr)
        sys.exit(FAILURE)
