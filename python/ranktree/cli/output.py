"""Files that are written after long work: what would lose it is refused before."""

import tempfile
from pathlib import Path


def require_writable(path: Path) -> None:
    """A name for a file, in a folder that takes new ones."""
    if path.is_dir():
        raise ValueError(f"{path}: a folder, not a file")
    if not path.parent.is_dir():
        raise ValueError(f"{path.parent}: no such folder (for {path.name})")
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise OSError(f"{path.parent}: cannot be written to: {error.strerror}") from None
