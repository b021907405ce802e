"""From the trace to pairs: a program traced by `ranktree trace` and expanded is what the library really sent."""

import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy
import pytest

pytestmark = pytest.mark.launch

HERE = Path(__file__).parent
RANKS = 5
# Every case in a bucket of its own: a record is the mean of what it holds.
SIZES = (24, 3000, 40000)
ROOTED = (("Bcast", 1), ("Reduce", 2), ("Gather", 0), ("Scatter", 3))
UNROOTED = ("Allreduce", "Scan", "Exscan", "Allgather", "Alltoall", "Allgatherv", "Reduce_scatter")
CASES = [
    *((name, root, size, 8) for name, root in ROOTED for size in SIZES),
    *((name, 0, size, 8) for name in UNROOTED for size in SIZES),
    *(("Reduce_scatter_block", 0, size, 8) for size in (160, 16000)),
]
OPTIONS = [
    "--oversubscribe",
    "--bind-to",
    "none",
    "--mca",
    "mpi_yield_when_idle",
    "1",
    "--mca",
    "pml_monitoring_enable",
]

RunResult = subprocess.CompletedProcess[str]


def collective_pairs(path: Path) -> tuple[Counter[tuple[int, int]], Counter[tuple[int, int]]]:
    """Messages and bytes of the collective class, by (from, to)."""
    pattern = numpy.load(path)
    senders = numpy.repeat(numpy.arange(RANKS), numpy.diff(pattern["indptr"]))
    pairs = list(zip(senders.tolist(), pattern["indices"].tolist(), strict=True))
    messages, size = Counter(), Counter()
    for pair, count, volume in zip(pairs, pattern["collective_messages"], pattern["collective_bytes"], strict=True):
        messages[pair] += int(count)
        size[pair] += int(volume)
    return messages, size


@pytest.mark.timeout(300)
def test_traced_collectives_expand_to_what_was_sent(
    ranktree: Callable[..., RunResult], build_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler, launcher = shutil.which("mpicc.openmpi"), shutil.which("mpiexec.openmpi")
    if compiler is None or launcher is None:
        pytest.skip("openmpi is not installed")
    if not (build_folder / "lib" / "libranktree_preload_openmpi.so").exists():
        pytest.skip("this build has no preload library for openmpi")
    program = tmp_path / "expand_calls"
    subprocess.run(
        [compiler, "-O1", "-rdynamic", HERE / "expand_calls.c", "-o", program, "-ldl"], check=True, timeout=60
    )
    (tmp_path / "cases").write_text("".join(f"{name} {root} {size} {width}\n" for name, root, size, width in CASES))
    for variable in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"):
        monkeypatch.setenv(variable, "1")
    run = [launcher, *OPTIONS, "2", "-n", RANKS, program, tmp_path / "cases", tmp_path / "sent"]
    traced = ranktree("trace", "-o", tmp_path / "app.npz", "--", *run)
    assert traced.returncode == 0, traced.stderr
    converted = ranktree("convert", tmp_path / "app.npz", "-o", tmp_path / "pairs.npz", "--collectives", "model")
    assert converted.returncode == 0, converted.stderr

    # The program makes one barrier of its own before it counts.
    barrier = subprocess.run(
        [build_folder / "bin" / "expand_print", "openmpi"],
        input=f"Barrier {RANKS} 0 0\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env=os.environ,
    )
    lines = [line.split()[1:] for line in barrier.stdout.splitlines()]
    for rank in range(RANKS):
        lines += [[str(rank), *line.split()[1:]] for line in (tmp_path / f"sent.{rank}").read_text().splitlines()]
    messages, size = Counter(), Counter()
    for sender, receiver, count, volume in lines:
        messages[int(sender), int(receiver)] += int(count)
        size[int(sender), int(receiver)] += int(volume)
    assert collective_pairs(tmp_path / "pairs.npz") == (messages, size)
