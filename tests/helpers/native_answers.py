"""What every MPI's own split types answer on faked machines: the table of docs/explanation/splits.md.

python -m tests.helpers.native_answers build/dev
"""

import json
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from tests.helpers.faked_mpis import FakedMpi, Machine, RunResult, built_mpis

SMALL = "pack:2 [numa] l3:1 l2:2 l1d:1 core:2 pu:1"
GENOA = "pack:1 [numa] l3:3 l2:8 core:1 pu:1"
ONES = [[pu] for pu in range(8)]
UNBOUND = [[] for _ in range(8)]
FIGURE_2 = [[0], [1], [2, 3], [2, 3], *[[4, 5, 6, 7]] * 4]
MACHINES = {
    "each rank on a core (Figure 1)": Machine(SMALL, ONES),
    "uneven bindings (Figure 2)": Machine(SMALL, FIGURE_2),
    "three cores a rank, L3 of eight (ompi#12812)": Machine(GENOA, [list(range(3 * i, 3 * i + 3)) for i in range(8)]),
    "nothing bound (ompi#10416)": Machine(SMALL, UNBOUND),
    "{0}, {0,4}, {4}": Machine(SMALL, [[0], [0, 4], [4]]),
    "a rank on everything, others not": Machine(SMALL, [[0, 1], [0, 1], [0, 1, 2, 3], list(range(8))]),
    "two threads a core": Machine("pack:2 [numa] l3:1 l2:2 l1d:1 core:1 pu:2", ONES),
    "two cgroups of a package each": Machine(
        SMALL, [[0], [1], [4], [5]], allowed=[[0, 1, 2, 3], [0, 1, 2, 3], [4, 5, 6, 7], [4, 5, 6, 7]]
    ),
}
ONE_PACKAGE = Machine("pack:1 [numa] l3:2 core:2 pu:1", [[0], [1], [2], [3]])
RESOURCES = (
    "mpi_shared_memory",
    "Package",
    "hwloc://Package",
    "NUMANode",
    "L3Cache",
    "hwloc://L3Cache",
    "Core",
    "no such thing",
)
Members = tuple[int, ...] | None


def answers(result: RunResult) -> dict[int, dict[int, Members]]:
    """level -> rank -> the members the rank got, None for MPI_COMM_NULL."""
    levels: dict[int, dict[int, Members]] = {}
    for line in result.stdout.splitlines():
        if line.startswith("{"):
            entry = json.loads(line)
            members = None if entry["members"] is None else tuple(entry["members"])
            levels.setdefault(entry["level"], {})[entry["rank"]] = members
    return levels


def parts_in_words(level: dict[int, Members]) -> str:
    """The parts of one level in words: {0,1} {2,3}; null: 4; and what ranks that disagree got."""
    parts = sorted({members for members in level.values() if members is not None})
    agree = all(level.get(rank) == part for part in parts for rank in part)
    if agree:
        words = " ".join("{" + ",".join(map(str, part)) + "}" for part in parts)
    else:
        words = "overlapping: " + ", ".join(
            f"{rank}: " + "{" + ",".join(map(str, part)) + "}" for rank, part in sorted(level.items()) if part
        )
    nulls = [str(rank) for rank, members in sorted(level.items()) if members is None]
    return (words + ("; " if words else "") + "null: " + ",".join(nulls)) if nulls and words else words or "null"


def in_words(result: RunResult) -> str:
    """All levels, and what became of the program."""
    if result.returncode == 77:
        return "has none"
    levels = answers(result)
    words = [parts_in_words(levels[level]) for level in sorted(levels)]
    if result.returncode == 124:
        return " / ".join([*words, "**hangs**"])
    if result.returncode != 0:
        return " / ".join([*words, f"**exit {result.returncode}**"])
    return " / ".join(words[:-1] if len(words) > 1 and words[-1] == "null" else words)


def run_bound(mpi: FakedMpi, machine: Machine, program: str, *arguments: str, timeout: float = 15) -> RunResult:
    """Runs split_once where the launcher binds too, so that Open MPI's own knowledge is right."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if machine.allowed:
            machine = replace(machine, views=folder)
            machine.make_views(folder)
        bound = mpi.family == "openmpi" and any(machine.binds) and not machine.allowed
        rankfile = folder / "rankfile" if bound else None
        return mpi.run(machine, program, *arguments, timeout=timeout, rankfile=rankfile)


def report(build: Path) -> None:
    """Prints the table: unguided down to the end, then guided."""
    for name, mpi in built_mpis(build).items():
        print(f"## {name} {'.'.join(map(str, mpi.version))}")
        for case, machine in MACHINES.items():
            print(f"unguided, {case}: {in_words(run_bound(mpi, machine, 'native', 'unguided'))}")
            if mpi.family == "openmpi":
                for level in ("NUMA", "L3CACHE"):
                    print(f"  OMPI {level}: {in_words(run_bound(mpi, machine, 'native', 'type', level))}")
        for how, resource in [("guided", resource) for resource in RESOURCES] + [("resource", "hwloc://L3Cache")]:
            words = in_words(run_bound(mpi, ONE_PACKAGE, "native", how, resource))
            print(f"{how} {resource}, one package of two L3: {words}")
        hardware = run_bound(mpi, ONE_PACKAGE, "native", "hardware")
        print("hardware:", "has none" if hardware.returncode == 77 else " ".join(hardware.stdout.split()))
        print(flush=True)


if __name__ == "__main__":
    report(Path(sys.argv[1]).resolve())
