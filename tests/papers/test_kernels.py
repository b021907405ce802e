"""bench/kernels: messages and bytes of each pair are within 5 % of those that the real programs sent.

The benchmarks of reorder-2011 have no recorded pattern: theirs are those of its sections, in closed form.
"""

import gzip
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
REAL = ROOT / "tests" / "pattern" / "data" / "real"
NEAR = 0.05
# Kernel, class, iterations, ranks, and the recorded program.
PAIRS = [
    ("cg", "A", 15, 16, "npb-cg.A-16"),
    ("cg", "A", 15, 32, "npb-cg.A-32"),
    ("cg", "C", 1, 64, "npb-cg.C.i1-64"),
    ("lu", "A", 10, 16, "npb-lu.A.i10-16"),
    ("lu", "C", 1, 64, "npb-lu.C.i1-64"),
    ("zeus", "16", 10, 16, "zeusmp2-mhdblast-16"),
    ("zeus", "16", 10, 64, "zeusmp2-mhdblast-64"),
]
CALLS = [("ft", "A", 6, 16, "npb-ft.A-16")]


def recorded_pairs(name: str) -> dict[tuple[int, int], tuple[float, float]]:
    """Messages and bytes by (source, destination)."""
    with gzip.open(REAL / f"{name}.p2p.txt.gz", "rt", encoding="utf-8") as file:
        lines = [line.split() for line in file if not line.startswith("#")]
    return {(int(source), int(to)): (float(messages), float(size)) for source, to, messages, size in lines}


def recorded_calls(name: str, operation: str) -> dict[int, tuple[float, float]]:
    """Calls and bytes of all ranks by the size of the communicator."""
    found = {}
    for line in (REAL / f"{name}.ops.txt").read_text(encoding="utf-8").splitlines():
        words = line.split()
        if words[0] == operation:
            found[int(words[1])] = (float(words[3]), float(words[4]))
    return found


def sent_pairs(pattern) -> dict[tuple[int, int], tuple[float, float]]:  # noqa: ANN001  of the build's package
    """Messages and bytes of point-to-point calls by (source, destination)."""
    messages, sizes = pattern.traffic("p2p")
    sources = np.repeat(np.arange(pattern.ranks), np.diff(pattern.indptr))
    return {
        (int(source), int(to)): (count, amount)
        for source, to, count, amount in zip(sources, pattern.indices, messages, sizes, strict=True)
        if count > 0
    }


def calls_by_members(pattern, operation: str) -> dict[tuple[int, ...], tuple[float, float]]:  # noqa: ANN001  the same
    """Calls and bytes of all ranks of each communicator."""
    found: dict[tuple[int, ...], tuple[float, float]] = {}
    for each in pattern.collectives:
        if each["operation"] == operation:
            members = tuple(pattern.communicators[each["communicator"]][0])
            calls, amount = found.get(members, (0.0, 0.0))
            found[members] = (calls + each["calls"], amount + each["bytes"])
    return found


@pytest.fixture
def traced(command: str, simulated_program: Callable, tmp_path: Path) -> Callable:  # noqa: F811
    """The pattern of a kernel, by simulated ranks."""
    from ranktree import _core  # noqa: PLC0415  of the build

    def run(kernel: str, size: str, iterations: int, ranks: int):  # noqa: ANN202
        program = simulated_program(ROOT / "bench/kernels/kernels.c")
        file = tmp_path / "kernel.npz"
        words = [command, "trace", "-q", "--simulate", "--np", ranks, "-o", file]
        words += ["--", program, kernel, size, iterations]
        subprocess.run(list(map(str, words)), check=True, timeout=200, cwd=tmp_path, stdout=subprocess.DEVNULL)
        return _core.load_pattern(str(file))[0]

    return run


