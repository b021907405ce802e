"""No call of any MPI's header gets past the world library, but those that are declared here to need nothing."""

import json
import re
import subprocess
from pathlib import Path

import pytest

NAMES = ["openmpi", "mpich", "openmpi5", "mpich5", "mpiabi1", "intelmpi2021"]
HEADERS = "#include <mpi.h>\n#if __has_include(<mpi-ext.h>)\n#include <mpi-ext.h>\n#endif\n"
# A declaration, and its parameters, which may hold the parentheses of function types.
FUNCTION = re.compile(r"\b(P?MPIX?_[A-Z]\w*)\s*\(((?:[^()]|\([^()]*\))*)\)\s*(?=[;_a-z])")
HANDLE = re.compile(r"\bMPI_(Comm|Group|Session)\b")
CALLBACK = re.compile(r"_(function|fn)(_c)?$")
GROUP_CALLS = (
    "c2f f2c toint rank size compare difference intersection union excl incl range_excl range_incl free translate_ranks"
)
SESSION_CALLS = (
    "init finalize c2f toint get_info set_info create_errhandler call_errhandler get_errhandler set_errhandler "
    "get_num_psets get_nth_pset get_pset_info attach_buffer attach_buffer_c detach_buffer detach_buffer_c flush_buffer "
    "flush_buffer_c iflush_buffer iflush_buffer_c"
)
HARMLESS = {
    "MPI_Abort": "ends the same processes whichever order they have",
    "MPI_Comm_c2f": "the handle stays the handle; what is done with it goes through a call that is wrapped",
    "MPI_Comm_toint": "the same",
    "MPI_Comm_get_parent": "hands a communicator out",
    "MPI_Comm_join": "hands one out",
    "MPI_Comm_create_from_group": "hands one out, in the order of the group",
    "MPI_Intercomm_create_from_groups": "the same",
    "MPI_Comm_free": "MPI refuses to free MPI_COMM_WORLD",
    "MPI_Comm_disconnect": "the same",
    "MPIX_Threadcomm_free": "frees a communicator of threads",
    "MPI_File_get_group": "hands a group out, in the order of the file's communicator",
    "MPI_Win_get_group": "the same of a window",
    "MPI_Win_post": "a group has the order of the communicator, window, file or process set that it comes from",
    "MPI_Win_start": "the same",
    **dict.fromkeys([f"MPI_Group_{word}" for word in GROUP_CALLS.split()], "groups, as above"),
    **dict.fromkeys(
        [f"MPI_Session_{word}" for word in SESSION_CALLS.split()],
        "sessions have no ranks; MPI_Group_from_session_pset, which gives them their world, is wrapped",
    ),
}


@pytest.fixture(params=NAMES)
def entry(request: pytest.FixtureRequest, build_folder: Path) -> dict:
    """Each MPI of the build, as build/mpis.json has it."""
    table = json.loads((build_folder / "mpis.json").read_text(encoding="utf-8"))
    found = next((entry for entry in table if entry["name"] == request.param), None)
    if found is None:
        pytest.skip(f"{build_folder} is built without {request.param}")
    return found


def declared(entry: dict) -> dict[str, str]:
    """The functions of the MPI's headers with their parameters."""
    words = [entry["mpicc"], "-E", "-P", "-x", "c", "-"]
    text = subprocess.run(words, input=HEADERS, capture_output=True, text=True, check=True, timeout=60).stdout
    return {name: words for name, words in FUNCTION.findall(text) if not CALLBACK.search(name)}


def wrapped(build_folder: Path, name: str) -> set[str]:
    """The names that the world library defines."""
    library = build_folder / "lib" / f"libranktree_world_{name}.so"
    words = ["nm", "-D", "--defined-only", library]
    listing = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout
    return {line.split()[-1] for line in listing.splitlines()}


def test_every_call_that_takes_a_communicator_a_group_or_a_session_is_wrapped_or_declared(entry, build_folder):
    functions = declared(entry)
    taking = {name for name, parameters in functions.items() if HANDLE.search(parameters)}
    assert len(functions) > 800
    assert len(taking) > 300
    left = {name for name in taking - wrapped(build_folder, entry["name"]) if name.removeprefix("P") not in HARMLESS}
    assert not left, sorted(left)


def test_nothing_is_declared_that_is_wrapped(build_folder, entry):
    assert not wrapped(build_folder, entry["name"]) & set(HARMLESS)
