"""Ranktree: MPI programs that follow the machine.

`ranktree.place(pattern, machine)` returns a `ranktree.Plan`. `Pattern`, `Machine`, `Plan` and `Report` show themselves
in a notebook. Functions raise `ranktree.Error`, a `ValueError`, for wrong input; it is an
`OSError` as well where a file cannot be read or written. All are loaded at their first use.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ranktree._core import Error, Slot
    from ranktree.notebook.machine import Machine
    from ranktree.notebook.pattern import Pattern
    from ranktree.notebook.plan import Plan
    from ranktree.notebook.report import Report
    from ranktree.placement import place

__all__ = ["Error", "Machine", "Pattern", "Plan", "Report", "Slot", "__version__", "place"]

__version__: str

MODULES = {
    "Error": "ranktree._core",
    "Machine": "ranktree.notebook.machine",
    "Pattern": "ranktree.notebook.pattern",
    "Plan": "ranktree.notebook.plan",
    "Report": "ranktree.notebook.report",
    "Slot": "ranktree._core",
    "place": "ranktree.placement",
}


def __getattr__(name: str) -> Any:
    """Load a name at its first use: keeps `import ranktree.something` free of numpy and the extension."""
    if name == "__version__":
        from ranktree import _core  # noqa: PLC0415

        return vars(_core)["__version__"]
    if name in MODULES:
        return getattr(importlib.import_module(MODULES[name]), name)
    raise AttributeError(f"module 'ranktree' has no attribute '{name}'")


def __dir__() -> list[str]:
    """Names for completion, loaded or not."""
    return sorted({*globals(), *__all__})
