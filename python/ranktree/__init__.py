"""Ranktree: MPI programs that follow the machine.

`ranktree.place(pattern, machine)` gives a `ranktree.Plan`; both are loaded when they are first asked for.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ranktree.placement import Plan, place

__all__ = ["Plan", "__version__", "place"]

__version__: str


def __getattr__(name: str) -> Any:
    """Keeps `import ranktree.something` free of numpy and the extension."""
    if name == "__version__":
        from ranktree import _core  # noqa: PLC0415

        return _core.__version__
    if name in __all__:
        from ranktree import placement  # noqa: PLC0415

        return getattr(placement, name)
    raise AttributeError(f"module 'ranktree' has no attribute '{name}'")
