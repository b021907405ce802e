"""The preload library and a libranktree_mpi of another version: nothing is served, and the reason is printed."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.mpis import Mpi

RULE = "allreduce=messages:ring:groups=1"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["-DNEWER"], ["is another version's: expected version 5 of ", "found version 99 of 8 bytes, layout 7"]),
        ([], ["is another version's: it has no ranktree_collect_handshake"]),
        (None, ["cannot open shared object file"]),
    ],
    ids=["newer", "older", "missing"],
)
def test_another_version_is_refused(  # noqa: PLR0913
    mpi: Mpi,
    made: Callable[..., Path],
    native: Callable[..., str],
    build_folder: Path,
    tmp_path: Path,
    options: list[str] | None,
    expected: list[str],
) -> None:
    preload = shutil.copy(build_folder / "lib" / f"libranktree_collect_{mpi.name}.so", tmp_path)
    if options is not None:
        library = made(mpi.name, "other_version.c", "-shared", "-fPIC", *options)
        shutil.copy(library, tmp_path / f"libranktree_mpi_{mpi.name}.so.0.1")
    log = tmp_path / "log"
    settings = {"LD_PRELOAD": preload, "RANKTREE_COLL": RULE, "RANKTREE_COLL_LOG": log, "RANKTREE_VERBOSE": "1"}
    program = [made(mpi.name, "every_call.c"), 4]
    words = ["/usr/bin/env", *(f"{name}={value}" for name, value in settings.items()), *program]
    served = subprocess.run(
        mpi.launch(2, *words), capture_output=True, text=True, timeout=120, check=True, env=os.environ
    )
    assert served.stdout == native(mpi, 2, *program)
    assert not log.exists()
    lines = [line for line in served.stderr.splitlines() if line.startswith("ranktree: collectives: ")]
    assert len(lines) == 2, "one line from each rank"
    for line in lines:
        assert all(part in line for part in expected), line
        assert line.endswith("; collectives stay native")
