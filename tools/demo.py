#!/usr/bin/env python3
"""The main job, end to end: `make demo`.

On an emulated cluster of 4 nodes x 4 ranks (docs/minicluster.md) real Open MPI runs the `rings` example with its ranks
dealt round robin; ranktree traces that run, maps it, writes the launcher's files; the program runs again by the plan.
Printed: time, bytes between nodes and hop-bytes before and after, each with its ratio. Where no cluster can be emulated
the trace is taken on one node, and the table shows what the plan would save.

The cores of the nodes are emulated, so ranks are not bound: only the host of each rank is enforced.
"""

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

NODES = 4
CORES = 4
RANKS = NODES * CORES
MACHINE = f"node:{NODES} core:{CORES}"  # its nodes are called n0, n1, ... as those of the emulated cluster
RATE = 200  # Mbit/s of each link
LATENCY = 200  # microseconds of each link
ITERATIONS = {131072: 8, 1048576: 3}  # of one run, by token size in bytes: about a second each
SECONDS_IN_ALL = 115
SECONDS_FOR_ONE = 60


class DemoError(RuntimeError):
    """Why the demo ended early, in one line."""


def run(command: Sequence[object], **variables: str) -> str:
    """The output of a command that must succeed within its time."""
    words = list(map(str, command))
    environment = {**os.environ, **variables}
    try:
        result = subprocess.run(
            words, env=environment, capture_output=True, text=True, timeout=SECONDS_FOR_ONE, check=False
        )
    except subprocess.TimeoutExpired:
        raise DemoError(f"{' '.join(words)}: not done after {SECONDS_FOR_ONE} s") from None
    if result.returncode != 0:
        said = "\n".join((result.stdout + result.stderr).strip().splitlines()[-8:])
        raise DemoError(f"{' '.join(words)}: exit {result.returncode}: {said}")
    return result.stdout


class Programs:
    """What the demo calls, in one build tree."""

    def __init__(self, build: Path) -> None:
        """Raises DemoError when the tree is not built."""
        folder = build.resolve() / "bin"
        self.ranktree = folder / "ranktree"
        self.rings = folder / "rings_openmpi"
        self.minicluster = folder / "minicluster"
        for program in (self.ranktree, self.rings, folder / "minicluster_switch"):
            if not program.exists():
                raise DemoError(f"{program}: not built (make build; Debian's Open MPI must be installed)")
        if shutil.which("mpirun.openmpi") is None:
            raise DemoError("mpirun.openmpi: not installed")

    def refusal(self) -> str | None:
        """Why no cluster can be emulated here."""
        result = subprocess.run(
            [self.minicluster, "available"], capture_output=True, text=True, timeout=60, check=False
        )
        return (result.stdout + result.stderr).strip() or "no reason given" if result.returncode else None

    def rings_command(self, size: int) -> list[object]:
        """One run of the example."""
        options = ["--rings", NODES, "--bytes", size, "--iterations", ITERATIONS[size], "--json"]
        return [self.rings, *options]


class EmulatedCluster:
    """The cluster of the demo."""

    def __init__(self, programs: Programs, state: Path) -> None:
        """Nothing is started yet."""
        self._program = programs.minicluster
        self._state = state

    @contextmanager
    def up(self) -> Iterator["EmulatedCluster"]:
        """Makes the cluster and ends it, whatever happens."""
        options = ["--nodes", NODES, "--per-switch", NODES, "--rate", RATE, "--latency", LATENCY, "--cpus", CORES]
        run([self._program, "up", self._state, *options])
        try:
            yield self
        finally:
            subprocess.run([self._program, "down", self._state], timeout=SECONDS_FOR_ONE, check=False)

    def launcher(self, rankfile: Path) -> list[object]:
        """Open MPI's launcher on this cluster, ranks placed by a rankfile."""
        hosts = ["--hostfile", self._state / "hostfile", "--rankfile", rankfile]
        return [self._state / "mpirun", "-np", RANKS, *hosts]

    def measure(self, command: Sequence[object], rankfile: Path) -> dict:
        """Seconds an iteration and bytes between nodes an iteration, start-up of the run included."""
        run([self._program, "bytes", self._state, "--reset"])
        result = json.loads(run([*self.launcher(rankfile), *command]))
        counters = json.loads(run([self._program, "bytes", self._state, "--json"]))
        return {
            "seconds": result["seconds_per_iteration"],
            "inter_node_bytes": counters["inter_node_bytes"] / result["iterations"],
        }


def round_robin_file(folder: Path) -> Path:
    """Rank i on node i mod 4: what `--map-by node` does."""
    path = folder / "round_robin.rankfile"
    lines = [f"rank {rank}=n{rank % NODES} slot={rank // NODES}\n" for rank in range(RANKS)]
    path.write_text("".join(lines), encoding="ascii")
    return path


def trace_and_map(programs: Programs, launch: Sequence[object], size: int, folder: Path) -> Path:
    """Traces one run and maps it; the plan's file."""
    pattern, plan = folder / f"rings_{size}.npz", folder / f"plan_{size}.json"
    run([programs.ranktree, "trace", "-o", pattern, "--", *launch, *programs.rings_command(size)])
    run([programs.ranktree, "map", pattern, "--machine", MACHINE, "-o", plan])
    return plan


def modelled(plan: dict, placement: str, iterations: int) -> dict:
    """What the plan's file says of a placement, for one iteration: hop-bytes, and bytes that meet above the nodes."""
    row = next(row for row in plan["costs"] if row["placement"] == placement)
    node_level = [level["kind"].lower() for level in plan["levels"]].index("node")
    between_nodes = sum(row["weight"][:node_level])
    return {"hop_bytes": row["total"] / iterations, "modelled_inter_node_bytes": between_nodes / iterations}


