"""What the tests of real launches share: plans made by hand, the MPIs of this machine, an emulated cluster."""

import json
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from tests.helpers.emulated_cluster import MPICH, OPENMPI, MiniCluster, cluster_up
from tests.helpers.launches import PUS, Slots, environment
from tests.helpers.mpis import RunResult

# For ranks under Slurm: the launcher is srun.
SLURM_VARIABLES = {name: value for name, value in (OPENMPI | MPICH).items() if not name.startswith("HYDRA_")}
# Prints where the rank that runs it is, by the kernel's mask; exits with its argument.
WHERE = """#!/bin/sh
rank=${OMPI_COMM_WORLD_RANK:-${PMIX_RANK:-${PMI_RANK:-$SLURM_PROCID}}}
echo "rank $rank $(uname -n) $(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/$$/status)"
exit ${1:-0}
"""


@pytest.fixture
def make_plan(tmp_path: Path) -> Callable[..., Path]:
    """Writes a plan with the given slots by hand, not through the code under test."""

    def make(slots: Slots, hosts: list[str] | None = None, name: str = "plan.json") -> Path:
        hosts = hosts or sorted({host for host, _ in slots})
        document = {
            "format": "ranktree-plan",
            "version": 1,
            "ranks": len(slots),
            "algorithm": "treematch",
            "metric": "size",
            "seed": 1,
            "gain": True,
            "levels": [{"kind": "Cluster", "cost": 4}, {"kind": "Node", "cost": 2}, {"kind": "PU", "cost": 0}],
            "hosts": [{"name": host, "pus": 1024} for host in hosts],
            "slots": [{"host": host, "pus": pus} for host, pus in slots],
            "costs": [],
        }
        path = tmp_path / name
        path.write_text(json.dumps(document), encoding="ascii")
        return path

    return make


@pytest.fixture
def where(tmp_path: Path) -> Path:
    """A program that prints where its rank is."""
    path = tmp_path / "where"
    path.write_text(WHERE, encoding="ascii")
    path.chmod(0o755)
    return path


@pytest.fixture(params=["openmpi", "mpich"])
def mpiexec(request: pytest.FixtureRequest) -> str:
    """The launcher of each of Debian's MPIs."""
    program = f"mpiexec.{request.param}"
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    return program


@pytest.fixture(scope="module")
def cluster(build_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MiniCluster]:
    """Four nodes that share this machine's PUs."""
    if len(PUS) < 2:
        pytest.skip("two PUs are needed to distinguish a binding from none")
    with cluster_up(build_folder, tmp_path_factory.mktemp("cluster"), "--nodes", 4, "--per-switch", 2) as made:
        yield made


@pytest.fixture
def slurm(cluster, tmp_path: Path) -> Callable[..., RunResult]:
    """Runs a command on the head, where srun finds the cluster."""
    variables = {**environment(), **SLURM_VARIABLES}
    return lambda *words: cluster.call("slurm", *words, env=variables, cwd=tmp_path, timeout=120)


@pytest.fixture
def batch(slurm, tmp_path: Path) -> Callable[..., str]:
    """Runs a command as a batch job, of eight ranks on four nodes; its output.

    The job reports its end itself: `sbatch -W` looks after 2, 10 and 42 seconds.
    """

    def run(*words: object, job: Sequence[object] = ("-N", 4, "-n", 8)) -> str:
        script, output, code = (tmp_path / f"job.{name}" for name in ("sh", "out", "code"))
        lines = ["#!/bin/sh", " ".join(map(str, words)), f"echo $? >{code}"]
        script.write_text("\n".join([*lines, ""]), encoding="ascii")
        code.unlink(missing_ok=True)
        submitted = slurm("sbatch", "-o", output, *job, script)
        assert submitted.returncode == 0, submitted.stderr
        deadline = time.monotonic() + 120
        while not (code.exists() and code.read_text(encoding="ascii").endswith("\n")):
            assert time.monotonic() < deadline, output.read_text(encoding="utf-8")
            time.sleep(0.1)
        text = output.read_text(encoding="utf-8")
        assert code.read_text(encoding="ascii") == "0\n", text
        return text

    return run


@pytest.fixture
def rings_of(build_folder: Path) -> Callable[[str], list[str]]:
    """A program that sends messages, built with an MPI."""

    def words(mpi: str) -> list[str]:
        program = build_folder / "bin" / f"rings_{mpi}"
        if not program.exists():
            pytest.skip(f"{program.name} is not built")
        return [str(program), "--bytes", "1000"]

    return words


@pytest.fixture
def rings(rings_of) -> list[str]:
    """The same of Debian's Open MPI, which knows PMIx."""
    return rings_of("openmpi")
