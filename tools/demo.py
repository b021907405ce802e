#!/usr/bin/env python3
"""The main job, end to end: `make demo`.

On an emulated cluster of 4 nodes x 4 ranks (docs/how-to/emulate-a-cluster.md), Open MPI runs the `rings` example with
its ranks placed round robin. Ranktree traces that run, maps it (for fewest bytes, and for fewest messages), and reruns
it with each plan. The demo prints time and bytes between nodes before and after. Where no cluster can be emulated it
takes the trace on one node, and the table shows what the plans would change.

The cores of the nodes are emulated, so ranks are not bound: a plan decides the host of each rank, which is verified.
"""

import argparse
import csv
import json
import os
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from demo_picture import heat_map, side_by_side

NODES = 4
CORES = 4
RANKS = NODES * CORES
MACHINE = f"node:{NODES} core:{CORES}"
HOSTS = f"n[0-{NODES - 1}]"  # the emulated nodes
RATE = 200  # Mbit/s of each link
LATENCY = 200  # microseconds of each link
ITERATIONS = {131072: 6, 1048576: 2}  # of one run, by token size in bytes: about a second each
ROUND_ROBIN = "round-robin"
METRICS = {"size": "plan for fewest bytes", "msg": "plan for fewest messages"}  # as in reorder-2011, Figure 1
EXPLANATION = (
    "rings passes tokens around rings of 4 consecutive ranks; round robin puts each member of a ring on another node.",
    "Ranktree recorded one run (ranktree trace), computed which node each rank belongs on (ranktree map), wrote Open",
    "MPI's own rankfile (ranktree emit), and rings ran again, unchanged.",
    "Which plan? The one for bytes sends the fewest bytes between nodes in all. The one for messages keeps whole rings",
    "on a node, so that no node is busier than another. Measure both: `ranktree map --metric size` and `--metric msg`.",
)
NEXT = (
    "",
    "Next, your own program, in one command:",
    "  build/dev/bin/ranktree optimize -- mpirun -n 16 ./app",
    "or step by step: docs/tutorials/laptop.md.",
)
SECONDS_IN_ALL = 240  # on a machine under heavy load; about 25 s on an idle one
SECONDS_FOR_ONE = 60


class DemoError(RuntimeError):
    """The reason why the demo stopped, in one line."""


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
    """The programs that the demo calls, in one build tree."""

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
        """The reason why no cluster can be emulated here."""
        result = subprocess.run(
            [self.minicluster, "available"], capture_output=True, text=True, timeout=60, check=False
        )
        return (result.stdout + result.stderr).strip() or "no reason given" if result.returncode else None

    def rings_command(self, size: int, iterations: int | None = None) -> list[object]:
        """One run of the example."""
        options = ["--rings", NODES, "--bytes", size, "--iterations", iterations or ITERATIONS[size], "--json"]
        return [self.rings, *options]


class EmulatedCluster:
    """The cluster of the demo."""

    def __init__(self, programs: Programs, state: Path) -> None:
        """The constructor starts nothing."""
        self._program = programs.minicluster
        self._state = state

    @contextmanager
    def up(self) -> Iterator["EmulatedCluster"]:
        """Makes the cluster and removes it in any case."""
        options = ["--nodes", NODES, "--per-switch", NODES, "--rate", RATE, "--latency", LATENCY, "--cpus", CORES]
        run([self._program, "up", self._state, *options])
        try:
            yield self
        finally:
            subprocess.run([self._program, "down", self._state], timeout=SECONDS_FOR_ONE, check=False)

    def launcher(self, *options: object) -> list[object]:
        """Open MPI's launcher on this cluster."""
        return [self._state / "mpirun", "--hostfile", self._state / "hostfile", *options]

    def measure(self, command: Sequence[object]) -> dict:
        """Seconds and bytes between nodes of an iteration, start-up of the run included."""
        run([self._program, "bytes", self._state, "--reset"])
        result = json.loads(run(command))
        counters = json.loads(run([self._program, "bytes", self._state, "--json"]))
        return {
            "seconds": result["seconds_per_iteration"],
            "inter_node_bytes": counters["inter_node_bytes"] / result["iterations"],
        }


def round_robin_file(folder: Path) -> Path:
    """Rank i on node i mod 4, as with `--map-by node`."""
    path = folder / "round_robin.rankfile"
    lines = [f"rank {rank}=n{rank % NODES} slot={rank // NODES}\n" for rank in range(RANKS)]
    path.write_text("".join(lines), encoding="ascii")
    return path


def progress(text: str) -> None:
    """Prints progress on a terminal."""
    if sys.stderr.isatty():
        print(f"demo: {text}", file=sys.stderr, flush=True)


