#!/usr/bin/env python3
"""Cost and CPU seconds of the placement engine beside peers, on instances that are made here from seeds.

    run.py --build BUILD [--large] [--dense] [--patterns] [--resume] [INSTANCE...]
    run.py --build BUILD --threads 2 [INSTANCE...]
    run.py --build BUILD --relabel 5 [INSTANCE...]

The first writes results.csv, one row for each instance, costs of levels and method: medians over the seeds. Seconds
are CPU seconds of the engine or the peer's library alone. Peers are used where they are installed (Debian: libmetis5,
libscotch-7.0; PyPI: kahip). "unbalanced": no seed gave at most one rank on each leaf; otherwise only the seeds that
did are counted, and `runs` has their number. The second compares wall-clock time on one and more threads (threads.csv),
the third costs after random renumberings (relabel.csv).
"""

import argparse
import csv
import os
import resource
import signal
import statistics
import subprocess
import sys
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from graphs import read
from instances import CASES, made, ranks_of, relabel
from peers import METHODS, installed

HERE = Path(__file__).resolve().parent
PRESETS = ("fast", "default", "strong")
COSTS = ("1:10:100:1000", "1:2:3:4")
ENGINE_LIMIT = 900  # CPU seconds
WALL_FACTOR = 8  # so many times as long by the clock, at most
ONE_SEED = 100000  # ranks from which one seed is enough ...
SHORT = (*PRESETS, "identity", "metis")  # ... and the methods that finish there in minutes


@dataclass
class Row:
    """What one method reached on one instance."""

    instance: str
    kind: str
    ranks: int
    arcs: int
    weight_sum: int
    tree: str
    costs: str
    method: str
    runs: int
    cost: float | None
    lowest: float | None
    highest: float | None
    cpu_seconds: float | None
    peak_mb: int | None
    status: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What is measured once."""
        return self.instance, self.costs, self.method


def load(path: Path) -> list[Row]:
    """The rows of a file; numbers where there are some."""
    if not path.exists():
        return []
    types = {field.name: field.type for field in fields(Row)}
    with path.open(newline="", encoding="utf-8") as file:
        return [
            Row(**{name: parsed(types[name], text) for name, text in each.items()}) for each in csv.DictReader(file)
        ]


def parsed(kind: object, text: str) -> object:
    """By the field's type."""
    if kind is str:
        return text
    return (int if kind in (int, int | None) else float)(text) if text else None


def save(path: Path, rows: list[dict]) -> None:
    """All or nothing."""
    part = path.with_suffix(".part")
    with part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    part.replace(path)


def output_of(command: list[str], limit: int) -> tuple[list[list[str]], str]:
    """The words of the lines printed, and "ok", "timeout" or the reason; nothing that was started goes on.

    The limit is of CPU seconds: on a machine that is shared, the clock is no measure.
    """
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, start_new_session=True, **pipes)
    resource.prlimit(process.pid, resource.RLIMIT_CPU, (limit, limit))
    try:
        output, errors = process.communicate(timeout=WALL_FACTOR * limit)
        status = "ok" if process.returncode == 0 else f"failed: {(errors.strip().splitlines() or ['no text'])[-1]}"
        if process.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            status = "timeout"
    except BaseException as stopped:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        if not isinstance(stopped, subprocess.TimeoutExpired):
            raise
        status = "timeout"
    return [line.split() for line in output.splitlines(keepends=True) if line.endswith("\n")], status


def short(costs: str, tree: str) -> str:
    """As many as the tree has levels."""
    return ":".join(costs.split(":")[: tree.count(":") + 1])


def engine(arguments: argparse.Namespace, path: Path, tree: str, costs: str, *rest: str) -> tuple[list[list[str]], str]:
    """Lines of bench_place."""
    program = [*arguments.prefix.split(), str(arguments.build / "bin" / "bench_place")]
    return output_of([*program, str(path), tree, short(costs, tree), *rest], ENGINE_LIMIT)