def medians(runs: Sequence[dict]) -> dict:
    """The median of each figure over the runs."""
    return {name: statistics.median(result[name] for result in runs) for name in runs[0]}


def ratios(before: dict, after: dict) -> dict:
    """How many times less of each."""
    return {name: value / after[name] if after[name] else None for name, value in before.items()}


def measure_size(programs: Programs, cluster: EmulatedCluster, size: int, runs: int, folder: Path) -> dict:
    """Before, trace, map, emit, after: for one token size."""
    command = programs.rings_command(size)
    round_robin = round_robin_file(folder)
    before = medians([cluster.measure(command, round_robin) for _ in range(runs)])
    path = trace_and_map(programs, cluster.launcher(round_robin), size, folder)
    launch_folder = folder / f"launch_{size}"
    run([programs.ranktree, "emit", path, "--launcher", "openmpi4", "-o", launch_folder])
    after = medians([cluster.measure(command, launch_folder / "rankfile") for _ in range(runs)])
    return summary(path, size, before, after)


def summary(plan_file: Path, size: int, before: dict, after: dict) -> dict:
    """All that is known of one token size."""
    plan = json.loads(plan_file.read_text(encoding="utf-8"))
    before |= modelled(plan, "round-robin", ITERATIONS[size])
    after |= modelled(plan, "plan", ITERATIONS[size])
    hosts = [seat["host"] for seat in plan["seats"]]
    return {"bytes": size, "hosts": hosts, "before": before, "after": after, "ratio": ratios(before, after)}


def on_cluster(programs: Programs, options: argparse.Namespace, folder: Path) -> dict:
    """The whole demo on an emulated cluster."""
    with EmulatedCluster(programs, folder / "cluster").up() as cluster:
        sizes = [measure_size(programs, cluster, size, options.runs, folder) for size in options.sizes]
    return {"emulated": True, "reason": None, "runs": options.runs, "sizes": sizes}


def on_one_node(programs: Programs, options: argparse.Namespace, folder: Path, reason: str) -> dict:
    """Trace and map only: the program runs on this machine, the plan is made for the cluster it could run on."""
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    settings = ["--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]
    launch = ["mpirun.openmpi", *settings, "-np", RANKS]
    sizes = [summary(trace_and_map(programs, launch, size, folder), size, {}, {}) for size in options.sizes]
    return {"emulated": False, "reason": reason, "runs": 0, "sizes": sizes}


ROWS = {
    "seconds": ("time", 1e3, "ms"),
    "inter_node_bytes": ("bytes between nodes", 1e-6, "MB"),
    "modelled_inter_node_bytes": ("the same by the model", 1e-6, "MB"),
    "hop_bytes": ("hop-bytes", 1e-6, "MB"),
}


def table(result: dict) -> str:
    """The figures of one iteration, as text."""
    if result["emulated"]:
        lines = [
            f"emulated cluster of {NODES} nodes x {CORES} ranks, {RATE} Mbit/s and {LATENCY} us a link; real Open MPI;"
        ]
        lines.append(f"medians of {result['runs']} runs. Cores are emulated, so ranks are not bound: hosts only.")
    else:
        lines = [f"no emulated cluster: {result['reason']}"]
        lines.append(f"traced on one node; what the plan would save on {NODES} nodes x {CORES} ranks:")
    lines.append("")
    lines.append(f"{'one iteration of rings':<34}{'round robin':>14}{'by the plan':>14}{'ratio':>9}")
    for size in result["sizes"]:
        for name, (title, factor, unit) in ROWS.items():
            if name in size["before"]:
                ratio = size["ratio"][name]
                row = f"{size['bytes'] // 1024} KiB: {title}"
                figures = [f"{size[when][name] * factor:.2f} {unit}" for when in ("before", "after")]
                lines.append(f"{row:<34}{figures[0]:>14}{figures[1]:>14}{f'{ratio:.2f}x' if ratio else '-':>9}")
        lines.append(f"  rank by rank: {' '.join(size['hosts'])}")
    return "\n".join(lines)


def stop_in_time(*_: object) -> None:
    """Ends the demo the way an error does, so that the cluster goes down."""
    raise DemoError(f"ended by a signal or after {SECONDS_IN_ALL} s")


def read_options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=Path(__file__).resolve().parents[1] / "build" / "dev")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--runs", type=int, default=5, choices=range(1, 100), metavar="N", help="of which the median")
    parser.add_argument("--sizes", type=int, nargs="+", choices=sorted(ITERATIONS), default=sorted(ITERATIONS))
    parser.add_argument("--one-node", action="store_true", help="as where no cluster can be emulated")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep traces, plans and launcher files here")
    return parser.parse_args()


def demonstrate(options: argparse.Namespace) -> dict:
    """Runs what this machine allows."""
    programs = Programs(options.build)
    reason = "not asked for (--one-node)" if options.one_node else programs.refusal()
    with tempfile.TemporaryDirectory(prefix="ranktree_demo_") as temporary:
        folder = options.keep.absolute() if options.keep else Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if reason:
            return on_one_node(programs, options, folder, reason)
        return on_cluster(programs, options, folder)


def main() -> int:
    """Exit code 0 when the whole chain worked."""
    options = read_options()
    for number in (signal.SIGALRM, signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop_in_time)
    signal.alarm(SECONDS_IN_ALL)
    try:
        result = demonstrate(options)
    except DemoError as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1
    print(json.dumps(result) if options.json else table(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