def measure_size(programs: Programs, cluster: EmulatedCluster, size: int, runs: int, folder: Path) -> dict:
    """Before, trace, map, rerun: for one token size."""
    command = programs.rings_command(size)
    before = cluster.launcher("-np", RANKS, "--rankfile", round_robin_file(folder))
    progress(f"{size // 1024} KiB: {runs} runs of rings, ranks placed round robin")
    measured = {ROUND_ROBIN: medians([cluster.measure([*before, *command]) for _ in range(runs)])}
    progress(f"{size // 1024} KiB: tracing one run, mapping it for fewest bytes and for fewest messages")
    pattern = trace(programs, before, size, folder)
    plans = {metric: make_plan(programs, pattern, metric) for metric in METRICS}
    for metric, plan in plans.items():
        verified = [programs.ranktree, "run", "--plan", plan, "--verify-hosts"]
        run([*verified, "--", *cluster.launcher("-np", RANKS), *programs.rings_command(size, iterations=1)])
        after = cluster.launcher(*emitted_options(programs, plan))
        progress(f"{size // 1024} KiB: {runs} runs by the {METRICS[metric]}")
        measured[metric] = medians([cluster.measure([*after, *command]) for _ in range(runs)])
    return summary(programs, pattern, plans, size, measured)


def trace(programs: Programs, launch: Sequence[object], size: int, folder: Path) -> Path:
    """The pattern of one run."""
    pattern = folder / f"rings_{size}.npz"
    run([programs.ranktree, "trace", "-o", pattern, "--", *launch, *programs.rings_command(size)])
    return pattern


def make_plan(programs: Programs, pattern: Path, metric: str) -> Path:
    """The plan for the emulated cluster, by data size or by number of messages."""
    plan = pattern.with_suffix(f".{metric}.json")
    machine = ["--machine", MACHINE, "--hosts", HOSTS]
    run([programs.ranktree, "map", pattern, *machine, "--metric", metric, "-o", plan])
    return plan


def emitted_options(programs: Programs, plan: Path) -> list[str]:
    """The options of `ranktree emit` for Open MPI: the words between launcher and program."""
    folder = plan.with_suffix(".files")
    command = run([programs.ranktree, "emit", plan, "--launcher", "openmpi4", "--output", folder, "--force"])
    return shlex.split(command)[1:-1]


def medians(runs: Sequence[dict]) -> dict:
    """The median of each figure over the runs."""
    return {name: statistics.median(result[name] for result in runs) for name in runs[0]}


def read_pairs(programs: Programs, pattern: Path) -> list[tuple[int, int, float]]:
    """Every (from, to, bytes) of a pattern, its collective calls as the messages that the MPI makes of them."""
    path = pattern.with_suffix(".csv")
    run([programs.ranktree, "convert", pattern, "-o", path])
    with path.open(encoding="utf-8") as lines:
        rows = csv.DictReader(line for line in lines if not line.startswith("#"))
        return [(int(row["src"]), int(row["dst"]), float(row["bytes"])) for row in rows]


def modelled(pairs: Sequence[tuple[int, int, float]], hosts: Sequence[str], iterations: int) -> dict:
    """For one iteration: bytes whose ends are on two nodes, and bytes times hops (2 within a node, 4 between)."""
    between = sum(count for a, b, count in pairs if hosts[a] != hosts[b]) / iterations
    within = sum(count for a, b, count in pairs if hosts[a] == hosts[b]) / iterations
    return {"hop_bytes": 4 * between + 2 * within, "modelled_inter_node_bytes": between}


def summary(programs: Programs, pattern: Path, plans: dict[str, Path], size: int, measured: dict) -> dict:
    """All figures of one token size: for each placement its hosts by rank, its figures, and the ratios."""
    pairs = read_pairs(programs, pattern)
    hosts = {ROUND_ROBIN: [f"n{rank % NODES}" for rank in range(RANKS)]}
    for metric, path in plans.items():
        hosts[metric] = [slot["host"] for slot in json.loads(path.read_text(encoding="utf-8"))["slots"]]
    figures = {name: measured.get(name, {}) | modelled(pairs, hosts[name], ITERATIONS[size]) for name in hosts}
    before = figures[ROUND_ROBIN]
    ratios = {metric: {name: before[name] / value for name, value in figures[metric].items()} for metric in plans}
    report = make_report(programs, pattern, plans, figures)
    return {"bytes": size, "hosts": hosts, "figures": figures, "ratios": ratios, "pairs": pairs, "report": str(report)}


def make_report(programs: Programs, pattern: Path, plans: dict[str, Path], figures: dict) -> Path:
    """The report page of the fastest plan (of that for bytes, where none ran), beside the build."""
    measured = [metric for metric in plans if "seconds" in figures[metric]]
    metric = min(measured, key=seconds_in(figures), default="size")
    page = programs.ranktree.parents[1] / "demo" / f"report-{pattern.stem}.html"
    page.parent.mkdir(exist_ok=True)
    settings = ["--plan", plans[metric], "--machine", MACHINE, "--metric", metric]
    run([programs.ranktree, "report", pattern, *settings, "-o", page])
    return page


