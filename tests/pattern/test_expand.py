"""The models of collectives against the libraries: real calls send exactly the pairs of the model.

Open MPI counts its own messages (its monitoring component); MPICH's are counted in front of UCX. See expand_calls.c.
"""

import os
import shutil
import subprocess
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

pytestmark = [pytest.mark.launch, pytest.mark.usefixtures("yielding")]

HERE = Path(__file__).parent
ROOTED = ("Bcast", "Reduce", "Gather", "Scatter")
UNROOTED = ("Allreduce", "Scan", "Exscan", "Allgather", "Allgatherv", "Alltoall", "Reduce_scatter")
# Around every size where a decision changes for few ranks, and sizes that are not multiples of the blocks.
SIZES = (1, 4, 8, 16, 24, 40, 64, 100, 120, 200, 256, 520, 1000, 2000, 5000, 10000, 20000, 40000, 70000, 140000, 300000)
LONG_SIZES = (600000, 1100000)
LARGEST_TOTAL = 40_000_000  # bytes received by all ranks of one call

Case = tuple[str, int, int, int]  # operation, root, bytes, bytes of an element
Pairs = dict[tuple[int, int], tuple[int, int]]  # (from, to) -> (messages, bytes)


def element(size: int) -> int:
    """The element that the model guesses: the largest usual one that divides the message."""
    return next(width for width in (8, 4, 1) if size % width == 0)


