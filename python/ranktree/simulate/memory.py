"""How much memory a simulation will take, before it starts and while it runs."""

import math
from pathlib import Path

MEBI = 1 << 20
# Measured with SimGrid 3.32 on 1,024 to 16,384 ranks: the simulator itself, a rank, and a rank with globals of its own.
SIMULATOR = 80 * MEBI
RANK = 24 << 10
OWN_GLOBALS = 24 << 10
LEAF = 1 << 10  # of the machine, with its links


def available() -> int:
    """Bytes that programs can still take on this machine, and in the control groups of this process."""
    for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
        if line.startswith("MemAvailable:"):
            free = int(line.split()[1]) << 10
            return int(min(free, left_in_groups(Path("/proc/self/cgroup"), Path("/sys/fs/cgroup"))))
    raise ValueError("/proc/meminfo: no line MemAvailable")


def left_in_groups(membership: Path, root: Path) -> float:
    """Bytes below the limits of a batch job or container: of the process's control group and those around it.

    Version 2, where each has its files below one root; infinite where there is no limit, or none that can be read.
    """
    left = math.inf
    try:
        (own,) = [line[3:] for line in membership.read_text(encoding="utf-8").splitlines() if line.startswith("0::")]
    except (OSError, ValueError):
        return left
    group = root / own.lstrip("/")
    for folder in (group, *group.parents):
        try:
            limit = (folder / "memory.max").read_text(encoding="ascii").strip()
            used = int((folder / "memory.current").read_text(encoding="ascii")) - kept_of_files(folder)
        except (OSError, ValueError):
            limit = "max"
        if limit != "max":
            left = min(left, max(int(limit) - used, 0))
        if folder == root:
            break
    return left


def kept_of_files(group: Path) -> int:
    """Bytes of files that the kernel keeps and gives up for programs."""
    amounts = dict(line.split() for line in (group / "memory.stat").read_text(encoding="ascii").splitlines())
    return max(int(amounts.get("file", 0)) - int(amounts.get("shmem", 0)), 0)


def estimate(ranks: int, leaves: int, program: Path, own_globals: bool, of_rank: int) -> int:
    """Bytes: the simulator, the machine, its ranks, their copies of the program's writable data, and what each
    allocates.
    """
    copied = OWN_GLOBALS + program.stat().st_size if own_globals else 0
    return SIMULATOR + of_machine(leaves) + ranks * (RANK + copied + of_rank)


def of_machine(leaves: int) -> int:
    """Bytes of the tree and the links, all of which the simulator makes."""
    return leaves * LEAF


def text(amount: float) -> str:
    """`1.5 GB`."""
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "KB")):
        if amount >= unit:
            return f"{amount / unit:.3g} {name}"
    return f"{amount:.0f} bytes"


def require_memory(needed: int, ranks: int, leaves: int) -> None:
    """Refuses, with the figures, what does not fit."""
    free = available()
    if needed > free:
        raise ValueError(
            f"a simulation of {ranks:,} ranks needs about {text(needed)} of memory, {text(of_machine(leaves))} of it "
            f"for the machine; {text(free)} are available: a smaller machine, fewer ranks, or --share-buffers and "
            "--share-globals where the program allows it"
        )


def resident(process: int) -> int:
    """Bytes of a process now, 0 once it has ended. Shared pages, which Linux counts in each mapping, are left out."""
    try:
        for line in Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) << 10
    except OSError:
        pass
    return 0
