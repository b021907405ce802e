"""Every MPI of a build, and machines that are not there for its ranks to be bound on."""

import os
import re
import signal
import socket
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path

from tests.helpers.mpis import AS_ROOT, Mpi, RunResult, read_builds, skip_if_missing

# The launchers bind nothing: the fake has the binding of every rank.
QUIET = {
    "openmpi": {**AS_ROOT, "OMPI_MCA_mpi_yield_when_idle": "1"},
    "mpich": {},
    "intel": {"I_MPI_PIN": "0"},
}
ROOT = Path(__file__).resolve().parents[2]
LOCAL_SHELL = ROOT / "tests" / "split" / "local_shell"
OWN_VIEW = LOCAL_SHELL.with_name("own_view")
REMOTE_SHELL = ROOT / "tools" / "minicluster" / "remote_shell"
Binds = Sequence[Sequence[int]]


@dataclass(frozen=True)
class Machine:
    """A node that hwloc believes in, and what every rank is bound to; an empty list: to nothing.

    late: hwloc sees it after MPI_Init only (levels_dump), for what the MPI itself cannot take.
    views: a folder of make_views(), for ranks that have only the PUs of `allowed`, as in a cgroup, each its own.
    """

    synthetic: str
    binds: Binds
    late: bool = False
    allowed: Binds = ()
    views: Path | None = None

    def variables(self, library: Path) -> dict[str, str]:
        """What makes launcher and ranks see it."""
        return {
            "LD_PRELOAD": str(library),
            "SPLIT_LATE_SYNTHETIC" if self.late else "HWLOC_SYNTHETIC": self.synthetic,
            "HWLOC_THISSYSTEM": "1",
            "RANKTREE_FAKE_PUS": str(count_pus(self.synthetic)),
            "RANKTREE_FAKE_BINDS": joined(self.binds),
            "RANKTREE_FAKE_ALLOWED": joined(self.allowed),
        }

    def make_views(self, folder: Path) -> None:
        """Writes what hwloc finds in each rank's cgroup: the whole machine, with what is allowed of PUs and memory."""
        export = ["lstopo-no-graphics", "-i", self.synthetic, "--of", "xml"]
        whole = subprocess.run(export, capture_output=True, text=True, timeout=60, check=True).stdout
        for rank, pus in enumerate(self.allowed):
            mask = sum(1 << pu for pu in pus)
            memory = re.findall(r'type="NUMANode" os_index="(\d+)" cpuset="(\w+)"', whole)
            nodes = sum(1 << int(index) for index, near in memory if int(near, 16) & mask)
            view = re.sub(r' allowed_cpuset="[^"]*"', f' allowed_cpuset="0x{mask:08x}"', whole, count=1)
            view = re.sub(r' allowed_nodeset="[^"]*"', f' allowed_nodeset="0x{nodes:08x}"', view, count=1)
            assert view != whole
            (folder / f"{rank}.xml").write_text(view, encoding="ascii")

    def rankfile(self) -> str:
        """The bindings as Open MPI's launcher takes them."""
        host = socket.gethostname()
        everything = range(count_pus(self.synthetic))
        lines = [
            f"rank {rank}={host} slot={','.join(map(str, mask or everything))}" for rank, mask in enumerate(self.binds)
        ]
        return "\n".join(lines) + "\n"


def for_described_machines() -> dict[str, str]:
    """The environment without the one variable that makes hwloc ignore described machines."""
    return {name: value for name, value in os.environ.items() if name != "HWLOC_COMPONENTS"}


def joined(masks: Binds) -> str:
    """Masks as the fake takes them."""
    return ";".join(",".join(map(str, mask)) for mask in masks)


def count_pus(synthetic: str) -> int:
    """The PUs of a synthetic description."""
    return prod(int(word.split(":")[1]) for word in synthetic.split() if ":" in word)