def cases(ranks: int, sizes: tuple[int, ...]) -> list[Case]:
    """Every operation with every size and several roots."""
    roots = sorted({0, 1, ranks // 2, ranks - 1})
    found = [("Barrier", 0, 0, 1)]
    for size in sizes:
        found += [(name, root, size, element(size)) for name in ROOTED for root in roots]
        found += [(name, 0, size, element(size)) for name in UNROOTED]
        found.append(("Reduce_scatter_block", 0, size * ranks, element(size)))
    wide = ("Gather", "Scatter", "Allgather", "Allgatherv", "Alltoall")
    return [case for case in found if case[0] not in wide or case[2] * ranks * ranks <= LARGEST_TOTAL]


def pairs_of(lines: list[str]) -> dict[int, Pairs]:
    """From lines "case from to messages bytes"."""
    found: dict[int, Pairs] = defaultdict(dict)
    for line in lines:
        case, sender, receiver, messages, size = map(int, line.split())
        found[case][sender, receiver] = (messages, size)
    return found


@cache
def program_of(mpi: str, folder: Path) -> Path:
    """The program, compiled with that MPI's wrapper, once for all tests."""
    compiler = shutil.which(f"mpicc.{mpi}")
    if compiler is None:
        pytest.skip(f"{mpi} is not installed")
    program = folder / f"expand_calls_{mpi}"
    words = [compiler, "-O1", "-rdynamic", HERE / "expand_calls.c", "-o", program, "-ldl"]
    subprocess.run(words, check=True, timeout=60)
    return program


def really_sent(
    mpi: str, ranks: int, wanted: list[Case], folder: Path, settings: tuple[str, ...] = (), group: tuple[str, ...] = ()
) -> dict[int, Pairs]:
    """Makes the calls with that MPI and reads what each rank sent."""
    launcher = shutil.which(f"mpiexec.{mpi}")
    if launcher is None:
        pytest.skip(f"{mpi} is not installed")
    program = program_of(mpi, folder.parent)
    (folder / "cases").write_text("".join(f"{name} {root} {size} {width}\n" for name, root, size, width in wanted))
    options = {
        "openmpi": "--oversubscribe --bind-to none --mca mpi_yield_when_idle 1 --mca pml_monitoring_enable 2",
        "mpich": "",
    }[mpi].split()
    run = subprocess.run(
        [launcher, *options, *settings, "-n", str(ranks), program, folder / "cases", folder / "sent", *group],
        env=os.environ
        | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "MPIR_CVAR_NOLOCAL": "1"},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    if "messages do not go through UCX" in run.stderr:
        pytest.skip("this MPICH was not built on UCX: its messages cannot be counted")
    assert run.returncode == 0, run.stderr[-2000:]
    lines = []
    for rank in range(ranks):
        for line in (folder / f"sent.{rank}").read_text().splitlines():
            case, rest = line.split(" ", 1)
            lines.append(f"{case} {rank} {rest}")
    return pairs_of(lines)


def modelled(
    build_folder: Path, model: str, ranks: int, wanted: list[Case], group: tuple[str, ...] = ()
) -> dict[int, Pairs]:
    """The same calls expanded by the model."""
    run = subprocess.run(
        [build_folder / "bin" / "expand_print", model, *group],
        input="".join(f"{name} {ranks} {root} {size}\n" for name, root, size, _ in wanted),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return pairs_of(run.stdout.splitlines())


def compare(build_folder: Path, mpi: str, ranks: int, sizes: tuple[int, ...], folder: Path) -> None:
    """Pair by pair, exactly."""
    wanted = cases(ranks, sizes)
    sent = really_sent(mpi, ranks, wanted, folder)
    model = modelled(build_folder, mpi, ranks, wanted)
    wrong = [f"{case}: sent {sent[i]}, modelled {model[i]}" for i, case in enumerate(wanted) if sent[i] != model[i]]
    assert not wrong, f"{len(wrong)} of {len(wanted)} calls differ, first: {wrong[0]}"


@pytest.mark.timeout(300)
@pytest.mark.parametrize("ranks", [2, 3, 4, 5, 8, 9])
def test_openmpi_sends_as_its_model(build_folder: Path, tmp_path: Path, ranks: int) -> None:
    compare(build_folder, "openmpi", ranks, SIZES + (LONG_SIZES if ranks < 6 else ()), tmp_path)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("ranks", [17, 33])
def test_openmpi_with_more_ranks(build_folder: Path, tmp_path: Path, ranks: int) -> None:
    compare(build_folder, "openmpi", ranks, (1, 8, 60, 64, 300, 4104, 20000, 270000), tmp_path)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("ranks", [2, 3, 4, 5])
def test_mpich_sends_as_its_model(build_folder: Path, tmp_path: Path, ranks: int) -> None:
    compare(build_folder, "mpich", ranks, (1, 8, 24, 100, 264, 2000, 2056, 13000, 40000, 140000, 600000), tmp_path)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("ranks", [8, 9])
def test_mpich_with_more_ranks(build_folder: Path, tmp_path: Path, ranks: int) -> None:
    compare(build_folder, "mpich", ranks, (8, 264, 2056, 13000, 600000), tmp_path)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
@pytest.mark.parametrize(("ranks", "first"), [(2, 1), (5, 3), (8, 3)])
def test_intercommunicators(build_folder: Path, tmp_path: Path, mpi: str, ranks: int, first: int) -> None:
    """The first ranks against the others. Vectors are such that both groups can share them evenly."""
    vector = 8 * first * (ranks - first)
    wanted = [("Barrier", 0, 0, 1)]
    for size in (vector, 20 * vector, 200 * vector):
        wanted += [(name, root, size, 8) for name in ROOTED for root in (0, first - 1)]
        wanted += [(name, 0, size, 8) for name in UNROOTED if "can" not in name]
        wanted.append(("Reduce_scatter_block", 0, size, 8))
    settings = ("--mca", "coll", "^monitoring") if mpi == "openmpi" else ()
    sent = really_sent(mpi, ranks, wanted, tmp_path, settings, (str(first),))
    model = modelled(build_folder, mpi, ranks, wanted, (str(first),))
    wrong = [f"{case}: sent {sent[i]}, modelled {model[i]}" for i, case in enumerate(wanted) if sent[i] != model[i]]
    assert not wrong, f"{len(wrong)} of {len(wanted)} calls differ, first: {wrong[0]}"


# Open MPI's numbers for its algorithms, most of which it chooses by default for many ranks only.
ALGORITHMS = {
    "barrier": {1: "linear", 3: "recursive_doubling", 4: "dissemination", 6: "tree"},
    "bcast": {
        1: "linear",
        3: "chain",
        4: "split_binary",
        5: "binary",
        6: "binomial",
        7: "knomial",
        8: "scatter_recursive_doubling",
        9: "scatter_ring",
    },
    "reduce": {1: "linear", 3: "chain", 4: "binary", 5: "binomial", 6: "in_order_binary", 7: "rabenseifner_openmpi"},
    "allreduce": {3: "recursive_doubling", 4: "ring", 6: "rabenseifner_openmpi"},
    "allgather": {2: "bruck", 4: "ring", 5: "neighbor_exchange"},
    "alltoall": {1: "direct", 2: "direct", 3: "bruck", 4: "direct"},
    "gather": {1: "linear", 2: "binomial", 3: "linear_sync"},
    "scatter": {1: "linear", 2: "binomial"},
    "reduce_scatter": {2: "recursive_halving", 3: "ring", 4: "butterfly"},
    "reduce_scatter_block": {2: "recursive_doubling", 3: "recursive_halving", 4: "block_butterfly"},
}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("number", range(1, 10))
@pytest.mark.parametrize("ranks", [6, 8, 13])
def test_openmpi_algorithms(build_folder: Path, tmp_path: Path, ranks: int, number: int) -> None:
    """Each algorithm, forced: those chosen by default for hundreds of ranks only are checked with few."""
    forced = {name: numbered[number] for name, numbered in ALGORITHMS.items() if number in numbered}
    if ranks % 2 != 0 and forced.get("allgather") == "neighbor_exchange":
        del forced["allgather"]  # the library takes the ring then
    wanted, expected = [], []
    for name, algorithm in forced.items():
        blocks = ranks if name == "reduce_scatter_block" else 1
        prefix = "reduce_scatter" if name == "reduce_scatter_block" else name
        for size in (0,) if name == "barrier" else (800 * blocks, 8008 * blocks, 100000 * blocks):
            for root in (0, 2, ranks - 1) if name.capitalize() in ROOTED else (0,):
                wanted.append((name.capitalize(), root, size, 8))
                expected.append((f"{prefix}_{algorithm}", root, size, 8))
    settings = ["--mca", "coll_tuned_use_dynamic_rules", "1"]
    for name in forced:
        settings += ["--mca", f"coll_tuned_{name}_algorithm", str(number)]
    sent = really_sent("openmpi", ranks, wanted, tmp_path, tuple(settings))
    model = modelled(build_folder, "algorithm", ranks, expected)
    wrong = [f"{case}: sent {sent[i]}, modelled {model[i]}" for i, case in enumerate(expected) if sent[i] != model[i]]
    assert not wrong, f"{len(wrong)} of {len(expected)} calls differ, first: {wrong[0]}"
