"""The programs ranktree-ranks-<mpi> that are built once for each MPI."""

import os
import subprocess
from pathlib import Path

LIBRARY_FOLDER = Path(__file__).absolute().parent / "lib"
MARKS = {"openmpi": "Open MPI", "mpich": "MPICH", "intel": "Intel"}
FALLBACK = {"intel": "mpich"}  # one binary interface
SECONDS = 30


def built() -> dict[str, Path]:
    """The helpers by name of their MPI."""
    prefix = "ranktree-ranks-"
    return {path.name.removeprefix(prefix): path for path in sorted(LIBRARY_FOLDER.glob(prefix + "*"))}


def library_text(helper: Path) -> str:
    """What the helper's MPI calls itself; empty when it cannot be loaded."""
    try:
        result = subprocess.run([helper, "--version"], capture_output=True, text=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return result.stdout.strip() if result.returncode == 0 else ""


def helper_for(family: str) -> Path | None:
    """The helper for a family (openmpi, mpich, intel): named by RANKTREE_MPI, else by its file, else by asking each."""
    known = built()
    chosen = os.environ.get("RANKTREE_MPI")
    if chosen:
        if chosen not in known:
            raise ValueError(f"RANKTREE_MPI={chosen}: expected one of {', '.join(known) or '(none is built)'}")
        return known[chosen]
    for wanted in (family, FALLBACK.get(family)):
        if wanted is None:
            continue
        if wanted in known:
            return known[wanted]
        for path in known.values():
            if MARKS[wanted] in library_text(path):
                return path
    return None
