"""Builds the libraries for one more MPI, from the sources that the package carries, and puts them beside the others."""

import itertools
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ranktree import _core, helpers

SOURCE = Path(__file__).absolute().parents[1] / "source"
TARGETS = (
    *("ranktree_preload_{}", "ranktree_world_{}", "ranktree_collect_{}", "ranktree_mpi_c_{}"),
    *("ranktree-ranks-{}", "ranktree-reorder-{}", "ranktree-bench-{}", "ranktree-calibrate-{}"),
)
SECONDS = 60
SHOWN_LINES = 12
# Macros of mpi.h that identify the product and its version, the most special first.
PRODUCTS = (
    ("intelmpi", "I_MPI_VERSION"),
    ("openmpi", "OMPI_MAJOR_VERSION"),
    ("mvapich", "MVAPICH2_VERSION"),  # also has MPICH's
    ("mvapich", "MVAPICH_VERSION"),
    ("mpich", "MPICH_VERSION"),
)
Notify = Callable[[str], None]


def build(wanted: str, jobs: int, notify: Notify) -> list[Path]:
    """Builds for `NAME=/path/of/mpicc`, or without a name; the added files. RuntimeError names what failed."""
    name, _, wrapper = wanted.rpartition("=")
    found = shutil.which(wrapper)
    if found is None:
        raise ValueError(f"--build: {wrapper}: no such compiler wrapper")
    compiler = os.path.abspath(found)  # noqa: PTH100 - wrappers may be links; and Path drops the ./ that keeps off PATH
    require_tools()
    name = name or free_name(compiler)
    if not re.fullmatch(r"[a-z0-9_]+", name):
        raise ValueError(f"--build: expected a name of small letters, digits and _, found '{name}'")
    if not os.access(helpers.LIBRARY_FOLDER, os.W_OK):
        raise ValueError(f"--build: {helpers.LIBRARY_FOLDER} cannot be written to: install ranktree in a venv")
    with tempfile.TemporaryDirectory(prefix="ranktree-build-") as folder:
        make(Path(folder), name, compiler, jobs, notify)
        return put_beside(Path(folder) / "lib", name)


def require_tools() -> None:
    """What a build needs beside the MPI."""
    if not (SOURCE / "CMakeLists.txt").is_file():
        raise RuntimeError(f"--build: {SOURCE}: this package carries no sources")
    for tool in ("cmake", "c++"):
        if shutil.which(tool) is None:
            raise RuntimeError(f"--build: {tool} is not on PATH: install CMake 3.25 and a compiler for C++20")


def make(folder: Path, name: str, compiler: str, jobs: int, notify: Notify) -> None:
    """Configures and builds the targets of one MPI."""
    notify(f"configuring for {name}, {compiler}")
    options = ["-DRANKTREE_PYTHON=OFF", "-DRANKTREE_TESTS=OFF", "-DCMAKE_BUILD_WITH_INSTALL_RPATH=ON"]
    words = ["cmake", "-S", str(SOURCE.resolve()), "-B", str(folder), f"-DRANKTREE_MPIS={name}={compiler}"]
    run([*words, *options], "configuring")
    notify(f"building for {name}, which takes some minutes")
    targets = [target.format(name) for target in TARGETS]
    run(["cmake", "--build", str(folder), "--parallel", str(jobs), "--target", *targets], "building")


def run(words: list[str], what: str) -> None:
    """A step of the build; its last lines where it fails."""
    result = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if result.returncode != 0:
        lines = [line for line in result.stdout.splitlines() if line.strip()]
        reason = [line for line in lines if "error" in line.lower()][:SHOWN_LINES] or lines[-SHOWN_LINES:]
        raise RuntimeError("\n  ".join([f"--build: {what} failed:", *reason]))


def put_beside(built: Path, name: str) -> list[Path]:
    """Copies what was built for an MPI into the package, and adds the MPI to its table."""
    added = []
    for path in sorted([*built.glob(f"*_{name}.so*"), *built.glob(f"ranktree-*-{name}")]):
        target = helpers.LIBRARY_FOLDER / path.name
        target.unlink(missing_ok=True)  # a new file: programs that run keep the old one
        shutil.copy2(path, target, follow_symlinks=False)
        added.append(target)
    table = json.loads((built / helpers.TABLE).read_text(encoding="utf-8"))
    known = helpers.build_table()
    others = [entry for entry in known["mpis"] if entry["name"] != name]
    merged: Mapping[str, list[Any]] = known | {"mpis": [*others, *table["mpis"]]}
    _core.write_file(str(helpers.LIBRARY_FOLDER / helpers.TABLE), json.dumps(merged, indent=1) + "\n")
    return added


def free_name(compiler: str) -> str:
    """openmpi5, mpich4, ... as the build names MPIs; with the whole version, and a number, where names are taken."""
    words = [compiler, "-E", "-dM", "-include", "mpi.h", "-x", "c", os.devnull]
    result = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False)
    macros = dict(re.findall(r'^#define (\w+) "?([^"\s]*)"?', result.stdout, re.MULTILINE))
    product = next((pair for pair in PRODUCTS if pair[1] in macros), None)
    if result.returncode != 0 or product is None:
        raise ValueError(f"--build: {compiler}: mpi.h is of no known MPI: write --build NAME={compiler}")
    version = str(macros[product[1]])
    if product[0] == "openmpi":
        version = ".".join(macros.get(f"OMPI_{part}_VERSION", "0") for part in ("MAJOR", "MINOR", "RELEASE"))
    short = product[0] + version.partition(".")[0]
    whole = product[0] + re.sub(r"\W", "_", version)
    built = set(helpers.built())
    names = itertools.chain((short, whole), (f"{whole}_{number}" for number in itertools.count(2)))
    return next(name for name in names if name not in built)
