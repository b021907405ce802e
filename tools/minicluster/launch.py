"""Programs inside the cluster: a command in one node, or an MPI launcher on the head that reaches every node."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from cluster import HEAD, HERE, LAUNCHERS, Cluster
from processes import ClusterError

OPENMPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_plm_rsh_agent": str(HERE / "remote_shell"),
    "OMPI_MCA_pml": "ob1",
    # Sockets inside a node as well: only a socket wakes a sleeping rank.
    "OMPI_MCA_btl": "self,tcp",
    "OMPI_MCA_btl_tcp_if_include": "eth0",
    "OMPI_MCA_oob_tcp_if_include": "eth0",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "TMPDIR": "/tmp",
}
MPICH = {
    "HYDRA_LAUNCHER": "ssh",
    "HYDRA_LAUNCHER_EXEC": str(HERE / "remote_shell"),
    "HYDRA_IFACE": "eth0",
    "UCX_TLS": "tcp,self",
    "UCX_NET_DEVICES": "eth0",
    "FI_PROVIDER": "tcp",
    "FI_TCP_IFACE": "eth0",
}


def enter(cluster: Cluster, name: str) -> list[str]:
    """The command prefix that enters a node, in the current folder."""
    own_processes = [] if name == HEAD else ["-p"]
    enter_spaces = ["nsenter", "-t", str(cluster.pid(name)), "-n", "-u", "-i", "-m", *own_processes, "--"]
    return [*enter_spaces, "/bin/sh", "-c", 'cd "$0" && exec "$@"', str(Path.cwd())]


def environment(cluster: Cluster, extra: Mapping[str, str]) -> dict[str, str]:
    """This environment, with the variables that find the cluster and, with emulated cores, make hwloc see them."""
    cpus = cluster.describe()["cpus"]
    emulated = {"HWLOC_SYNTHETIC": f"package:1 core:{cpus} pu:1"} if cpus else {}
    # Where HWLOC_COMPONENTS is set, hwloc ignores what describes a machine.
    left_out = {"DISPLAY", "HWLOC_COMPONENTS"} if cpus else {"DISPLAY"}
    inherited = {name: value for name, value in os.environ.items() if name not in left_out}
    # Settings of the caller take precedence over those for an MPI.
    return {**emulated, **extra, **inherited, "MINICLUSTER_STATE": str(cluster.state)}


def run_in_node(cluster: Cluster, name: str, command: Sequence[str]) -> None:
    """Replaces this process by `command` in the node."""
    if not command:
        raise ClusterError("exec: no command")
    become([*enter(cluster, name), *command], environment(cluster, {}))


def become(command: Sequence[str], variables: Mapping[str, str]) -> None:
    """Replaces this process, so that signals and the exit code are the command's own."""
    try:
        os.execvpe(command[0], list(command), dict(variables))
    except OSError as error:
        raise ClusterError(f"{command[0]}: {error.strerror}") from error


def with_preload(arguments: Sequence[str], library: Path) -> list[str]:
    """Open MPI's arguments with the library preloaded into every rank, before any that `-x LD_PRELOAD=` names."""
    result = list(arguments)
    for i, (option, value) in enumerate(zip(result, result[1:], strict=False)):
        if option == "-x" and value.split("=")[0] == "LD_PRELOAD":
            given = value.partition("=")[2] or os.environ.get("LD_PRELOAD", "")
            result[i + 1] = f"LD_PRELOAD={library}:{given}".rstrip(":")
            return result
    return ["-x", f"LD_PRELOAD={library}", *result]


def mpirun(cluster: Cluster, launcher: str, program: str | None, arguments: Sequence[str]) -> None:
    """Replaces this process by an MPI's launcher on the head, with the settings that make it reach the nodes."""
    library = Path(cluster.describe()["programs"]) / "minicluster_block.so"
    program = program or LAUNCHERS[launcher]
    if launcher == "openmpi":
        command, settings = [program, *with_preload(arguments, library)], OPENMPI
    else:
        command, settings = [program, "-genv", "LD_PRELOAD", str(library), *arguments], MPICH
    become([*enter(cluster, HEAD), *command], environment(cluster, settings))
