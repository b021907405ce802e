"""The part of counting_tool.c that depends on the MPI: the calls of src/preload/calls.tsv that its mpi.h declares."""

import re
import subprocess
from pathlib import Path

from tests.helpers.mpis import Mpi

TABLE = Path(__file__).resolve().parents[2] / "src/preload/calls.tsv"
BY_HAND = {"MPI_Init", "MPI_Init_thread", "MPI_Finalize"}
DECLARATION = re.compile(r"([\w ]+[ *]+)\b(MPIX?_[A-Z]\w*) ?\(([^()]*)\)")
PARAMETER = re.compile(r"(\w+) ?(?:\[\w*\] ?)*$")


def arguments(parameters: str) -> str:
    """The names in a list of parameters. What follows the level of MPI_Pcontrol is dropped."""
    listed = [one.strip() for one in parameters.split(",")]
    return ", ".join(PARAMETER.search(one)[1] for one in listed if one not in {"void", "..."})


def write_calls(mpi: Mpi, path: Path) -> None:
    """Writes calls.h of an MPI."""
    words = [mpi.mpicc, "-E", "-P", "-x", "c", "-"]
    done = subprocess.run(words, input="#include <mpi.h>\n", capture_output=True, text=True, check=True, timeout=60)
    header = " ".join(done.stdout.split())
    declared = set(re.findall(r"\bPMPIX?_\w+(?= ?\()", header))
    table = {line.split("\t")[0] for line in TABLE.read_text(encoding="utf-8").splitlines()[1:]}
    wanted = {name for name in table - BY_HAND if f"P{name}" in declared}
    found = {name: (kind.strip(), listed) for kind, name, listed in DECLARATION.findall(header) if name in wanted}
    assert found.keys() == wanted
    assert len(found) > 380
    lines = [f"CALL({kind}, {name}, ({listed}), ({arguments(listed)}))" for name, (kind, listed) in found.items()]
    path.write_text("\n".join(lines) + "\n", encoding="ascii")