def medians(lines: list[list[str]]) -> dict[str, object]:
    """Fields of a row; of no lines, none."""
    if not lines:
        return dict.fromkeys(("cost", "lowest", "highest", "cpu_seconds", "peak_mb")) | {"runs": 0}
    costs, seconds = ([float(line[i]) for line in lines] for i in (0, 1))
    return {
        "runs": len(lines),
        "cost": statistics.median(costs),
        "lowest": min(costs),
        "highest": max(costs),
        "cpu_seconds": round(statistics.median(seconds), 6),
        "peak_mb": max(int(line[2]) for line in lines),
    }


def measure(arguments: argparse.Namespace, path: Path, tree: str, costs: str, method: str) -> dict[str, object]:
    """Runs one method with all seeds."""
    ranks = ranks_of(path.stem)
    seeds = [str(seed) for seed in (arguments.seeds[:1] if ranks > ONE_SEED else arguments.seeds)]
    if method in PRESETS:
        lines, status = engine(arguments, path, tree, costs, method, *seeds)
        lines = [[cost, cpu, memory] for cost, cpu, _, memory, _ in lines]
    else:
        seeds = seeds[:1] if method in ("identity", "kahip") else seeds
        command = [sys.executable, str(HERE / "peers.py"), method, str(path), tree, short(costs, tree), *seeds]
        lines, status = output_of(command, arguments.limit)
        balanced = [line for line in lines if line[3] == "ok"]
        if lines and not balanced:
            return medians([]) | {"status": "unbalanced", "cpu_seconds": round(float(lines[0][1]), 6)}
        lines = balanced
    return medians(lines) | {"status": "ok" if lines and status == "timeout" else status}


def chosen(arguments: argparse.Namespace) -> list[str]:
    """Instances: those named, or by size and kind."""
    wanted = {"small": True, "large": arguments.large, "dense": arguments.dense, "real": arguments.patterns}
    return arguments.instances or [name for name in CASES if wanted.get(class_of(name))]


def class_of(name: str) -> str:
    """The class of instances that an option selects."""
    if CASES[name].kind == "real":
        return "real"
    if ranks_of(name) <= 4096:
        return "small"
    return "dense" if CASES[name].kind == "dense" else "large"


def methods_for(arguments: argparse.Namespace, name: str) -> list[str]:
    """Those that are named; else all that finish."""
    return [each for each in arguments.methods if arguments.named or ranks_of(name) <= ONE_SEED or each in SHORT]


def compare(arguments: argparse.Namespace) -> None:
    """The table; written after each instance."""
    rows = {row.key: row for row in load(arguments.csv)} if arguments.resume else {}
    for name in chosen(arguments):
        path, case = made(arguments.data, name), CASES[name]
        methods = methods_for(arguments, name)
        todo = [(costs, method) for costs in arguments.costs for method in methods]
        todo = [each for each in todo if (name, *each) not in rows]
        if not todo:
            continue
        starts, columns, weights = read(path)
        about = (name, case.kind, starts.size - 1, columns.size, int(weights.sum()), case.tree)
        del starts, columns, weights
        for costs, method in todo:
            row = Row(*about, costs, method, **measure(arguments, path, case.tree, costs, method))
            rows[row.key] = row
        for costs in arguments.costs:
            print(line_of(name, costs, [rows[name, costs, method] for method in methods]), flush=True)
        save(arguments.csv, [asdict(row) for row in ordered(list(rows.values()))])


def ordered(rows: list[Row]) -> list[Row]:
    """As the instances and methods are listed."""
    places = [{name: i for i, name in enumerate(names)} for names in (CASES, COSTS, (*PRESETS, *METHODS))]
    return sorted(rows, key=lambda row: [place.get(word, -1) for place, word in zip(places, row.key, strict=True)])


def line_of(name: str, costs: str, rows: list[Row]) -> str:
    """Cost over the best and seconds of each method."""
    best = min((row.cost for row in rows if row.cost is not None), default=1) or 1
    cells = [
        f"{each.status}" if each.cost is None else f"{each.cost / best:.3f} {each.cpu_seconds:.3f}" for each in rows
    ]
    return f"{name:<24}{costs:<14}" + "".join(f"{row.method} {cell:<16}" for row, cell in zip(rows, cells, strict=True))


