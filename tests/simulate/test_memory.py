"""The memory that a running simulation is watched for."""

import math
import mmap
import os
from pathlib import Path

from ranktree.simulate import memory

SIZE = 64 << 20


def test_private_pages_count_and_pages_that_mappings_share_do_not() -> None:
    before = memory.resident(os.getpid())
    with mmap.mmap(-1, SIZE) as shared:  # MAP_SHARED
        for first in range(0, SIZE, mmap.PAGESIZE):
            shared[first] = 1
        assert memory.resident(os.getpid()) - before < SIZE // 8
    with mmap.mmap(-1, SIZE, flags=mmap.MAP_PRIVATE) as private:
        for first in range(0, SIZE, mmap.PAGESIZE):
            private[first] = 1
        assert memory.resident(os.getpid()) - before > SIZE // 8 * 7


def test_control_groups_limit_what_is_available(tmp_path: Path) -> None:
    """Of the process's group and those around it the least counts; what is kept of files is given up."""

    def group(path: str, limit: str, used: int, kept: int) -> None:
        folder = tmp_path / "root" / path
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "memory.max").write_text(f"{limit}\n", encoding="ascii")
        (folder / "memory.current").write_text(f"{used}\n", encoding="ascii")
        (folder / "memory.stat").write_text(f"anon 1\nfile {kept + 7}\nshmem 7\n", encoding="ascii")

    membership = tmp_path / "cgroup"
    membership.write_text("1:name=other:/x\n0::/slurm/job_7\n", encoding="ascii")
    assert memory.left_in_groups(membership, tmp_path / "root") == math.inf  # no such folders
    group("slurm/job_7", "max", 500, 0)
    assert memory.left_in_groups(membership, tmp_path / "root") == math.inf
    group("slurm", "1000", 700, 200)
    assert memory.left_in_groups(membership, tmp_path / "root") == 500
    group("slurm/job_7", "300", 290, 0)
    assert memory.left_in_groups(membership, tmp_path / "root") == 10
    group("slurm/job_7", "300", 310, 0)
    assert memory.left_in_groups(membership, tmp_path / "root") == 0
    assert memory.left_in_groups(tmp_path / "none", tmp_path / "root") == math.inf


def test_a_process_that_has_ended_has_no_memory() -> None:
    process = os.fork()
    if process == 0:
        os._exit(0)
    os.waitpid(process, 0)
    assert memory.resident(process) == 0
