"""Launches of ranktree-bench-<mpi>: on one node, and on emulated clusters whose wires are counted."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from endings import undisturbed  # noqa: E402

AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
GRACE_SECONDS = 10
PACKED, ROUND_ROBIN = "packed", "round robin"
QUIET_WIRE_SECONDS = 0.15  # after a call, for delayed acknowledgements


class BenchError(RuntimeError):
    """The reason why a launch has no figures, in one line."""


@dataclass(frozen=True)
class Mpi:
    """One MPI of the build."""

    name: str
    family: str
    version: str
    mpiexec: str
    program: Path


def built_mpis(build: Path) -> dict[str, Mpi]:
    """The MPIs for which the build has ranktree-bench."""
    found = {}
    for entry in json.loads((build / "mpis.json").read_text(encoding="utf-8")):
        programs = list(build.glob(f"**/ranktree-bench-{entry['name']}"))
        if programs:
            about = (entry["name"], entry["family"], entry["version"], entry["mpiexec"])
            found[entry["name"]] = Mpi(*about, programs[0])
    return found


@dataclass(frozen=True)
class Start:
    """The words in front of a program's own, and the environment they need."""

    words: Sequence[object]
    variables: Mapping[str, str] = field(default_factory=dict)

    def with_options(self, *options: object) -> "Start":
        """The same start with more options for the launcher."""
        return Start([*self.words, *options], self.variables)


def on_one_node(mpi: Mpi, ranks: int) -> Start:
    """Ranks bound to cores round robin; ranks that share a core yield it."""
    if mpi.family == "openmpi":
        bind = ["--oversubscribe", "--map-by", "core", "--bind-to", "core:overload-allowed"]
        if not mpi.version.startswith("4"):
            bind = ["--map-by", "core:oversubscribe", "--bind-to", "core:overload-allowed"]
        yields = {"OMPI_MCA_mpi_yield_when_idle": "1"} if ranks > len(os.sched_getaffinity(0)) else {}
        return Start([mpi.mpiexec, *bind, "-n", ranks], {**AS_ROOT, **yields})
    return Start([mpi.mpiexec, "-n", ranks])


class Cluster:
    """An emulated cluster (docs/how-to/emulate-a-cluster.md)."""

    def __init__(self, build: Path, folder: Path) -> None:
        """The constructor starts nothing."""
        self.build = build
        self._program = build / "bin" / "minicluster"
        self._folder = folder
        self._state = folder / "cluster"

    def refusal(self) -> str | None:
        """The reason why no cluster can be emulated here."""
        if not self._program.exists():
            return f"{self._program}: not built"
        result = subprocess.run([self._program, "available"], capture_output=True, text=True, timeout=60, check=False)
        return (result.stdout + result.stderr).strip() or "no reason given" if result.returncode else None

    @contextmanager
    def up(self, nodes: int, rate: int, latency: int) -> Iterator["Cluster"]:
        """Makes the cluster and removes it in any case."""
        options = ["--nodes", nodes, "--per-switch", nodes, "--rate", rate, "--latency", latency, "--cpus", 4]
        keep = ["--keep", ROOT] if str(ROOT).startswith("/tmp") else []
        try:
            with undisturbed():  # `down` stops only what `up` has recorded
                self._run("up", self._state, *options, *keep)
            yield self
        finally:
            subprocess.run([self._program, "down", self._state], timeout=60, check=False)

    def start(self, mpi: Mpi, per_node: Sequence[int], placement: str) -> Start:
        """A launch of per_node[i] ranks on node i."""
        ranks = sum(per_node)
        words = [self._program, "mpirun", self._state, "--launcher"]
        if mpi.family == "openmpi":
            words += ["openmpi", "--mpiexec", mpi.mpiexec, "-np", ranks]
            return Start([*words, "--rankfile", self._rankfile(per_node, placement)], AS_ROOT)
        words += ["mpich", "--mpiexec", mpi.mpiexec]
        # Hydra places -ppn ranks on each host in turn; MPICH takes a host that is listed twice for two nodes.
        hosts = ",".join(f"n{node}" for node in range(len(per_node)))
        return Start([*words, "-hosts", hosts, "-ppn", per_node[0] if placement == PACKED else 1, "-n", ranks])

    def reset(self) -> None:
        """Resets the counters."""
        self._run("bytes", self._state, "--reset")

    def bytes(self) -> tuple[int, int]:
        """Bytes and frames between nodes since the reset."""
        time.sleep(QUIET_WIRE_SECONDS)
        found = json.loads(self._run("bytes", self._state, "--json"))
        return found["inter_node_bytes"], found.get("inter_node_frames", 0)

    def _run(self, *words: object) -> str:
        return output([self._program, *words], {})

    def _rankfile(self, per_node: Sequence[int], placement: str) -> Path:
        path = self._folder / f"{placement.replace(' ', '_')}_{'_'.join(map(str, per_node))}.rankfile"
        slots = [0] * len(per_node)
        lines = []
        for rank, node in enumerate(nodes_of(per_node, placement)):
            lines.append(f"rank {rank}=n{node} slot={slots[node]}\n")
            slots[node] += 1
        path.write_text("".join(lines), encoding="ascii")
        return path


