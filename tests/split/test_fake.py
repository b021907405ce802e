"""The faked machine answers as a kernel would, to ranks only, and every MPI lives with it."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.helpers.faked_mpis import FakedMpi, Machine, built_mpis, for_described_machines
from tests.helpers.native_answers import SMALL
from tests.helpers.split_levels import dumped


def shown(build: Path, rank: int | None, **variables: str) -> subprocess.CompletedProcess[str]:
    """What split_show_affinity prints as a rank."""
    own = {"LD_PRELOAD": str(build / "lib" / "libsplit_fake_affinity.so"), **variables}
    own |= {} if rank is None else {"PMI_RANK": str(rank)}
    program = build / "bin" / "split_show_affinity"
    if not program.exists():
        pytest.skip(f"{program} is not built")
    return subprocess.run(
        [program], env={**for_described_machines(), **own}, capture_output=True, text=True, timeout=30, check=False
    )


@pytest.mark.parametrize(
    ("rank", "line"),
    [
        (0, "0 0 0,1,2,3,4,5,6,7 0"),
        (1, "1 2,3 0,1,2,3,4,5,6,7 3"),
        (2, "2 4,5,6,7 0,1,2,3,4,5,6,7 7"),
        (3, "3 0,1,2,3,4,5,6,7 0,1,2,3,4,5,6,7 7"),
        (9, "9 0,1,2,3,4,5,6,7 0,1,2,3,4,5,6,7 7"),
    ],
)
def test_a_rank_has_its_mask_and_a_thread_its_own(build_folder: Path, rank: int, line: str) -> None:
    result = shown(build_folder, rank, RANKTREE_FAKE_PUS="8", RANKTREE_FAKE_BINDS="0;2,3;4-7;")
    assert result.stdout == line + "\n"


def test_a_mask_is_cut_down_to_the_cgroup(build_folder: Path) -> None:
    variables = {"RANKTREE_FAKE_ALLOWED": ";1500-1503", "RANKTREE_FAKE_BINDS": "0;1500,1502"}
    assert shown(build_folder, 1, RANKTREE_FAKE_PUS="2048", **variables).stdout == (
        "1 1500,1502 1500,1501,1502,1503 1502\n"
    )


def test_what_is_no_rank_sees_the_truth(build_folder: Path) -> None:
    here = ",".join(map(str, sorted(os.sched_getaffinity(0))))
    assert shown(build_folder, None, RANKTREE_FAKE_PUS="8", RANKTREE_FAKE_BINDS="0").stdout.split()[1] == here


@pytest.mark.parametrize("binds", ["0;8", "0;1x", "0;3-2", "0;-1"])
def test_a_list_that_makes_no_sense_is_refused(build_folder: Path, binds: str) -> None:
    result = shown(build_folder, 1, RANKTREE_FAKE_PUS="8", RANKTREE_FAKE_BINDS=binds)
    assert result.returncode == 99
    assert "RANKTREE_FAKE_BINDS: expected lists of PUs below 8" in result.stderr


@pytest.mark.parametrize("ranks", [1, 3, 4])
def test_every_mpi_starts_any_number_of_ranks(mpi: FakedMpi, ranks: int) -> None:
    """Ranks on nothing have no level; more ranks than this machine has PUs."""
    assert dumped(mpi.run(Machine(SMALL, [[] for _ in range(ranks)]), "levels_dump")) == [[]] * ranks


def test_a_build_that_is_none_has_no_mpis(tmp_path: Path) -> None:
    assert built_mpis(tmp_path) == {}
