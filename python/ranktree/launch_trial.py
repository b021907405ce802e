"""Whether a launcher binds the ranks of a plan without the wrapper: tried with a script in place of the program.

Hydra of MPICH 4 leaves a rank unbound where its host lacks a PU, and prints nothing.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path

from ranktree import _core, verify
from ranktree.child import Child
from ranktree.launch_files import write_files

SHOWN = 200
Prepare = Callable[[list[str], Path], tuple[list[str], dict[str, str]]]


def failure(slots: verify.Slots, place: Path, prepare: Prepare) -> str | None:
    """Why not every rank is bound as planned by a launch whose files `prepare` writes to a folder; None where all are.

    The ranks start a script that calls no MPI.
    """
    place.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".trial-", dir=place) as name:
        folder = Path(name)
        folder.chmod(0o755)
        (probe,) = write_files(folder, [(verify.PROBE, _core.probe_script(), True)], force=True)
        arguments, variables = prepare([str(probe)], folder)
        try:
            found = verify.launch(Child(arguments, variables), folder, len(slots))
        except RuntimeError as error:
            return str(error).removeprefix("--verify: ")[:SHOWN]
    for rank, planned, real in _core.misplaced(list(slots), found, True):
        return f"rank {rank}: planned {verify.shown(planned)}, found {verify.shown(real)}"
    return None