@dataclass(frozen=True)
class FakedMpi(Mpi):
    """One MPI whose ranks can be on a faked machine, and the programs split_<name>_<mpi> that were built for it."""

    @property
    def fake(self) -> Path:
        """The library that answers for a machine that is not there."""
        return self.build / "lib" / "libsplit_fake_affinity.so"

    def program(self, name: str) -> Path:
        """A test program by its name."""
        return super().program(f"split_{name}")

    def launch_on(self, ranks: int, hosts: Sequence[str] = (), rankfile: Path | None = None) -> list[str]:
        """The launcher's words for so many ranks.

        hosts: names of nodes that are all this machine (not Open MPI); rankfile: Open MPI binds by it.
        """
        if self.family == "openmpi" and rankfile:
            where = self._bind_by(rankfile)
        elif self.family == "openmpi":
            where = ["--oversubscribe", "--bind-to", "none"]
        elif hosts:
            # Intel's launcher forks on the host it runs on only.
            shell = ["-bootstrap", "ssh", "-bootstrap-exec", str(LOCAL_SHELL)]
            launcher = shell if self.family == "intel" else ["-launcher", "fork"]
            where = [*launcher, "-hosts", ",".join(hosts), "-ppn", str(ranks // len(hosts))]
        else:
            where = []
        return [self.mpiexec, *where, "-n", str(ranks)]

    def _bind_by(self, rankfile: Path) -> list[str]:
        """Version 5 has the option in other words."""
        if self.version[0] == 4:
            return ["--use-hwthread-cpus", "--rankfile", str(rankfile)]
        return ["--map-by", f"rankfile:file={rankfile}:hwtcpus", "--bind-to", "hwthread:overload-allowed"]

    def variables(self, machine: Machine) -> dict[str, str]:
        """The environment of a launcher whose ranks are on a faked machine."""
        preload = ":".join([str(self.fake), *self.yielding])
        return {**for_described_machines(), **QUIET[self.family], **machine.variables(self.fake), "LD_PRELOAD": preload}

    def run(
        self,
        machine: Machine,
        program: str,
        *arguments: object,
        timeout: float = 60,
        hosts: Sequence[str] = (),
        rankfile: Path | None = None,
    ) -> RunResult:
        """Runs a test program on a faked machine, a rank for each binding.

        rankfile: where to write one, so that Open MPI's launcher knows the bindings; its split types go by those alone.
        """
        variables = self.variables(machine)
        if rankfile:
            rankfile.write_text(machine.rankfile(), encoding="ascii")
            variables["RANKTREE_FAKE_LAUNCHER"] = "1"
        view = [str(OWN_VIEW), str(machine.views)] if machine.views else []
        words = [*view, str(self.program(program)), *map(str, arguments)]
        return finish([*self.launch_on(len(machine.binds), hosts, rankfile), *words], variables, timeout)


def finish(command: Sequence[str], variables: Mapping[str, str], timeout: float) -> RunResult:
    """Runs a command; after `timeout` seconds its launcher gets SIGTERM and the exit code is 124."""
    process = subprocess.Popen(
        command,
        env=dict(variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        output, errors = process.communicate(timeout=timeout)
        return subprocess.CompletedProcess(command, process.returncode, output, errors)
    except subprocess.TimeoutExpired:
        process.terminate()
    try:
        output, errors = process.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, errors = process.communicate()
    return subprocess.CompletedProcess(command, 124, output, errors)


def cluster_launch(mpi: FakedMpi, machine: Machine, slots: Mapping[str, int]) -> tuple[list[str], dict[str, str]]:
    """Words for `minicluster mpirun` that start a rank for each binding on an emulated cluster, and the environment."""
    variables = machine.variables(mpi.fake)
    if mpi.family == "openmpi":
        words = ["--launcher", "openmpi", "--mpiexec", mpi.mpiexec, "--bind-to", "none"]
        words += ["--host", ",".join(f"{host}:{count}" for host, count in slots.items())]
        words += [word for name, value in variables.items() for word in ("-x", f"{name}={value}")]
    else:
        words = ["--launcher", "mpich", "--mpiexec", mpi.mpiexec, "-hosts", ",".join(slots)]
        words += ["-ppn", str(max(slots.values()))]
        words += [word for name, value in variables.items() for word in ("-genv", name, value)]
    # Open MPI 5 has its agent under another name; Intel has its own words for Hydra's.
    agent = str(REMOTE_SHELL)
    more = {"PRTE_MCA_plm_ssh_agent": agent, "PRTE_MCA_prte_if_include": "eth0"}
    more |= {"I_MPI_HYDRA_BOOTSTRAP": "ssh", "I_MPI_HYDRA_BOOTSTRAP_EXEC": agent, "I_MPI_HYDRA_IFACE": "eth0"}
    return [*words, "-n", str(len(machine.binds))], {**for_described_machines(), **QUIET[mpi.family], **more}


def needed_mpi(name: str, build: Path) -> FakedMpi:
    """One MPI of a build tree; the test is skipped where there is none of that name."""
    builds = read_builds(build)
    skip_if_missing(name, builds, build)
    return FakedMpi.of(name, builds, build)


def built_mpis(build: Path) -> dict[str, FakedMpi]:
    """The MPIs that a build tree was made for."""
    builds = read_builds(build)
    return {name: FakedMpi.of(name, builds, build) for name in builds}
