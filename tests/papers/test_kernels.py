"""bench/kernels: messages and bytes of each pair are within 5 % of those that the real programs sent."""

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
    pattern = traced(kernel, size, iterations, ranks)
    messages, sizes = pattern.traffic("p2p")
    sources = np.repeat(np.arange(ranks), np.diff(pattern.indptr))
    found = {
        (int(source), int(to)): (count, amount)
        for source, to, count, amount in zip(sources, pattern.indices, messages, sizes, strict=True)
        if count > 0
    }
    expected = recorded_pairs(name)
    assert found.keys() == expected.keys()
    for pair, (count, amount) in expected.items():
        assert found[pair] == (pytest.approx(count, rel=NEAR), pytest.approx(amount, rel=NEAR)), pair


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
