#!/usr/bin/env python3
"""Which MPI calls take the applications' time: writes call_times.csv, and prints it as Markdown.

call_times.py --build BUILD [--machine 4x4] [--write PAGE] [--nas FOLDER] [NAME...]

Each application runs once, plain, below the profiling tool call_times.c. Without NAMEs only the table is made.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from application import HERE, Application, Missing, names
from run import MACHINES, MPICH, Bench, add_sources, finished, ready

sys.path.insert(0, str(HERE.parent))

from endings import Ended, end_by_exception  # noqa: E402
from marked_page import write_between_marks  # noqa: E402
from measured_rows import read_rows, rows_but, write_rows  # noqa: E402

RESULTS = HERE / "call_times.csv"
MARKS = ("<!-- table: bench/applications/call_times.py -->", "<!-- end of call times -->")
FIELDS = ("application", "machine", "call", "calls", "seconds")
PROGRAM = "program"  # the tool's name of the whole time
SHOWN = 0.02  # calls with less of the run are left out

Row = dict[str, object]


def tool(folder: Path) -> Path:
    """The profiling tool, compiled for Debian's Open MPI."""
    library = folder / "libcall_times.so"
    words = ["mpicc.openmpi", "-O2", "-fPIC", "-shared", "-Wl,-z,lazy", "-o", library, HERE / "call_times.c"]
    subprocess.run([*map(str, words)], check=True, timeout=60)
    return library


def measured(bench: Bench, application: Application, library: Path) -> Iterator[Row]:
    """Rows of one run, its programs together. Raises RuntimeError where the run fails."""
    folder = bench.folder / application.name
    application.prepare(folder)
    output = folder / "call-times"
    options = ("-x", f"LD_PRELOAD={library}", "-x", f"CALL_TIMES={output}")
    code, text, errors = finished(bench.launch(application, *options), folder, application.seconds, bench.variables)
    faults = application.faults(text, folder)
    if code != "0" or faults or not output.exists():
        raise RuntimeError(f"{application.name}: exit {code}, {faults}: {errors[-500:]}")
    sums: dict[str, tuple[int, float]] = {}
    for line in output.read_text(encoding="ascii").splitlines():
        name, calls, seconds = line.split()
        before = sums.get(name, (0, 0.0))
        sums[name] = (before[0] + int(calls), before[1] + float(seconds))
    for name, (number, total) in sorted(sums.items(), key=lambda item: -item[1][1]):
        row = (application.name, bench.machine, name, str(number), f"{total:.6f}")
        yield dict(zip(FIELDS, row, strict=True))


def table(rows: list[Row]) -> str:
    """Markdown: a line for each application."""
    lines = ["| application | on | seconds | in MPI | calls, by time |", "|---|---|---|---|---|"]
    for name, machine in dict.fromkeys((row["application"], row["machine"]) for row in rows):
        own = [row for row in rows if (row["application"], row["machine"]) == (name, machine)]
        seconds = {str(row["call"]): float(str(row["seconds"])) for row in own}
        whole = seconds.pop(PROGRAM)
        share = {call: each / whole for call, each in seconds.items()}
        calls = ", ".join(f"{call} {of:.0%}" for call, of in share.items() if of >= SHOWN)
        lines.append(f"| {name} | {machine} | {whole:.1f} | {sum(share.values()):.0%} | {calls} |")
    return "\n".join(lines)


def measure(options: argparse.Namespace, folder: Path) -> bool:
    """Replaces the rows of these applications; whether every run was right."""
    right = True
    library = tool(folder)
    bench = Bench(options.build.resolve(), folder, options.machine)
    with bench.up():
        for application in ready(options, options.machine):
            try:
                new = list(measured(bench, application, library))
            except (RuntimeError, subprocess.CalledProcessError) as error:
                print(error, file=sys.stderr)
                right = False
                continue
            kept = rows_but(RESULTS, FIELDS, application=application.name, machine=options.machine)
            write_rows(RESULTS, sorted([*kept, *new], key=lambda row: str(row["application"])), FIELDS)
            print(table(new).splitlines()[-1], flush=True)
    return right


def main() -> int:
    """Measures what is named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--machine", choices=[name for name in MACHINES if name != MPICH], default="4x4")
    parser.add_argument("--write", type=Path, metavar="PAGE")
    add_sources(parser)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names())}")
    options = parser.parse_args()
    end_by_exception()
    right = True
    try:
        if options.names:
            with tempfile.TemporaryDirectory(prefix="ranktree-applications-") as folder:
                right = measure(options, Path(folder))
    except (Missing, Ended) as reason:
        print(reason, file=sys.stderr)
        return 1
    text = table(read_rows(RESULTS, FIELDS))
    if options.write:
        write_between_marks(options.write, MARKS, text)
    else:
        print(text)
    return 0 if right else 1


if __name__ == "__main__":
    raise SystemExit(main())
