"""Open MPI obeys the rules that `ranktree tune` writes for it: every collective and algorithm, in the sizes meant."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.mpis import AS_ROOT, OPTIONS

pytestmark = pytest.mark.launch

SOURCE = Path(__file__).resolve().parent / "counted.c"
RANKS = 4  # a power of two, for recursive doubling
FIRST, END = 8192, 16384  # bytes that rules are for
INSIDE, OUTSIDE = (FIRST, END - 1), (FIRST - 1, END)
# Our names, and those of Open MPI itself (ompi_info --param coll tuned --level 9).
ALGORITHMS = {
    "broadcast": {
        "flat": "basic_linear",
        "pipeline:segment=2K": "pipeline",
        "chain": "pipeline",
        "split-binary": "split_binary_tree",
        "binary": "binary_tree",
        "binomial": "binomial",
        "k-nomial": "knomial",
        "scatter-doubling-allgather": "scatter_allgather",
        "scatter-ring-allgather": "scatter_allgather_ring",
    },
    "reduce": {
        "flat": "linear",
        "in-order-binary": "in-order_binary",
        "rabenseifner": "rabenseifner",
    },
    "allreduce": {
        "linear": "basic_linear",
        "non-overlapping": "nonoverlapping",
        "recursive-doubling": "recursive_doubling",
        "rabenseifner": "rabenseifner",
    },
    "barrier": {"flat": "linear", "dissemination": "bruck", "binomial": "tree"},
    "allgather": {"recursive-doubling": "recursive_doubling", "ring": "ring"},
    "alltoall": {"flat": "pairwise", "bruck": "modified_bruck"},
}
COMPOSED = {"allreduce"}
THEIRS = {"broadcast": "bcast"}
Counts = dict[str, str]


def batches() -> list[dict[str, tuple[str, str]]]:
    """One algorithm each of several collectives, our name and Open MPI's; collectives made of others stand alone."""
    found = []
    for composed in (False, True):
        some = {name: list(all_.items()) for name, all_ in ALGORITHMS.items() if (name in COMPOSED) == composed}
        for number in range(max(map(len, some.values()))):
            found.append({name: all_[number] for name, all_ in some.items() if number < len(all_)})
    return found


def written(build_folder: Path, batch: dict[str, tuple[str, str]]) -> str:
    """One file of rules."""
    rules = [
        {
            "collective": collective,
            "ranks": (RANKS, RANKS),
            "bytes": (FIRST, END - 1) if collective != "barrier" else (0, None),
            "choice": f"messages:{ours}:groups=1",
        }
        for collective, (ours, _) in batch.items()
    ]
    code = f"import sys; from ranktree import _core; sys.stdout.write(_core.open_mpi_rules({rules}))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env=os.environ | {"PYTHONPATH": str(build_folder / "python")},
    )
    return done.stdout


@pytest.fixture
def counts(compiled: Callable[..., Path]) -> Callable[..., Counts]:
    """The messages of calls between all pairs, under the given MCA parameters."""
    if shutil.which("mpiexec.openmpi") is None:
        pytest.skip("Open MPI is not installed")
    program = compiled("openmpi", SOURCE, "-rdynamic")

    def count(sizes: tuple[int, ...], parameters: dict[str, str]) -> Counts:
        calls = [f"{collective}:{size}" for collective in ALGORITHMS for size in sizes]
        options = {"pml_monitoring_enable": "1"} | parameters
        words = [word for name, value in options.items() for word in ("--mca", name, value)]
        done = subprocess.run(
            ["mpiexec.openmpi", *OPTIONS["openmpi"], *words, "-n", str(RANKS), str(program), *calls],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env=os.environ | AS_ROOT,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        found = dict(line.split(" ", 1) for line in done.stdout.splitlines())
        assert list(found) == calls
        return found

    return count


def forced(batch: dict[str, tuple[str, str]]) -> dict[str, str]:
    """The same algorithms selected by MCA parameters."""
    parameters = {"coll_tuned_use_dynamic_rules": "1"}
    units = {"1K": "1024", "2K": "2048"}
    for collective, (ours, name) in batch.items():
        parameter = f"coll_tuned_{THEIRS.get(collective, collective)}_algorithm"
        parameters[parameter] = name
        if "segment=" in ours:
            parameters[f"{parameter}_segmentsize"] = units[ours.split("segment=")[1]]
    return parameters


def test_every_algorithm_is_obeyed(build_folder: Path, tmp_path: Path, counts: Callable[..., Counts]) -> None:
    """The messages are those of Open MPI's algorithm of that name, in the sizes of the rule only."""
    default = counts(INSIDE + OUTSIDE, {})
    seen: dict[str, set[str]] = {collective: set() for collective in ALGORITHMS}
    path = tmp_path / "rules.conf"
    for batch in batches():
        path.write_text(written(build_folder, batch))
        ruled = counts(
            INSIDE + OUTSIDE,
            {"coll_tuned_use_dynamic_rules": "1", "coll_tuned_dynamic_rules_filename": str(path)},
        )
        expected = counts(INSIDE, forced(batch))
        for call, messages in ruled.items():
            collective, size = call.split(":")
            if collective in batch and int(size) in INSIDE:
                assert messages == expected[call], (call, batch[collective])
                seen[collective].add(messages)
            elif collective not in batch or collective != "barrier":  # barriers have no sizes
                assert messages == default[call], (call, batch)
    # Otherwise any file would pass.
    assert all(len(messages) > 1 for messages in seen.values()), seen


@pytest.mark.parametrize(
    ("collective", "choice"),
    [
        ("allreduce", "ring"),
        ("allreduce", "segmented-ring"),
        ("reduce", "binomial"),
        ("reduce", "pipeline"),
        ("gather", "binomial"),
        ("reduce_scatter", "ring"),
    ],
)
def test_rules_that_could_change_results_are_not_written(build_folder: Path, collective: str, choice: str) -> None:
    """Operations that do not commute, gathers in place, and what was measured of another call."""
    assert written(build_folder, {collective: (choice, "")}) == "0 # collectives\n"
