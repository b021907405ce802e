"""Modules of folders of scripts, which import each other by bare names."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]


def load(folder: str, *names: str) -> list[ModuleType]:
    """Imports modules of a folder of this repository as its scripts see them, and leaves no bare name behind.

    Two folders have a run.py: a name that stayed in sys.modules would be taken for the second one.
    """
    path = ROOT / folder
    before = list(sys.path)
    sys.path.insert(0, str(path))
    try:
        return [importlib.import_module(name) for name in names]
    finally:
        sys.path[:] = before
        for name in [name for name, module in sys.modules.items() if _is_below(module, path)]:
            del sys.modules[name]


def _is_below(module: ModuleType, folder: Path) -> bool:
    file = getattr(module, "__file__", None)
    return file is not None and Path(file).parent == folder and "." not in module.__name__
