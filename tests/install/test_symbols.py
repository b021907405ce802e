"""Each library exports the symbols of a committed list and no others: neither the C++ library's nor MPI's names.

A new function goes into its list. One that disappears, or gets other parameters, needs a new minor version.
"""

import re
import subprocess
from pathlib import Path

import pytest

from tests.helpers.mpis import DEBIAN, WHEELS

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# Wrappers of MPI's functions, for C and for Fortran, and what the preload libraries have for each other.
WRAPPERS = re.compile(r"P?MPIX?_\w+|p?mpir?_\w+|ranktree_traced_pairs")


def exported(library: Path) -> set[str]:
    """The defined dynamic symbols of a library, without the names of versions."""
    words = ["nm", "-D", "--defined-only", "--format=posix", str(library)]
    result = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    return {line.split()[0].partition("@")[0] for line in result.stdout.splitlines()}


def listed(name: str) -> set[str]:
    """A committed list."""
    return set((HERE / "symbols" / f"{name}.txt").read_text(encoding="ascii").split())


def soname(library: Path) -> str:
    """The name that programs load."""
    result = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, timeout=60, check=True)
    found = re.search(r"SONAME.*\[(.*)\]", result.stdout)
    assert found, library
    return found[1]


@pytest.fixture(params=[*DEBIAN, *WHEELS])
def mpi(request: pytest.FixtureRequest, mpi_builds: dict) -> dict:
    """The entry of each MPI that the build was made for."""
    return mpi_builds.get(request.param) or pytest.skip(f"built without {request.param}")


def test_the_c_library(build_folder: Path) -> None:
    """Its functions."""
    assert exported(build_folder / "lib/libranktree.so") == listed("ranktree")


def test_the_library_of_an_mpi(mpi: dict, build_folder: Path) -> None:
    """Its functions, and Fortran's where the ABI has Fortran handles."""
    expected = listed("ranktree_mpi") | (set() if mpi["abi"] == "standard" else listed("ranktree_mpi_fortran"))
    assert exported(build_folder / f"lib/libranktree_mpi_{mpi['name']}.so") == expected


def test_the_library_of_simulated_ranks(build_folder: Path) -> None:
    """The functions of the other MPIs' libraries, but Fortran's."""
    library = build_folder / "lib/libranktree_mpi_smpi.so"
    if not library.exists():
        pytest.skip("built without SimGrid")
    assert exported(library) == listed("ranktree_mpi")


@pytest.mark.parametrize("kind", ["preload", "collect"])
def test_a_preload_library_of_simulated_ranks_exports_wrappers_alone(build_folder: Path, kind: str) -> None:
    """As those of the other MPIs."""
    library = build_folder / f"lib/libranktree_{kind}_smpi.so"
    if not library.exists():
        pytest.skip("built without SimGrid")
    found = exported(library)
    assert len(found) > 10
    assert not [name for name in found if not WRAPPERS.fullmatch(name)]


IN_PLACE_OF_SIMGRIDS = {
    "_ZN7simgrid3s4u10this_actor4exitEv",
    "_ZN7simgrid4smpi4Comm8init_smpEv",
    "_ZN7simgrid4smpi15allgather__ringEPKviPNS0_8DatatypeEPviS4_PNS0_4CommE",
    "_ZN7simgrid6kernel8activity8CommImpl5isendEPNS0_5actor16CommIsendSimcallE",
    "_ZN7simgrid6kernel8activity8CommImpl6finishEv",
}


@pytest.mark.parametrize(
    ("name", "names"),
    [("platform", {"load_platform"} | IN_PLACE_OF_SIMGRIDS), ("replay", {"main"})],
    ids=["platform", "replay"],
)
def test_what_simgrid_loads_exports_its_entry_alone(name: str, names: set[str], build_folder: Path) -> None:
    """A machine for smpirun, with what stands in for functions of SimGrid's; and a program for simulations."""
    library = build_folder / f"lib/libranktree_{name}.so"
    if not library.exists():
        pytest.skip("built without SimGrid")
    assert exported(library) == names


def test_mpis_names_are_in_a_library_of_their_own(mpi: dict, build_folder: Path) -> None:
    """The three functions of ranktree/paper.h."""
    assert exported(build_folder / f"lib/libranktree_paper_{mpi['name']}.so") == listed("ranktree_paper")


@pytest.mark.parametrize("kind", ["preload", "collect", "world"])
def test_a_preload_library_exports_wrappers_alone(mpi: dict, build_folder: Path, kind: str) -> None:
    """Names of MPI, which is its purpose."""
    found = exported(build_folder / f"lib/libranktree_{kind}_{mpi['name']}.so")
    assert len(found) > 10
    assert not [name for name in found if not WRAPPERS.fullmatch(name)]


def test_the_names_to_load_have_the_minor_version(mpi: dict, build_folder: Path) -> None:
    """As long as the major version is 0: a program finds the ABI that it was linked with, or none."""
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    found = re.search(r"^project\(ranktree VERSION (\d+)\.(\d+)", text, re.M)
    assert found
    version = f"{found[1]}.{found[2]}" if found[1] == "0" else found[1]
    for name in ("ranktree", f"ranktree_mpi_{mpi['name']}", f"ranktree_paper_{mpi['name']}"):
        assert soname(build_folder / f"lib/lib{name}.so") == f"lib{name}.so.{version}"
