"""Decisions of RANKTREE_COLL=auto that are kept for later runs."""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.helpers import known_bugs
from tests.helpers.collect_log import skip_if_overdrawn
from tests.helpers.mpis import Mpi

SOURCES = Path(__file__).resolve().parent / "preload"
Run = Callable[..., str]
# A file system without space at FOLDER, for the command that follows; what is left there is printed.
FULL_DISK = (
    'mount -t tmpfs -o size=4k none "$0" && head -c 4k /dev/zero >"$0/fill" && "$@"; code=$?; ls -A "$0"; exit $code'
)
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@pytest.fixture
def run(mpi, compiled, build_folder: Path, tmp_path: Path) -> Run:
    """A loop of so many allreduces of 16 KiB, whose native calls take 10 ms longer; returns the log."""
    program = compiled(mpi.name, SOURCES / "loop.c", "-O1")
    slow = compiled(mpi.name, SOURCES / "slow_allreduce.c", "-O1", "-shared", "-fPIC", "-ldl")

    def start(calls: int, cache: Path, before: Sequence[object] = (), last: Sequence[object] = ()) -> str:
        log = tmp_path / "log"
        log.unlink(missing_ok=True)
        variables = {
            "LD_PRELOAD": f"{build_folder}/lib/libranktree_collect_{mpi.name}.so:{slow}",
            "RANKTREE_COLL": "auto",
            "RANKTREE_COLL_LOG": log,
            "RANKTREE_COLL_CACHE": cache,
        }
        program_words = ("env", *(f"{name}={value}" for name, value in variables.items()), program, calls, 4096, *last)
        words = [*before, *mpi.launch(2, *program_words)]
        result = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
        assert result.returncode == 0, result.stderr
        assert (result.stdout.count("right"), result.stdout.count("wrong")) == (2, 0)
        assert not before or result.stdout.splitlines()[-1] == "fill"
        text = log.read_text(encoding="utf-8")
        skip_if_overdrawn(text)
        return text

    return start


def decided_run(run: Run, cache: Path, before: Sequence[object] = (), last: Sequence[object] = ()) -> str:
    """The log of the first run that serves calls: on a busy machine that takes more of them."""
    for calls in (600, 1200, 2400):
        text = run(calls, cache, before, last)
        if "allreduce 0 of" not in text:
            return text
    pytest.fail(f"nothing was decided: {text}")


def test_a_gain_on_a_node_is_known_for_as_many_ranks_and_cpus(mpi: Mpi, tmp_path: Path) -> None:
    """Where none is, short programs are not charged for the set-up of the node's memory."""
    command = mpi.launch(1, mpi.program("collect_gain_on_node"), tmp_path)
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (result.returncode, result.stdout.split("\n")) == (0, ["0 0", "0 0", "0 0", "1 0", "1 0", ""]), result.stderr


def test_a_communicator_that_is_never_freed_loses_no_decisions(run: Run, tmp_path: Path) -> None:
    """MPI_Finalize leaves its attributes, and what they hold."""
    cache = tmp_path / "cache"
    decided_run(run, cache, last=("never-freed",))
    (file,) = cache.iterdir()
    assert "|allreduce 16K-32K|" in file.read_text(encoding="utf-8")


def test_a_later_run_starts_decided(run: Run, tmp_path: Path) -> None:
    cache = tmp_path / "new" / "cache"
    decided_run(run, cache)
    (file,) = cache.iterdir()
    lines = file.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "ranktree decisions 1"
    kept = [line.split("|")[2] for line in lines if "|allreduce 16K-32K|" in line]
    assert len(kept) == 1
    assert kept[0] != "native"
    decided = f"allreduce 16K-32K: {kept[0]} | native | {kept[0]} | for now"  # without candidates
    assert decided not in run(110, tmp_path / "other")
    # On a busy machine the set-up is covered later.
    assert any(decided in run(calls, cache) for calls in (110, 220, 440))


def test_a_run_starts_with_what_tune_found(
    mpi: Mpi, ranktree: Callable[..., subprocess.CompletedProcess[str]], run: Run, tmp_path: Path
) -> None:
    """A gain that cannot be reached: native is decided, for each power of two that a size stands for."""
    if known_bugs.spins(mpi):
        pytest.skip("ranks that spin beside other work: measuring takes minutes")
    cache = tmp_path / "cache"
    words = ["--collectives", "allreduce,barrier", "--sizes", "4K,16K", "--seconds", "0.05", "--margin", "1000"]
    output = ["-o", tmp_path / "rules.json", "--collectives-cache", cache]
    result = ranktree("tune", *words, *output, "--mpi", mpi.name, "--", *mpi.launch(2))
    assert result.returncode == 0, result.stderr
    assert f"{cache}: 4 decision(s) that --collectives auto begins with" in result.stdout
    (file,) = cache.iterdir()
    kinds = [line.split("|")[1:] for line in file.read_text(encoding="utf-8").splitlines()[1:]]
    sizes = ["4K-8K", "8K-16K", "16K-32K"]
    assert sorted(kinds) == sorted([*([f"allreduce {size}", "native"] for size in sizes), ["barrier", "native"]])
    decided = "allreduce 16K-32K: native | native"
    assert decided not in run(110, tmp_path / "other")
    assert decided in run(110, cache)


def test_a_corrupt_file_is_named_and_replaced(run: Run, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    decided_run(run, cache)
    (file,) = cache.iterdir()
    file.write_bytes(b"ranktree decisions 1\nbroken")
    assert "earlier decisions are not used: " + str(file) + ":2: expected PLACE|KIND|VARIANT" in decided_run(run, cache)
    assert "|allreduce 16K-32K|" in file.read_text(encoding="utf-8")


def test_a_folder_that_cannot_be_made_is_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "decisions are not kept: " in decided_run(run, tmp_path / "file" / "folder")


@pytest.mark.skipif(os.geteuid() != 0, reason="a full disk needs root")
def test_a_full_disk_is_named_and_keeps_nothing(run: Run, tmp_path: Path) -> None:
    full = tmp_path / "full"
    full.mkdir()
    text = decided_run(run, full, ["unshare", "--mount", "sh", "-c", FULL_DISK, full])
    assert "decisions are not kept: " in text
    assert "No space left on device" in text


def test_the_folder_is_the_users(ranktree: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path) -> None:
    """As the launcher's command sees it; without a user, or where it is not wanted, there is none."""
    show = [sys.executable, "-c", "import os; print(os.environ.get('RANKTREE_COLL_CACHE'))"]

    def folder(*options: object, **variables: str) -> str:
        environment = {
            "PATH": os.environ["PATH"],
            "RANKTREE_MPI": os.environ.get("RANKTREE_MPI", "openmpi"),
            **variables,
        }
        result = ranktree("run", "--collectives", "auto", *options, "--", "mpiexec", "-n", "1", *show, env=environment)
        assert result.returncode == 0, result.stderr
        return result.stdout.strip()

    assert folder(HOME=str(tmp_path), **AS_ROOT) == f"{tmp_path}/.cache/ranktree"
    assert folder(HOME=str(tmp_path), XDG_CACHE_HOME="/x", **AS_ROOT) == "/x/ranktree"
    assert folder("--collectives-cache", "/y", HOME=str(tmp_path), **AS_ROOT) == "/y"
    assert folder("--no-collectives-cache", HOME=str(tmp_path), **AS_ROOT) == "None"
    assert folder("--no-collectives-cache", RANKTREE_COLL_CACHE="/z", **AS_ROOT) == ""
