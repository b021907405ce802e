"""`auto` on nodes with unequal numbers of ranks."""

import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tests.helpers.collect_log import skip_if_overdrawn
from tests.helpers.emulated_cluster import cluster_up
from tests.helpers.mpis import AS_ROOT

NODES = (5, 3, 1)
BYTES, CALLS = 32768, 4000  # of a block; more calls than a decision needs
SECONDS = 120
DECISION = re.compile(r"9 ranks on 3 nodes: reduce_scatter 32K-64K: (\S+) \| native ")


def text_of(log: Path) -> str:
    """What has been written so far."""
    return log.read_text(encoding="utf-8") if log.exists() else ""


def test_auto_takes_the_reduce_scatter_pair_by_pair(build_folder: Path, tmp_path: Path) -> None:
    """It replaces the native call, which moves more bytes over links of 200 Mbit/s. The launcher is stopped then."""
    if shutil.which("mpirun.openmpi") is None:
        pytest.skip("mpirun.openmpi is not installed")
    with cluster_up(
        build_folder, tmp_path, "--nodes", len(NODES), "--rate", 200, "--latency", 200, "--cpus", 5
    ) as made:
        hosts = made.state / "uneven"
        hosts.write_text("".join(f"n{node} slots={ranks}\n" for node, ranks in enumerate(NODES)), encoding="ascii")
        log = made.state / "log"
        variables = {
            "LD_PRELOAD": build_folder / "lib/libranktree_collect_openmpi.so",
            "RANKTREE_COLL": "auto",
            "RANKTREE_COLL_LOG": log,
        }
        program = [build_folder / "bin/gate_programs_openmpi", "stream", "reduce_scatter", BYTES, CALLS]
        words = ["env", *(f"{name}={value}" for name, value in variables.items()), *program]
        launch = [made.program, "mpirun", made.state, "-np", sum(NODES), "--map-by", "slot", "--hostfile", hosts]
        with subprocess.Popen(list(map(str, [*launch, *words])), env=os.environ | AS_ROOT) as run:
            end = time.monotonic() + SECONDS
            while run.poll() is None and not DECISION.search(text_of(log)) and time.monotonic() < end:
                time.sleep(0.5)
            run.terminate()
        text = text_of(log)
    decision = DECISION.search(text)
    if decision is None and run.returncode == 0:
        skip_if_overdrawn(text)
    if decision is None and time.monotonic() >= end:
        pytest.skip(f"a busy machine: the account did not cover the trials in {SECONDS} s")
    assert decision, text
    assert re.search(r"[:/]pairwise", decision[1]), text
