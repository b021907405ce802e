"""The emulated cluster: namespaces for nodes, a user-space switch between them, and a folder that holds its state."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from processes import ClusterError, Journal, only_child, wait_until

HERE = Path(__file__).resolve().parent
NETWORK = "10.77.0"
HEAD = "head"
LAUNCHERS = {"openmpi": "mpirun.openmpi", "mpich": "mpiexec.mpich"}
MTU = 1500
START_SECONDS = 10
STATE_FILES = ("cluster.json", "counters", "baseline", "hosts", "hostfile", "mpirun", "processes", "switch.ready")


@dataclass
class Parameters:
    """The requested cluster. Rates in Mbit/s, latencies in microseconds in one direction, each for one link."""

    nodes: int = 4
    per_switch: int = 4
    rate: float = 1000
    latency: float = 25
    uplink_rate: float | None = None
    uplink_latency: float | None = None
    cpus: int | None = None
    keep: list[str] = field(default_factory=list)

    def switch_arguments(self) -> list[str]:
        """The numbers of the switch's command line; an uplink is like a node's link by default."""
        uplink_rate = self.rate if self.uplink_rate is None else self.uplink_rate
        uplink_latency = self.latency if self.uplink_latency is None else self.uplink_latency
        return [str(value) for value in (self.per_switch, self.latency, self.rate, uplink_latency, uplink_rate)]


def refusal() -> str | None:
    """The reason why no cluster can be made here; None when one can."""
    if os.geteuid() != 0:
        return "an emulated cluster needs root"
    for tool in ("unshare", "nsenter", "ip", "awk"):
        if shutil.which(tool) is None:
            return f"an emulated cluster needs the program '{tool}' (Debian: util-linux, iproute2, mawk)"
    attempts = {
        "namespaces are refused": "true",
        "mounts are refused": "mount -t tmpfs tmpfs /dev/shm",
        "TAP devices are refused": "ip tuntap add dev eth0 mode tap",
    }
    for reason, attempt in attempts.items():
        spaces = [
            "unshare",
            "--net",
            "--uts",
            "--ipc",
            "--mount",
            "--pid",
            "--fork",
            "--mount-proc",
            "sh",
            "-c",
            attempt,
        ]
        result = subprocess.run(spaces, capture_output=True, text=True, timeout=20, check=False)
        if result.returncode != 0:
            return f"{reason} here: {' '.join(result.stderr.split())}"
    return None


def programs_folder() -> Path:
    """The path of the switch: beside the command that was called, or in MINICLUSTER_BIN, or in the newest build."""
    candidates = [Path(os.environ.get("MINICLUSTER_BIN", "/nonexistent")), Path(sys.argv[0]).absolute().parent]
    builds = sorted((HERE.parent.parent / "build").glob("*/bin"), key=lambda path: path.stat().st_mtime, reverse=True)
    for folder in [*candidates, *builds]:
        if (folder / "minicluster_switch").exists():
            return folder
    raise ClusterError("minicluster_switch is not built: build the target minicluster_switch, or set MINICLUSTER_BIN")


class Cluster:
    """A cluster by its state folder."""

    def __init__(self, state: str | Path) -> None:
        """The folder need not exist yet."""
        self.state = Path(state).absolute()
        self.journal = Journal(self.state / "processes")

    def describe(self) -> dict:
        """The record of `up`: the parameters, `names` of the nodes, the folder of the programs."""
        try:
            return json.loads((self.state / "cluster.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise ClusterError(f"{self.state}: no cluster is up there") from None

    def pid(self, name: str) -> int:
        """The first process of a node, as seen from outside."""
        try:
            return int((self.state / f"{name}.pid").read_text(encoding="ascii"))
        except FileNotFoundError:
            raise ClusterError(f"{self.state}: no node '{name}'") from None

    def up(self, parameters: Parameters) -> None:
        """Makes the cluster; a failure leaves nothing behind."""
        programs = programs_folder()
        if self.journal.alive():
            raise ClusterError(f"{self.state}: a cluster is already up there")
        self.down()  # remains of a cluster from before a reboot
        self.state.mkdir(parents=True, exist_ok=True)
        try:
            self._bring_up(parameters, programs)
        except BaseException as error:
            logs = self._logs() if isinstance(error, ClusterError) else ""
            self.down()
            if logs:
                raise ClusterError(f"{error}: {logs}") from error
            raise

    def _bring_up(self, parameters: Parameters, programs: Path) -> None:
        names = [*(f"n{i}" for i in range(parameters.nodes)), HEAD]
        self._write_hosts(names)
        self._start_nodes(names, kept_folders(self.state, parameters.keep))
        self._start_switch(names, parameters, programs)
        for port, name in enumerate(names):
            self._configure_network(port, name, len(names))
        self._write_description(parameters, programs, names)

    def _write_hosts(self, names: Sequence[str]) -> None:
        lines = ["127.0.0.1 localhost", *(f"{address(port)} {name}" for port, name in enumerate(names))]
        (self.state / "hosts").write_text("\n".join(lines) + "\n", encoding="ascii")

    def _start_nodes(self, names: Sequence[str], folders: Sequence[str]) -> None:
        outer = {}
        for name in names:
            (self.state / f"{name}.ready").unlink(missing_ok=True)
            # The head keeps the host's process numbers: only from there can launchers enter the nodes' namespaces.
            processes = [] if name == HEAD else ["--pid", "--mount-proc"]
            spaces = ["--net", "--uts", "--ipc", "--mount", "--propagation", "private", *processes]
            unshare = ["unshare", *spaces, "--fork", "--kill-child=KILL"]
            first = [HERE / "node_start", name, self.state, *folders]
            outer[name] = self.journal.start([*unshare, *first], self.state / f"{name}.log")
        for name in names:
            self._wait_for(f"{name}.ready")
            (self.state / f"{name}.pid").write_text(f"{only_child(outer[name])}\n", encoding="ascii")

    def _start_switch(self, names: Sequence[str], parameters: Parameters, programs: Path) -> None:
        (self.state / "switch.ready").unlink(missing_ok=True)
        processes = [str(self.pid(name)) for name in names]
        switch = [programs / "minicluster_switch", self.state, *parameters.switch_arguments(), *processes]
        self.journal.start(switch, self.state / "switch.log")
        self._wait_for("switch.ready")

    def _configure_network(self, port: int, name: str, ports: int) -> None:
        lines = [f"link set eth0 address {hardware_address(port)} mtu {MTU} txqueuelen 10000 up"]
        lines.append(f"addr add {address(port)}/24 dev eth0")
        for other in range(ports):
            if other != port:
                entry = f"{address(other)} lladdr {hardware_address(other)}"
                lines.append(f"neigh replace {entry} nud permanent dev eth0")
        result = subprocess.run(
            ["nsenter", "-t", str(self.pid(name)), "-n", "-m", "--", "ip", "-batch", "-"],
            input="\n".join(lines) + "\n",
            capture_output=True,
            text=True,
            timeout=START_SECONDS,
            check=False,
        )
        if result.returncode != 0:
            raise ClusterError(f"the network of {name} cannot be set up: {' '.join(result.stderr.split())}")

    def _write_description(self, parameters: Parameters, programs: Path, names: Sequence[str]) -> None:
        nodes = [name for name in names if name != HEAD]
        slots = parameters.cpus or 1
        (self.state / "hostfile").write_text("".join(f"{name} slots={slots}\n" for name in nodes), encoding="ascii")
        # For tools that need the name of one program: the script behaves as Open MPI's mpirun on the cluster. By this
        # interpreter, since finding one may take longer than a launch; its version without one.
        script = self.state / "mpirun"
        words = shlex.join([sys.executable, str(HERE / "minicluster"), "mpirun", str(self.state)])
        version = f'[ "$*" = --version ] && exec {LAUNCHERS["openmpi"]} --version'
        script.write_text(f'#!/bin/sh\n{version}\nexec {words} "$@"\n', encoding="utf-8")
        script.chmod(0o755)
        description = {**asdict(parameters), "names": nodes, "programs": str(programs)}
        temporary = self.state / "cluster.json.new"
        temporary.write_text(json.dumps(description, indent=1) + "\n", encoding="utf-8")
        temporary.rename(self.state / "cluster.json")

    def _wait_for(self, name: str) -> None:
        def ready() -> bool:
            if not self.journal.all_alive():
                raise ClusterError(f"a process of the cluster ended before {name}")
            return (self.state / name).exists()

        wait_until(ready, START_SECONDS, f"no {name} after {START_SECONDS} s")

    def _logs(self) -> str:
        texts = [log.read_text(encoding="utf-8", errors="replace") for log in sorted(self.state.glob("*.log"))]
        return " ".join("\n".join(texts).split())

    def down(self) -> None:
        """Stops what `up` started and removes its files, and the folder if it is empty then. May be called twice."""
        self.journal.kill()
        for pattern in ("*.ready", "*.pid", "*.log", *STATE_FILES):
            for path in self.state.glob(pattern):
                path.unlink(missing_ok=True)
        if self.state.is_dir() and not any(self.state.iterdir()):
            self.state.rmdir()


def address(port: int) -> str:
    """The IP address of a port of the switch."""
    return f"{NETWORK}.{port + 1}"


def hardware_address(port: int) -> str:
    """The Ethernet address of a port; the switch derives the port from it."""
    return f"02:77:00:00:00:{port:02x}"


def kept_folders(state: Path, keep: Sequence[str]) -> list[str]:
    """The top folders below /tmp that nodes see: those of the state, the current folder, and `keep`."""
    paths = [state, Path.cwd(), *(Path(folder).absolute() for folder in keep)]
    return sorted({f"/tmp/{path.parts[2]}" for path in paths if len(path.parts) > 2 and path.parts[1] == "tmp"})
