"""Runs an emulated cluster for tests."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.helpers import scripts
from tests.helpers.mpis import RunResult

(launch,) = scripts.load("tools/minicluster", "launch")
OPENMPI: dict[str, str] = launch.OPENMPI  # what makes an MPI's launcher on the head reach the nodes
MPICH: dict[str, str] = launch.MPICH


class MiniCluster:
    """`minicluster VERB STATE ...` of one build tree and one state folder."""

    def __init__(self, program: Path, state: Path) -> None:
        """The constructor starts nothing."""
        self.program = program
        self.state = state

    def call(self, verb: str, *arguments: object, timeout: float = 60, **options: object) -> RunResult:
        """Runs a verb and returns its result."""
        command = [str(self.program), verb, str(self.state), *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False, **options)

    def need(self, verb: str, *arguments: object, timeout: float = 60, **options: object) -> str:
        """The output of a verb that must succeed."""
        result = self.call(verb, *arguments, timeout=timeout, **options)
        assert result.returncode == 0, f"{verb} {arguments}: exit {result.returncode}: {result.stdout}{result.stderr}"
        return result.stdout

    def start_slurm(self, *options: object) -> None:
        """Real Slurm on its nodes, with these options of `slurm-up`; where it is not installed the test is skipped."""
        if shutil.which("slurmctld") is None:
            pytest.skip("Slurm is not installed (make setup)")
        self.need("slurm-up", *options)

    def in_node(self, node: str, *command: object) -> str:
        """The output of a command in a node."""
        return self.need("exec", node, *command).strip()

    def counters(self, reset: bool = False) -> dict:
        """The traffic on the network since the last reset."""
        return json.loads(self.need("bytes", "--json", *(["--reset"] if reset else [])))


@contextmanager
def cluster_up(build_folder: Path, folder: Path, *options: object) -> Iterator[MiniCluster]:
    """A cluster made with these options of `up`; where the machine refuses one, the test is skipped with its reason."""
    program = build_folder / "bin" / "minicluster"
    available = subprocess.run([str(program), "available"], capture_output=True, text=True, timeout=60, check=False)
    if available.returncode == 77:
        pytest.skip(available.stdout.strip())
    made = MiniCluster(program, folder / "state")
    made.need("up", *options)
    try:
        yield made
    finally:
        made.call("down")
