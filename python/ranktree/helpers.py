"""What is built once for each MPI: which there are, the programs ranktree-ranks-<mpi>, and the message without any."""

import functools
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

LIBRARY_FOLDER = Path(__file__).absolute().parent / "lib"
MARKS = {"openmpi": "Open MPI", "mpich": "MPICH", "intel": "Intel"}
FALLBACK = {"intel": "mpich"}  # one binary interface
SECONDS = 30
TABLE = "mpis.json"  # written by cmake/RanktreeMpi.cmake
HOW_TO_BUILD = (
    "to build for an MPI: ranktree doctor --build /path/of/mpicc, "
    "or pip install . --config-settings cmake.define.RANKTREE_MPIS=NAME=/path/of/mpicc, "
    "or cmake -DRANKTREE_MPIS=NAME=/path/of/mpicc"
)


def built() -> dict[str, Path]:
    """The helpers by name of their MPI; those of the standard ABI, which fewer programs are built for, come last."""
    prefix = "ranktree-ranks-"
    found = {path.name.removeprefix(prefix): path for path in LIBRARY_FOLDER.glob(prefix + "*")}
    standard = {entry["name"] for entry in build_table()["mpis"] if entry.get("abi") == "standard"}
    return {name: found[name] for name in sorted(found, key=lambda name: (name in standard, name))}


@functools.cache
def build_table() -> dict[str, list[Any]]:
    """The MPIs of the build (name, family, version, abi), and the names and folders that it looked for and in."""
    try:
        table: dict[str, list[Any]] = json.loads((LIBRARY_FOLDER / TABLE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {"mpis": [], "names": [], "folders": []}
    return table


def family_of(name: str) -> str:
    """Of an MPI of the build by its name: openmpi5 is openmpi."""
    return next((entry["family"] for entry in build_table()["mpis"] if entry["name"] == name), name)


def abi_of(name: str) -> str | None:
    """Of an MPI of the build by its name: openmpi, mpich or standard."""
    return next((entry["abi"] for entry in build_table()["mpis"] if entry["name"] == name), None)


def not_built() -> str:
    """Why there is nothing for any MPI: what the build looked for, and how to name an MPI to it."""
    search = build_table()
    names, folders = ", ".join(search["names"]), ", ".join(search["folders"])
    looked = f"it looked for {names} in {folders}" if names else "RANKTREE_MPI is OFF"
    return f"this ranktree was built without an MPI ({looked}); {HOW_TO_BUILD}"


def library_text(helper: Path) -> str:
    """What the helper's MPI calls itself; empty when it cannot be loaded."""
    try:
        result = subprocess.run([helper, "--version"], capture_output=True, text=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return result.stdout.strip() if result.returncode == 0 else ""


def product(text: str) -> str:
    """`Open MPI 4.1.4` or `MPICH 4.0.2` from what an MPI's library calls itself."""
    return re.sub(r"^(Open MPI|MPICH) (?:v|Version:\s*)", r"\1 ", text.partition(",")[0])


def serves(name: str, text: str, family: str) -> bool:
    """Whether a helper, whose library_text() this is, serves a family (openmpi, mpich, intel).

    By its text, since Intel's library is loaded in place of MPICH's; MVAPICH's family is known to the build alone.
    """
    return bool(text) and (family_of(name) == family or (family in MARKS and MARKS[family] in text))


def helper_for(family: str) -> Path | None:
    """The helper for a family: named by RANKTREE_MPI; else one that serves it, first the one with its name."""
    known = built()
    chosen = os.environ.get("RANKTREE_MPI")
    if chosen:
        if chosen not in known:
            raise ValueError(f"RANKTREE_MPI={chosen}: expected one of {', '.join(known) or not_built()}")
        return known[chosen]
    for wanted in (family, FALLBACK.get(family)):
        if wanted is None:
            continue
        for name in sorted(known, key=lambda name: name != wanted):
            if serves(name, library_text(known[name]), wanted):
                return known[name]
    return None
