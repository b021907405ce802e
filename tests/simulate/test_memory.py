"""The memory that a running simulation is watched for."""

import mmap
import os

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


def test_a_process_that_has_ended_has_no_memory() -> None:
    process = os.fork()
    if process == 0:
        os._exit(0)
    os.waitpid(process, 0)
    assert memory.resident(process) == 0
