"""The command line: one module a verb."""

import importlib
import importlib.util
from collections.abc import Callable, Iterator

VERBS = ("topo", "trace", "map", "convert", "emit", "run")


def verbs() -> Iterator[tuple[str, Callable[..., None], dict]]:
    """Yields (name, function, typer settings) of each verb; every verb is a module with `command` and `SETTINGS`."""
    for name in VERBS:
        if importlib.util.find_spec(f"ranktree.cli.{name}") is None:
            continue
        module = importlib.import_module(f"ranktree.cli.{name}")
        yield name, module.command, getattr(module, "SETTINGS", {})
