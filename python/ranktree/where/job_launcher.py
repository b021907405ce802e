"""The launcher of the job around this process, whose version may differ from that of the helper's MPI."""

import os
from pathlib import Path

from ranktree.launcher import identify

PROXIES = ("hydra_pmi_proxy", "orted", "prted", "mpirun", "mpiexec", "mpiexec.hydra", "orterun", "prterun")
STARTERS = ("mpiexec.hydra", "mpiexec.mpich", "mpiexec.openmpi", "mpiexec", "mpirun")


def job_version(family: str) -> tuple[int, ...]:
    """Version of the launcher whose daemon started this process; empty where none is found among its parents."""
    for process in parents(os.getpid()):
        try:
            program = Path(f"/proc/{process}/exe").resolve()
        except OSError:
            continue
        if program.name not in PROXIES:
            continue
        for name in STARTERS:
            version = version_of(program.parent / name, family)
            if version:
                return version
    return ()


def version_of(starter: Path, family: str) -> tuple[int, ...]:
    """Of a launcher of that family; empty for others."""
    if not starter.exists():
        return ()
    try:
        found, version = identify(str(starter))
    except ValueError:
        return ()
    return version if found == family else ()


def parents(process: int) -> list[int]:
    """The processes above one, nearest first."""
    found = []
    while process > 1:
        try:
            status = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            break
        process = int(status.rpartition(")")[2].split()[1])
        found.append(process)
    return found
