"""What SimGrid installs, and what Ranktree builds for it."""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

PACKAGES = "Debian: apt-get install simgrid libsimgrid-dev"
LIBRARIES = Path(__file__).absolute().parent.parent / "lib"  # beside the package, which may be a link
COMPILERS = {
    "cc": "smpicc",
    "c++": "smpicxx",
    "cxx": "smpicxx",
    "f77": "smpiff",
    "f90": "smpif90",
    "fortran": "smpif90",
}


@dataclass(frozen=True)
class Tools:
    """What a simulation runs with."""

    starter: Path  # SimGrid's program that loads the ranks
    platform: Path  # Ranktree's library that turns a machine into SimGrid's platform


def require_program(name: str) -> str:
    """The path of one of SimGrid's programs, or one line with the package that has it."""
    path = shutil.which(name)
    if path is None:
        raise ValueError(f"{name}: not installed; simulations need SimGrid ({PACKAGES})")
    return path


def find_tools() -> Tools:
    """Raises ValueError where SimGrid, or what was built for it, is missing."""
    script = Path(require_program("smpirun")).read_text(encoding="utf-8", errors="replace")
    found = re.search(r'"(/[^"$]*/smpimain)"', script)
    if found is None or not Path(found[1]).is_file():
        raise ValueError(f"smpirun: its program smpimain is not there; simulations need SimGrid 3.32 ({PACKAGES})")
    return Tools(Path(found[1]), built("libranktree_platform.so"))


def built(name: str) -> Path:
    """A library or program of Ranktree for SimGrid."""
    path = LIBRARIES / name
    if not path.is_file():
        raise ValueError(
            f"{path}: Ranktree was built where SimGrid was not installed: install it ({PACKAGES}), build again"
        )
    return path


def compiler(language: str) -> str:
    """The wrapper that compiles a language for simulations: `cc`, `c++`, `f77` or `f90`."""
    if language not in COMPILERS:
        raise ValueError(f"--compile: expected {', '.join(COMPILERS)}, found '{language}'")
    return require_program(COMPILERS[language])