def speed_up(arguments: argparse.Namespace) -> None:
    """One thread and more in turn, three times: the shortest of each, so that other work on the machine counts less."""
    names = arguments.instances or ["grid3d-32768", "geometric-32768", "power-32768", "gravity-2048", "gravity-16384"]
    rows = []
    for name in names:
        path, tree = made(arguments.data, name), CASES[name].tree
        for preset in PRESETS:
            found: dict[int, list[list[str]]] = {1: [], arguments.threads: []}
            for _ in range(3):
                for threads in found:
                    given = ["--threads", str(threads)]
                    found[threads] += engine(arguments, path, tree, COSTS[0], preset, "1", *given)[0]
            wall = [round(min(float(line[2]) for line in lines), 4) for lines in found.values()]
            cpu = [round(min(float(line[1]) for line in lines), 4) for lines in found.values()]
            same = len({line[4] for lines in found.values() for line in lines}) == 1
            rows.append({"instance": name, "preset": preset, "threads": arguments.threads, "same": same})
            rows[-1] |= {"seconds_one": wall[0], "seconds_more": wall[1], "speed_up": round(wall[0] / wall[1], 3)}
            rows[-1] |= {"cpu_one": cpu[0], "cpu_more": cpu[1]}
            print(*rows[-1].values(), flush=True)
            save(arguments.csv, rows)


def renumbered(arguments: argparse.Namespace) -> None:
    """The cost of an instance after random renumberings, each with one seed."""
    small = [name for name, case in CASES.items() if case.kind != "real" and 64 <= ranks_of(name) <= 4096]
    rows = []
    for name in arguments.instances or small:
        path, tree = made(arguments.data, name), CASES[name].tree
        paths = [path, *(relabel(path, seed) for seed in range(1, arguments.relabel + 1))]
        for preset in PRESETS:
            costs = [float(engine(arguments, each, tree, COSTS[0], preset, "1")[0][0][0]) for each in paths]
            middle = statistics.median(costs)
            rows.append({"instance": name, "preset": preset, "renumberings": arguments.relabel, "given": costs[0]})
            rows[-1] |= {"lowest": min(costs), "median": middle, "highest": max(costs)}
            rows[-1] |= {"spread_percent": round(100 * (max(costs) - min(costs)) / middle, 3) if middle else 0}
            print(*rows[-1].values(), flush=True)
        for each in paths[1:]:
            each.unlink()
        save(arguments.csv, rows)


def main() -> None:
    """One of the three."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--data", type=Path, help="keep the instances here (default: a folder in the build)")
    parser.add_argument("--csv", type=Path, help="default: results.csv, threads.csv or relabel.csv beside this file")
    parser.add_argument("--resume", action="store_true", help="keep the rows that the file has")
    large = "8,640 to 1,048,576 ranks, too; from 262,144 on METIS is the only peer"
    parser.add_argument("--large", action="store_true", help=large)
    parser.add_argument("--dense", action="store_true", help="all pairs of 8,192 and 16,384 ranks, too")
    parser.add_argument("--patterns", action="store_true", help="recorded patterns of real programs, too")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--relabel", type=int, default=0, metavar="TIMES")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--costs", nargs="+", default=list(COSTS), help="innermost first")
    parser.add_argument("--methods", nargs="+", choices=(*PRESETS, *METHODS))
    parser.add_argument("--limit", type=int, default=60, help="CPU seconds for a peer on an instance, all seeds")
    parser.add_argument("--prefix", default="", help='before the engine, such as "chrt -f 50" on a busy machine')
    parser.add_argument("instances", nargs="*", help=f"of {' '.join(CASES)}")
    arguments = parser.parse_args()
    mode, default = (compare, "results.csv")
    if arguments.threads > 1:
        mode, default = speed_up, "threads.csv"
    if arguments.relabel > 0:
        mode, default = renumbered, "relabel.csv"
    arguments.csv = arguments.csv or HERE / default
    arguments.named = arguments.methods is not None
    arguments.methods = arguments.methods or [*PRESETS, *METHODS]
    arguments.data = arguments.data or arguments.build / "bench_place"
    for method in [each for each in arguments.methods if each in METHODS and not installed(each)]:
        print(f"{method}: its library is not installed")
        arguments.methods.remove(method)
    mode(arguments)


if __name__ == "__main__":
    main()
