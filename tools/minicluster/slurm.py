"""Real Slurm on the emulated cluster: the controller on the head, one daemon in each node."""

import os
import secrets
import shutil
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

import launch
from cluster import HEAD, Cluster
from processes import ClusterError, wait_until

PACKAGES = "slurm-wlm slurm-client munge"
CONFIGURATION = """\
ClusterName=minicluster
SlurmctldHost=head
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
StateSaveLocation={folder}/controller
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
SlurmctldPort=6817
SlurmdPort=6818
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=1,bf_interval=1
SwitchType=switch/none
TopologyPlugin=topology/tree
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
MailProg=/bin/true
KillWait=2
SlurmctldTimeout=30
SlurmdTimeout=300
PropagateResourceLimits=NONE
TreeWidth=50
NodeName=n[0-{last}] CPUs={cpus} Sockets=1 CoresPerSocket={cpus} ThreadsPerCore=1 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
"""


def topology(nodes: int, per_switch: int) -> str:
    """Slurm's topology.conf of the two-level tree."""
    lines = []
    for switch, first in enumerate(range(0, nodes, per_switch)):
        last = min(first + per_switch, nodes) - 1
        lines.append(f"SwitchName=leaf{switch} Nodes=n[{first}-{last}]")
    return "\n".join([*lines, f"SwitchName=root Switches=leaf[0-{len(lines) - 1}]"]) + "\n"


def folder_of(cluster: Cluster) -> Path:
    """The folder of everything that belongs to Slurm."""
    return cluster.state / "slurm"


def settings(cluster: Cluster) -> dict[str, str]:
    """The environment of Slurm's commands.

    By the tree fence of Slurm 22.05 a rank of Open MPI sometimes leaves MPI_Init before the others are ready for its
    message, and they crash: 5 of 100 launches on two busy cores, none of 130 by the ring.
    """
    own = {"SLURM_CONF": str(folder_of(cluster) / "slurm.conf"), "SLURM_PMIX_FENCE": "ring"}
    return {**launch.environment(cluster, {}), **own}


def in_node(cluster: Cluster, name: str, command: Sequence[str], seconds: float = 30) -> subprocess.CompletedProcess:
    """Runs a command of Slurm in a node."""
    return subprocess.run(
        [*launch.enter(cluster, name), *command],
        env=settings(cluster),
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )


def checked(result: subprocess.CompletedProcess) -> None:
    """Turns a failure into one line of error."""
    if result.returncode != 0:
        said = " ".join((result.stdout + result.stderr).split())
        raise ClusterError(f"{result.args[-1] if isinstance(result.args, list) else result.args}: {said}")


def write_configuration(cluster: Cluster, cpus: int) -> None:
    """All files that the daemons read."""
    folder, description = folder_of(cluster), cluster.describe()
    nodes = len(description["names"])
    for name in ("munge", "controller", *(f"spool.{node}" for node in description["names"])):
        (folder / name).mkdir(parents=True, exist_ok=True)
    key = folder / "munge" / "key"
    key.write_bytes(secrets.token_bytes(128))
    key.chmod(0o400)
    text = CONFIGURATION.format(folder=folder, last=nodes - 1, cpus=cpus)
    (folder / "slurm.conf").write_text(text, encoding="utf-8")
    (folder / "topology.conf").write_text(topology(nodes, description["per_switch"]), encoding="ascii")
    (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n", encoding="ascii")


def start_munge(folder: Path) -> None:
    """The authentication service; every node reaches it through its socket in the state folder."""
    options = {name: folder / "munge" / name for name in ("key", "socket", "pid", "log", "seed")}
    checked(
        subprocess.run(
            [
                "munged",
                "--force",
                f"--key-file={options['key']}",
                f"--socket={options['socket']}",
                f"--pid-file={options['pid']}",
                f"--log-file={options['log']}",
                f"--seed-file={options['seed']}",
            ],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    )


def up(cluster: Cluster, cpus: int) -> None:
    """Starts Slurm and waits until every node is idle."""
    if not all(map(shutil.which, ("slurmctld", "slurmd", "munged", "sinfo"))):
        raise ClusterError(f"Slurm is not installed: apt-get install --no-install-recommends {PACKAGES}")
    names = cluster.describe()["names"]
    write_configuration(cluster, cpus)
    configuration = str(folder_of(cluster) / "slurm.conf")
    try:
        start_munge(folder_of(cluster))
        checked(in_node(cluster, HEAD, ["slurmctld", "-c", "-f", configuration]))
        for name in names:
            checked(in_node(cluster, name, ["slurmd", "-f", configuration]))

        def idle() -> bool:
            return in_node(cluster, HEAD, ["sinfo", "-h", "-o", "%D", "-t", "idle"]).stdout.strip() == str(len(names))

        wait_until(idle, 20, "Slurm's nodes do not become idle")
    except BaseException:
        down(cluster)
        raise


def down(cluster: Cluster) -> None:
    """Stops Slurm's daemons by their own records, and removes its folder."""
    folder = folder_of(cluster)
    for path in folder.glob("slurmd.*.pid"):
        in_node(cluster, path.name.split(".")[1], ["kill", path.read_text(encoding="ascii").strip()])
    for path in (folder / "slurmctld.pid", folder / "munge" / "pid"):
        if path.exists() and belongs_here(int(path.read_text(encoding="ascii")), folder):
            os.kill(int(path.read_text(encoding="ascii")), signal.SIGTERM)
    wait_until(lambda: not list(folder.glob("slurm*.pid")), 10, "Slurm's daemons do not end")
    shutil.rmtree(folder, ignore_errors=True)


def belongs_here(pid: int, folder: Path) -> bool:
    """Whether the process was started with this folder; a process with a reused number was not."""
    try:
        return str(folder).encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def client(cluster: Cluster, arguments: Sequence[str]) -> None:
    """Replaces this process by a Slurm command on the head."""
    if not arguments:
        raise ClusterError("slurm: no command")
    launch.become([*launch.enter(cluster, HEAD), *arguments], settings(cluster))
