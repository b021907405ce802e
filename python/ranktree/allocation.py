"""The hosts that a launch may use: named by the user, or those of the job that this process runs in."""

import functools
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from ranktree import _core
from ranktree.cli.options import Option
from ranktree.launcher import distinct, hosts_in_file, hosts_named, take_apart
from ranktree.launcher_options import HET_GROUP

Hosts = Annotated[
    str | None, Option(metavar="LIST", help="Hosts to place on, n[0-3],m1, or 'all' [those of the job around it].")
]
HostFile = Annotated[Path | None, Option(metavar="FILE", help="Hosts to place on, one a line, as mpirun reads them.")]
EVERY_HOST = "all"
HOST_NAME = re.compile(r"[A-Za-z0-9._-]+")
FLUX_SECONDS = 10
SHOWN = 4


@dataclass(frozen=True)
class Allocation:
    """Hosts in the launcher's order, each once, and what names them."""

    hosts: tuple[str, ...]
    source: str
    named: bool = False  # by the user, not by the job
    cpus: tuple[int, ...] = ()  # that the job has on each host, where the scheduler reports them

    def __post_init__(self) -> None:
        """Refuses what is no host name, by the name of its source."""
        for host in self.hosts:
            if not HOST_NAME.fullmatch(host):
                raise ValueError(f"{self.source}: expected the name of a host, found {host!r}")

    def holds(self, host: str) -> bool:
        """Whether a host is one of these, with or without its domain."""
        return self.position(host) is not None

    def cpus_of(self, host: str) -> int | None:
        """How many CPUs the job has on a host, as far as that is known."""
        at = self.position(host)
        return self.cpus[at] if at is not None and at < len(self.cpus) else None

    def position(self, host: str) -> int | None:
        """Where a host is in the list: under this very name, else with or without its domain; None where it is not."""
        first = self._by_first_part.get(host.partition(".")[0], ())
        alike = [at for at in first if _core.same_host(host, self.hosts[at])]
        return next((at for at in alike if self.hosts[at] == host), next(iter(alike), None))

    @functools.cached_property
    def _by_first_part(self) -> dict[str, list[int]]:
        """The positions of hosts by their names without domains: only these can be the same host."""
        found: dict[str, list[int]] = {}
        for at, host in enumerate(self.hosts):
            found.setdefault(host.partition(".")[0], []).append(at)
        return found


def allocation(hosts: str | None = None, hostfile: Path | None = None) -> Allocation | None:
    """The user's hosts, else the job's; None outside a job, and for `--hosts all`."""
    if hosts is not None and hostfile is not None:
        raise ValueError("expected one of --hosts and --hostfile, found both")
    if hosts == EVERY_HOST:
        return None
    if hosts is not None:
        return Allocation(distinct(_core.expand_hostlist(hosts, "--hosts")), "--hosts", named=True)
    if hostfile is not None:
        return Allocation(listed(hostfile), str(hostfile), named=True)
    return of_job(os.environ)


def hosts_of_launch(words: Sequence[str], hosts: str | None, hostfile: Path | None) -> Allocation | None:
    """The hosts that the user names to Ranktree, else to the launcher, else those of the job."""
    if hosts is None and hostfile is None:
        command = take_apart(words)
        named = hosts_named(command)
        if named:
            return Allocation(tuple(named), "the launcher's command", named=True)
        component = [option.values[0] for option in command.options if option.name in HET_GROUP]
        if component and (name := f"SLURM_JOB_NODELIST_HET_GROUP_{component[0]}") in os.environ:
            return of_slurm(os.environ, name)
    return allocation(hosts, hostfile)


def other_hosts(plan: Path, words: Sequence[str], hosts: str | None, hostfile: Path | None) -> str | None:
    """Why a plan cannot be used on the hosts of this launch; None where it can, as far as the hosts are known."""
    allowed = hosts_of_launch(words, hosts, hostfile)
    if allowed is None:
        return None
    loaded = _core.load_plan(str(plan))
    if loaded.described:
        return None  # no host has these names: `launchable` decides
    slots = _core.plan_slots(loaded)
    wanted = distinct(host for host, _ in slots if host)
    absent = tuple(host for host in wanted if not allowed.holds(host))
    if absent:
        return f"{plan} is for {shown(wanted)}; {allowed.source} has {shown(allowed.hosts)}"
    # Where all nodes have as many CPUs, a CPU may be a core, and a plan for its PUs be right.
    used: dict[str, set[tuple[int, ...]]] = {host: set() for host in wanted if len({*allowed.cpus}) > 1}
    for host, pus in slots if used else ():
        used.get(host, set()).add(tuple(pus))
    for host, places in used.items():
        cpus = allowed.cpus_of(host)
        if cpus is not None and len(places) > cpus:
            return f"{plan} has {len(places)} slots on {host}, of which the job has CPUs for {cpus}"
    return None


def of_job(variables: Mapping[str, str]) -> Allocation | None:
    """The hosts of the Slurm, PBS, LSF, Grid Engine or Flux job that the variables belong to."""
    for name in ("SLURM_JOB_NODELIST", "SLURM_NODELIST"):
        if variables.get(name):
            return of_slurm(variables, name)
    for name in ("PBS_NODEFILE", "LSB_DJOB_HOSTFILE", "PE_HOSTFILE"):
        if variables.get(name):
            return Allocation(listed(Path(variables[name])), name)
    if variables.get("LSB_MCPU_HOSTS"):  # host, slots, host, slots, ...
        return Allocation(distinct(variables["LSB_MCPU_HOSTS"].split()[::2]), "LSB_MCPU_HOSTS")
    if variables.get("FLUX_URI"):
        return of_flux()
    return None


def of_slurm(variables: Mapping[str, str], name: str) -> Allocation:
    """The hosts in a variable of Slurm, and the CPUs in its companion: `2(x3),1` are those of four hosts."""
    listed = re.findall(r"(\d+)(?:\(x(\d+)\))?", variables.get(name.replace("NODELIST", "CPUS_PER_NODE"), ""))
    cpus = tuple(int(count) for count, times in listed for _ in range(int(times or 1)))
    return Allocation(distinct(_core.expand_hostlist(variables[name], name)), name, cpus=cpus)


def of_flux() -> Allocation | None:
    """The hosts of the Flux instance around this process; None where the flux command does not answer."""
    if shutil.which("flux") is None:
        return None
    words = ["flux", "getattr", "hostlist"]
    try:
        result = subprocess.run(words, capture_output=True, text=True, timeout=FLUX_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return None
    if result.returncode != 0:
        return None
    return Allocation(distinct(_core.expand_hostlist(result.stdout.strip(), "flux getattr hostlist")), "Flux")


def listed(path: Path) -> tuple[str, ...]:
    """The hosts of a host file."""
    hosts = distinct(hosts_in_file(path))
    if not hosts:
        raise ValueError(f"{path}: expected a host a line, found none")
    return hosts


def shown(hosts: tuple[str, ...]) -> str:
    """The first hosts, and how many there are."""
    return ", ".join(hosts[:SHOWN]) + (f" and {len(hosts) - SHOWN} more" if len(hosts) > SHOWN else "")
