"""What the libraries call on their own account has a PMPI_ name, which no tool in front or behind wraps."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.helpers.mpis import NAMES

KINDS = {"collect", "mpi", "paper", "preload", "world"}
# Calls, not constants such as MPI_UNWEIGHTED. By relocations: a library's call of a wrapper of its own has one too.
CALL = re.compile(r" (P?)(MPIX?_[A-Z][a-z]\w*)")


def called(library: Path) -> set[tuple[str, str]]:
    """The calls that the loader resolves for a library: P or nothing, and the name."""
    words = ["readelf", "--relocs", "--wide", library]
    return set(CALL.findall(subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout))


@pytest.mark.parametrize("name", NAMES)
def test_no_library_calls_by_the_names_of_programs(build_folder: Path, name: str) -> None:
    libraries = {path.name.split("_")[1]: path for path in (build_folder / "lib").glob(f"libranktree_*_{name}.so")}
    if not libraries:
        pytest.skip(f"{build_folder} is built without {name}")
    assert libraries.keys() == KINDS
    for kind, library in libraries.items():
        found = called(library)
        assert (("P", "MPI_Comm_rank") in found) == (kind != "paper"), library
        assert sorted(call for prefix, call in found if not prefix) == [], library