def nodes_of(per_node: Sequence[int], placement: str) -> list[int]:
    """The node of each rank."""
    if placement == PACKED:
        return [node for node, count in enumerate(per_node) for _ in range(count)]
    return [node for turn in range(max(per_node)) for node, count in enumerate(per_node) if turn < count]


class Launch:
    """A running ranktree-bench; all its processes are stopped with it."""

    def __init__(self, start: Start, mpi: Mpi, arguments: Sequence[object], seconds: float) -> None:
        """Starts it with a time limit in seconds."""
        self._words = [*map(str, start.words), str(mpi.program), *map(str, arguments)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        self._process = subprocess.Popen(
            self._words, env={**os.environ, **start.variables}, start_new_session=True, **pipes
        )
        self._errors: list[str] = []
        self._reader = threading.Thread(target=self._read_errors, daemon=True)
        self._reader.start()
        self._late = False
        self._timer = threading.Timer(seconds, self._give_up)
        self._timer.start()

    def lines(self) -> Iterator[dict]:
        """The lines of rank 0 as they come. Raises BenchError when the launch fails or exceeds its time limit."""
        finished = False
        try:
            for line in self._process.stdout or ():
                if line.startswith('{"'):
                    yield json.loads(line)
            finished = True
        finally:
            self._timer.cancel()
            if not finished:
                self._kill()
            self._process.wait()
            self._reader.join(GRACE_SECONDS)
        if self._late or self._process.returncode:
            how = "time limit" if self._late else f"exit {self._process.returncode}"
            errors = " / ".join("".join(self._errors).strip().splitlines()[-4:])
            raise BenchError(f"{' '.join(self._words)}: {how}: {errors}")

    def go_on(self) -> None:
        """Answers a pause of the program."""
        if self._process.stdin:
            with suppress(BrokenPipeError):
                self._process.stdin.write("\n")
                self._process.stdin.flush()

    def _read_errors(self) -> None:
        self._errors.extend(self._process.stderr or ())

    def _give_up(self) -> None:
        self._late = True
        self._kill()

    def _kill(self) -> None:
        """Sends SIGTERM to the launcher and its ranks, and SIGKILL after a grace period."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGTERM)
            deadline = time.monotonic() + GRACE_SECONDS
            while self._process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.05)
            os.killpg(self._process.pid, signal.SIGKILL)


def output(words: Sequence[object], variables: Mapping[str, str]) -> str:
    """The output of a short command."""
    command = list(map(str, words))
    environment = {**os.environ, **variables}
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    if result.returncode:
        raise BenchError(f"{' '.join(command)}: {(result.stdout + result.stderr).strip()}")
    return result.stdout


def compiled(build: Path, mpi: Mpi, compiler: str, source: str, folder: Path) -> Path:
    """A program of this folder, compiled with the MPI's compiler wrapper."""
    entries = json.loads((build / "mpis.json").read_text(encoding="utf-8"))
    wrapper = next(entry[compiler] for entry in entries if entry["name"] == mpi.name)
    if not wrapper:
        raise BenchError(f"{mpi.name} has no {compiler}")
    program = folder / Path(source).stem
    output([wrapper, "-O2", Path(__file__).with_name(source), "-o", program], {})
    return program


def figures(start: Start, mpi: Mpi, arguments: Sequence[object], seconds: float) -> list[dict]:
    """The lines of a launch. If it fails, the lines before the failure, with a message on stderr."""
    found: list[dict] = []
    try:
        found.extend(Launch(start, mpi, arguments, seconds).lines())
    except BenchError as error:
        print(f"bench: {error}", file=sys.stderr)
    return found


def counted(
    cluster: Cluster, start: Start, mpi: Mpi, arguments: Sequence[object], calls: int, seconds: float
) -> list[dict]:
    """For each case and variant: bytes between nodes of one call."""
    found = []
    launch = Launch(start, mpi, [*arguments, "--pause", calls], seconds)
    try:
        for line in launch.lines():
            if line["pause"] == "begin":
                time.sleep(QUIET_WIRE_SECONDS)
                cluster.reset()
            else:
                count, frames = cluster.bytes()
                found.append({**line, "inter_node_bytes": count / calls, "frames": frames / calls})
            launch.go_on()
    except BenchError as error:
        print(f"bench: {error}", file=sys.stderr)
    return found
