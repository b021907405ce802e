#!/usr/bin/env python3
"""The gain of rank reordering on emulated clusters: prints the Markdown tables of docs/benchmarks/reordering.md.

probe: the graph k <-> k + P/2 with weight 1000, k -> k + 1 with weight 1, on 2 nodes of 2 ranks: the result of the
native MPI_Dist_graph_create(reorder=1), and of Ranktree's. Each runs in a launch of its own, under a time limit.

work: rings, a 4x4 stencil and the exchanges of NAS CG with 16 ranks of Open MPI on 4 nodes, in every available order.
All orders run in turn, so that other load on the machine affects all alike. Figures are medians, with minimum and
maximum; bytes between nodes are counted on the emulated wires, without those of start and exit. The stencil's row
`tiling` is ranktree_Cart_create started packed; its own order is row order, as in `packed`.
"""

import argparse
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (".", "bench", "tools", "tools/minicluster")
sys.path[:0] = [str(ROOT / folder) for folder in FOLDERS]

import demo  # noqa: E402
from demo import LATENCY, NODES, RANKS, RATE, DemoError, EmulatedCluster, Programs  # noqa: E402
from endings import Ended, end_by_exception, undisturbed  # noqa: E402

from tests.helpers.faked_mpis import QUIET, REMOTE_SHELL, FakedMpi, built_mpis  # noqa: E402

PROBE_SECONDS = 60
RUN_SECONDS = 60
GRACE_SECONDS = 10
TIME_IS_OVER = 124
WORKS = {"rings": (131072, 6), "stencil": (262144, 10), "cg": (131072, 8)}  # bytes of a message, iterations of a run
ORDERS = ("round robin", "packed", "launcher plan", "central", "node", "distributed", "world", "tiling")


# -- launches, and how they end --


def launch(words: Sequence[object], variables: Mapping[str, str], seconds: float) -> subprocess.CompletedProcess[str]:
    """Runs a command and its processes in a session of their own; exit code 124 at the time limit."""
    command = list(map(str, words))
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, env=dict(variables), start_new_session=True, **pipes)
    try:
        output, errors = process.communicate(timeout=seconds)
        return subprocess.CompletedProcess(command, process.returncode, output, errors)
    except subprocess.TimeoutExpired:
        output, errors = end_session(process)
        return subprocess.CompletedProcess(command, TIME_IS_OVER, output, errors)
    finally:
        if process.returncode is None:
            end_session(process)


