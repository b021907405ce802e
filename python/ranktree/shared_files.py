"""Files that every rank of a launch needs, and the ranks that cannot read one."""

import os
import re
import tempfile
from pathlib import Path

from ranktree.child import Child
from ranktree.shim import Command
from ranktree.world import in_place_of_program

SECONDS = 60
# $0 is the file.
SCRIPT = """test -r "$0" && exit
hydra=${PMI_FD:-${HYDI_CONTROL_FD:-${MPI_LOCALRANKID:-}}}
rank=${OMPI_COMM_WORLD_RANK:-${hydra:+${PMI_RANK:-}}}
rank=${rank:-${PMIX_RANK:-${PMI_RANK:-${SLURM_PROCID:-0}}}}
echo "ranktree-absent $rank $(uname -n)"
"""


def ranks_without(command: Command, file: Path) -> list[tuple[int, str]]:
    """(rank, host) of each rank that cannot read a file, by a launch of a shell in place of the program."""
    arguments = in_place_of_program(command, ["/bin/sh", "-c", SCRIPT, str(file)])
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "output"
        Child(arguments, os.environ).run(SECONDS, output, Path(folder) / "errors")
        text = output.read_text(encoding="utf-8", errors="replace")
    return sorted((int(rank), host) for rank, host in re.findall(r"ranktree-absent (\d+) (\S+)", text))
