"""The command line: one module a verb, with `command` and, where it needs any, `SETTINGS` for typer."""

import importlib
from collections.abc import Callable, Iterator

VERBS = ("topo", "trace", "map", "convert", "emit", "run", "bench", "calibrate", "predict", "tune")


def verbs(wanted: str | None) -> Iterator[tuple[str, Callable[..., None], dict]]:
    """Yields (name, function, typer settings): of the wanted verb alone, so that it starts fast, or of all."""
    for name in (wanted,) if wanted in VERBS else VERBS:
        module = importlib.import_module(f"ranktree.cli.{name}")
        yield name, module.command, getattr(module, "SETTINGS", {})