def end_session(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Sends SIGTERM to the launchers of a session, SIGKILL after a grace period; returns the output."""
    try:
        os.killpg(process.pid, signal.SIGTERM)
        return process.communicate(timeout=GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.communicate()


def run(words: Sequence[object]) -> str:
    """The output of a command that must succeed within its time."""
    result = launch(words, os.environ, RUN_SECONDS)
    if result.returncode == 0:
        return result.stdout
    said = "\n".join((result.stdout + result.stderr).strip().splitlines()[-8:])
    how = f"not done after {RUN_SECONDS} s" if result.returncode == TIME_IS_OVER else f"exit {result.returncode}"
    raise DemoError(f"{' '.join(map(str, words))}: {how}: {said}")


# -- probe --


@contextmanager
def cluster_up(minicluster: Path, state: Path, *options: object) -> Iterator[Path]:
    """A cluster that is removed in any case."""
    try:
        with undisturbed():  # `down` stops only what `up` has recorded
            run([minicluster, "up", state, *options])
        yield state
    finally:
        subprocess.run([minicluster, "down", state], timeout=60, check=False)


def probe_launch(mpi: FakedMpi, per_node: int) -> tuple[list[str], dict[str, str]]:
    """The words for `minicluster mpirun`, with the first ranks on the first node; and the environment."""
    if mpi.family == "openmpi":
        words = ["--launcher", "openmpi", "--mpiexec", mpi.mpiexec, "--host", f"n0:{per_node},n1:{per_node}"]
    else:
        words = ["--launcher", "mpich", "--mpiexec", mpi.mpiexec, "-hosts", "n0,n1", "-ppn", str(per_node)]
    agent = str(REMOTE_SHELL)
    more = {"PRTE_MCA_plm_ssh_agent": agent, "PRTE_MCA_prte_if_include": "eth0"}
    more |= {"I_MPI_HYDRA_BOOTSTRAP": "ssh", "I_MPI_HYDRA_BOOTSTRAP_EXEC": agent, "I_MPI_HYDRA_IFACE": "eth0"}
    return [*words, "-n", str(2 * per_node)], {**os.environ, **QUIET[mpi.family], **more}


def probe(minicluster: Path, state: Path, mpi: FakedMpi, whose: str) -> dict:
    """The output and the exit of one launch."""
    words, variables = probe_launch(mpi, 2)
    program = mpi.build / "bin" / f"bench_reorder_probe_{mpi.name}"
    result = launch([minicluster, "mpirun", state, *words, program, whose], variables, PROBE_SECONDS)
    found: dict = {"exit": result.returncode}
    if before := re.search(r"^before (\d+) (\d+)$", result.stdout, re.MULTILINE):
        found["before"] = (int(before[1]), int(before[2]))
    after = re.search(r"^after (\d+) (\d+) declared (\d) rebound (\d+)$", result.stdout, re.MULTILINE)
    if after:
        found |= {"after": (int(after[1]), int(after[2])), "declared": after[3] == "1", "rebound": int(after[4])}
    found["delivered"] = "delivered 1" in result.stdout
    return found


def outcome(found: dict) -> list[str]:
    """Cells of one row: edges between nodes before and after, the rest in words."""
    if "before" not in found:
        return ["-", "-", f"does not start (exit {found['exit']})", "-"]
    before = f"{found['before'][0]} heavy, {found['before'][1]} light"
    if "after" not in found:
        return [before, "-", "hangs" if found["exit"] == TIME_IS_OVER else "aborts", "-"]
    words = "as declared" if found["declared"] else "not what was declared"
    if found["rebound"]:
        words += f", {found['rebound']} ranks rebound"
    completes = "completes" if found["delivered"] else "hangs" if found["exit"] == TIME_IS_OVER else "fails"
    return [before, f"{found['after'][0]} heavy, {found['after'][1]} light", words, completes]


def probe_table(build: Path) -> None:
    """Every MPI of the build: the native call and Ranktree's."""
    minicluster = build / "bin" / "minicluster"
    print("| call | edges between nodes before | after | neighbours | MPI_Neighbor_alltoall |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="ranktree_bench_") as folder:
        for mpi in built_mpis(build).values():
            for whose, title in (("stock", f"{mpi.name}, reorder=1"), ("ours", f"ranktree on {mpi.name}")):
                # A cluster for each launch, so that removing it also stops a launch that hangs.
                with cluster_up(minicluster, Path(folder) / "state", "--nodes", 2, "--per-switch", 2) as state:
                    print(f"| {title} | {' | '.join(outcome(probe(minicluster, state, mpi, whose)))} |", flush=True)


# -- work --


class Workbench:
    """The programs of a build on the demo's cluster."""

    def __init__(self, build: Path, cluster: EmulatedCluster, folder: Path) -> None:
        """The constructor runs nothing."""
        self._programs = Programs(build)
        self._work = build / "bin" / "bench_reorder_work_openmpi"
        self._minicluster = self._programs.minicluster
        self._cluster = cluster
        self._folder = folder

    def commands(self, work: str) -> dict[str, tuple[list[object], list[object]]]:
        """For each order: the words before the program's own, and those after WORK ORDER BYTES ITERATIONS."""
        round_robin = self._launcher("round_robin", lambda rank: (rank % NODES, rank // NODES))
        packed = self._launcher("packed", lambda rank: (rank // (RANKS // NODES), rank % (RANKS // NODES)))
        pattern = self._pattern(work, round_robin)
        plan = demo.make_plan(self._programs, pattern, "size")
        world = [self._programs.ranktree, "run", "--reorder", pattern, "--", *round_robin]
        found = {
            "round robin": (round_robin, "none"),
            "packed": (packed, "none"),
            "launcher plan": (self._cluster.launcher(*demo.emitted_options(self._programs, plan)), "none"),
            **{mode: (round_robin, mode) for mode in ("central", "node", "distributed")},
            "world": (world, "none"),
        }
        if work == "stencil":
            found["tiling"] = (packed, "cart")
        return {name: self._words(launch, work, order, pattern) for name, (launch, order) in found.items()}

    def measure(self, words: tuple[list[object], list[object]], iterations: int) -> tuple[float, float]:
        """Seconds of an iteration, and bytes between nodes of the whole run."""
        run([self._minicluster, "bytes", self._cluster.state, "--reset"])
        before, after = words
        seconds = json.loads(run([*before, iterations, *after]).splitlines()[-1])["seconds_per_iteration"]
        counters = json.loads(run([self._minicluster, "bytes", self._cluster.state, "--json"]))
        return seconds, counters["inter_node_bytes"]

    def _words(self, launch: Sequence[object], work: str, order: str, pattern: Path) -> tuple[list, list]:
        return [*launch, self._work, work, order, WORKS[work][0]], [pattern]

    def _launcher(self, name: str, slot_of: object) -> list[object]:
        path = self._folder / f"{name}.rankfile"
        slots = [slot_of(rank) for rank in range(RANKS)]
        lines = [f"rank {rank}=n{node} slot={slot}\n" for rank, (node, slot) in enumerate(slots)]
        path.write_text("".join(lines), encoding="ascii")
        return self._cluster.launcher("-np", RANKS, "--rankfile", path)

    def _pattern(self, work: str, launch: Sequence[object]) -> Path:
        path = self._folder / f"{work}.npz"
        size, iterations = WORKS[work]
        run([self._programs.ranktree, "trace", "-o", path, "--", *launch, self._work, work, "none", size, iterations])
        return path


class CountedCluster(EmulatedCluster):
    """The demo's cluster with a known state folder, also removed when it is only partly made."""

    def __init__(self, programs: Programs, state: Path) -> None:
        """The constructor starts nothing."""
        super().__init__(programs, state)
        self.state = state
        self._minicluster = programs.minicluster

    @contextmanager
    def down_at_the_end(self) -> Iterator["CountedCluster"]:
        """Makes the cluster and removes it."""
        options = ["--nodes", NODES, "--per-switch", NODES, "--rate", RATE, "--latency", LATENCY, "--cpus", demo.CORES]
        with cluster_up(self._minicluster, self.state, *options):
            yield self


def figures(bench: Workbench, work: str, runs: int) -> dict[str, dict]:
    """Seconds of every run and bytes of an iteration, by order; the error of an order that failed."""
    iterations = WORKS[work][1]
    commands = bench.commands(work)
    found: dict[str, dict] = {name: {"seconds": [], "bytes": []} for name in commands}
    for _ in range(runs):
        for name, words in commands.items():
            if "failed" in found[name]:
                continue
            try:
                if "start" not in found[name]:
                    found[name]["start"] = bench.measure(words, 1)[1]
                seconds, count = bench.measure(words, iterations + 1)
            except DemoError as error:
                found[name]["failed"] = str(error)
                print(f"{work}, {name}: {error}", file=sys.stderr)
                continue
            found[name]["seconds"].append(seconds)
            found[name]["bytes"].append((count - found[name]["start"]) / iterations)
    return found


def cells(found: dict | None) -> str:
    """Time with its spread, and bytes."""
    if found is None:
        return "| | "
    if "failed" in found:
        return "| failed | - "
    times = [1e3 * value for value in found["seconds"]]
    megabytes = statistics.median(found["bytes"]) / 1e6
    return f"| {statistics.median(times):.1f} ({min(times):.1f}-{max(times):.1f}) | {megabytes:.2f} "


def work_table(build: Path, runs: int) -> None:
    """One row for each order, two columns for each work."""
    programs = Programs(build)
    if refusal := programs.refusal():
        raise DemoError(f"no emulated cluster: {refusal}")
    with tempfile.TemporaryDirectory(prefix="ranktree_bench_") as name:
        folder = Path(name)
        cluster = CountedCluster(programs, folder / "cluster")
        with cluster.down_at_the_end():
            bench = Workbench(build, cluster, folder)
            found = {work: figures(bench, work, runs) for work in WORKS}
    print("| order |" + "".join(f" {work}, ms an iteration | MB between nodes |" for work in WORKS))
    print("|---|" + "---|---|" * len(WORKS))
    for order in ORDERS:
        print(f"| {order} " + "".join(cells(found[work].get(order)) for work in WORKS) + "|")
    print(f"\nMedians of {runs} runs (least-most).{tiling(found['stencil'])}")


def tiling(stencil: dict[str, dict]) -> str:
    """The gain of tiling, run by run."""
    rows, tiles = stencil["packed"], stencil["tiling"]
    if "failed" in rows or "failed" in tiles:
        return ""
    pairs = [tile / row for tile, row in zip(tiles["seconds"], rows["seconds"], strict=True)]
    return f" Tiling takes {statistics.median(pairs):.2f} ({min(pairs):.2f}-{max(pairs):.2f}) of row order's time."


def main() -> int:
    """Exit code 0 when all tables were made."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=5, choices=range(1, 100), metavar="N", help="of which the median")
    parser.add_argument("--only", choices=("probe", "work"))
    options = parser.parse_args()
    end_by_exception()
    try:
        if options.only != "work":
            probe_table(options.build.resolve())
        if options.only != "probe":
            work_table(options.build.resolve(), options.runs)
    except DemoError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    except Ended:
        print("bench: ended by a signal", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