def on_cluster(programs: Programs, options: argparse.Namespace, folder: Path) -> dict:
    """The whole demo on an emulated cluster."""
    progress(f"starting {NODES} emulated nodes")
    with EmulatedCluster(programs, folder / "cluster").up() as cluster:
        sizes = [measure_size(programs, cluster, size, options.runs, folder) for size in options.sizes]
    return {"emulated": True, "reason": None, "runs": options.runs, "sizes": sizes}


def on_one_node(programs: Programs, options: argparse.Namespace, folder: Path, reason: str) -> dict:
    """Trace and map only: the program runs on this machine, the plans are for a cluster it could run on."""
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    settings = ["--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]
    sizes = []
    for size in options.sizes:
        pattern = trace(programs, ["mpirun.openmpi", *settings, "-np", RANKS], size, folder)
        plans = {metric: make_plan(programs, pattern, metric) for metric in METRICS}
        sizes.append(summary(programs, pattern, plans, size, {}))
    return {"emulated": False, "reason": reason, "runs": 0, "sizes": sizes}


def heading(result: dict) -> list[str]:
    """The first lines: the machine and the runs."""
    where = f"{NODES} nodes of {CORES} ranks"
    if not result["emulated"]:
        return [
            f"No cluster can be emulated here: {result['reason']}.",
            f"rings was traced on this machine; the table shows what the plans would change on {where}.",
        ]
    return [
        f"rings on an emulated cluster: {where}, links of {RATE} Mbit/s and {LATENCY} us, real Open MPI over TCP.",
        f"One iteration, median of {result['runs']} runs. Cores are emulated: a plan decides the node of each rank.",
    ]


def rows(size: dict) -> Iterator[str]:
    """One line for each placement, with a mark at the fastest."""
    figures = size["figures"]
    fastest = min((name for name in figures if "seconds" in figures[name]), key=seconds_in(figures), default=None)
    for name, title in {ROUND_ROBIN: "round robin (mpirun --map-by node)", **METRICS}.items():
        figure, ratios = figures[name], size["ratios"].get(name, {})
        time = f"{figure['seconds'] * 1e3:.1f} ms" if "seconds" in figure else "not run"
        speedup = f"{ratios['seconds']:.2f}x faster" if "seconds" in ratios else ""
        between = figure.get("inter_node_bytes", figure["modelled_inter_node_bytes"])
        mark = "  <- fastest" if name == fastest else ""
        yield f"  {title:<36}{time:>10}  {speedup:<13}{between * 1e-6:>7.2f} MB between nodes{mark}"


def seconds_in(figures: dict) -> Callable[[str], float]:
    """The time of a placement, by its name."""
    return lambda name: figures[name]["seconds"]


def table(result: dict) -> str:
    """The figures, their meaning, and the next commands."""
    lines = heading(result)
    for size in result["sizes"]:
        lines += ["", f"tokens of {size['bytes'] // 1024} KiB", *rows(size)]
    largest = result["sizes"][-1]
    lines += ["", "Ranks of each node:"]
    names = {ROUND_ROBIN: "round robin", **METRICS}
    lines += [f"  {names[name]:<26}{ranks_by_node(hosts)}" for name, hosts in largest["hosts"].items()]
    return "\n".join([*lines, "", *EXPLANATION, "", *picture(largest), *NEXT])


def picture(size: dict) -> Iterator[str]:
    """Traffic by core before and after, and the page that shows more."""
    figures = size["figures"]
    after = min((name for name in METRICS if "seconds" in figures[name]), key=seconds_in(figures), default="size")
    maps = [heat_map(size["pairs"], size["hosts"][name]) for name in (ROUND_ROBIN, after)]
    yield "Traffic by core; darker is more, frames are nodes. What lies off the diagonal blocks crosses the network:"
    yield ""
    yield from side_by_side(("round robin", METRICS[after]), *maps)
    yield ""
    yield f"The same with zoom, levels and links, in a browser: {size['report']}"


def ranks_by_node(hosts: Sequence[str]) -> str:
    """The ranks of each node."""
    nodes = {name: [rank for rank, host in enumerate(hosts) if host == name] for name in sorted(set(hosts))}
    return " | ".join(" ".join(map(str, ranks)) for ranks in nodes.values())


def stop_in_time(*_: object) -> None:
    """Stops the demo like an error does, so that the cluster is removed."""
    raise DemoError(f"stopped by a signal or after {SECONDS_IN_ALL} s")


def read_options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=Path(__file__).resolve().parents[1] / "build" / "dev")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--runs", type=int, default=3, choices=range(1, 100), metavar="N", help="of which the median")
    parser.add_argument("--sizes", type=int, nargs="+", choices=sorted(ITERATIONS), default=sorted(ITERATIONS))
    parser.add_argument("--one-node", action="store_true", help="as where no cluster can be emulated")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep traces, plans and launcher files here")
    return parser.parse_args()


def demonstrate(options: argparse.Namespace) -> dict:
    """Runs what this machine allows."""
    programs = Programs(options.build)
    reason = "disabled by --one-node" if options.one_node else programs.refusal()
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