@pytest.mark.simgrid
@pytest.mark.parametrize(("kernel", "size", "iterations", "ranks", "name"), PAIRS)
def test_pairs_are_within_5_percent_of_the_programs(  # noqa: PLR0913  a case
    traced: Callable, kernel: str, size: str, iterations: int, ranks: int, name: str
) -> None:
    """Iterations behind the first are alike: two are simulated."""
    one = sent_pairs(traced(kernel, size, 1, ranks))
    found = {pair: np.array(sent) for pair, sent in one.items()}
    if iterations > 1:
        two = sent_pairs(traced(kernel, size, 2, ranks))
        assert two.keys() == one.keys()
        found = {pair: found[pair] + (iterations - 1) * (np.array(two[pair]) - found[pair]) for pair in found}
    expected = recorded_pairs(name)
    assert found.keys() == expected.keys()
    for pair, (count, amount) in expected.items():
        assert tuple(found[pair]) == (pytest.approx(count, rel=NEAR), pytest.approx(amount, rel=NEAR)), pair


@pytest.mark.simgrid
@pytest.mark.parametrize(("kernel", "size", "iterations", "ranks", "name"), CALLS)
def test_all_to_alls_are_those_of_the_program(  # noqa: PLR0913  a case
    traced: Callable, kernel: str, size: str, iterations: int, ranks: int, name: str
) -> None:
    pattern = traced(kernel, size, iterations, ranks)
    found: dict[int, tuple[float, float]] = {}
    for each in pattern.collectives:
        if each["operation"] == "Alltoall":  # its bytes are those for one partner, the recorded ones for all
            members = len(pattern.communicators[each["communicator"]][0])
            calls, amount = found.get(members, (0.0, 0.0))
            found[members] = (calls + each["calls"], amount + each["bytes"] * members)
    expected = recorded_calls(name, "Alltoall")
    assert found.keys() == expected.keys()
    for members, (calls, amount) in expected.items():
        assert found[members] == (pytest.approx(calls, rel=NEAR), pytest.approx(amount, rel=NEAR)), members


@pytest.mark.simgrid
def test_rings_pass_a_token_and_gather_those_of_the_leaders(traced: Callable) -> None:
    """reorder-2011 §4.1 with 3 rings: 5 rounds of a token of 4 KiB."""
    pattern = traced("rings", "4K", 5, 24)
    ring = {(8 * r + i, 8 * r + (i + 1) % 8): (5, 5 * 4096) for r in range(3) for i in range(8)}
    assert sent_pairs(pattern) == ring
    assert calls_by_members(pattern, "Allgather") == {(0, 8, 16): (3 * 5, 3 * 5 * 4096)}


@pytest.mark.simgrid
@pytest.mark.parametrize("ranks", [16, 64])
def test_wiedemann_reduces_along_rows_and_gathers_along_columns(traced: Callable, ranks: int) -> None:
    """Words of 8 bytes for 2^16 rows of a matrix; 3 products."""
    pattern = traced("wiedemann", "64K", 3, ranks)
    side = int(ranks**0.5)
    words = 8 * 65536
    rows = {tuple(range(side * i, side * i + side)): (3 * side, 3 * words) for i in range(side)}
    columns = {tuple(range(i, ranks, side)): (3 * side, 3 * words / side) for i in range(side)}
    assert sent_pairs(pattern) == {}
    assert calls_by_members(pattern, "Reduce_scatter") == rows
    assert calls_by_members(pattern, "Allgather") == columns


@pytest.mark.simgrid
@pytest.mark.parametrize(("arguments", "ranks"), [(("rings", "4K"), 12), (("rings", "4"), 8), (("wiedemann", "1M"), 8)])
def test_ranks_and_sizes_that_do_not_fit_are_refused(
    simulated_program: Callable,  # noqa: F811
    command: str,
    arguments: tuple[str, str],
    ranks: int,
) -> None:
    program = simulated_program(ROOT / "bench/kernels/kernels.c")
    words = [command, "simulate", "--machine", ROOT / "machines/plafrim.json", "--np", ranks, "--", program]
    done = subprocess.run(
        list(map(str, [*words, *arguments, 1])), check=False, timeout=100, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert f"kernels: {'expected CLASS' if arguments[1] == '4' else arguments[0]}" in done.stdout + done.stderr
