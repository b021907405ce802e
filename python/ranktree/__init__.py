"""Ranktree: MPI programs that follow the machine.

`ranktree.place(pattern, machine)` gives a `ranktree.Plan`; both are loaded when they are first asked for.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ranktree.placement import Plan, place

__all__ = ["Plan", "place"]


def __getattr__(name: str) -> Any:
    """Keeps `import ranktree.something` free of numpy and the extension."""
    if name in __all__:
        from ranktree import placement  # noqa: PLC0415

        return getattr(placement, name)
    raise AttributeError(f"module 'ranktree' has no attribute '{name}'")
