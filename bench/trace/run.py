#!/usr/bin/env python3
"""The time that tracing adds to an 8-byte send: native, an empty wrapper, Ranktree, Open MPI's monitoring.

The variants run in turn for several rounds, and the minimum of each counts, so that another process on the machine
disturbs all of them alike. A `message` is Irecv, Send and Wait of a process with itself.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CASES = {"self": "one communicator", "communicators": "8 communicators in turn", "datatypes": "2 datatypes in turn"}
LIMITS = {"self": 5.0, "communicators": 15.0, "datatypes": 15.0}  # nanoseconds beside the empty wrapper
SECONDS = 120


def variants(mpi: str, build: Path, scratch: Path) -> dict[str, tuple[list[str], dict[str, str]]]:
    """Name: (launcher's options, variables of the rank)."""
    known = {
        "native": ([], {}),
        "empty wrapper": ([], {"LD_PRELOAD": str(build / f"lib/libbench_empty_{mpi}.so")}),
        "ranktree": (
            [],
            {
                "LD_PRELOAD": str(build / f"lib/libranktree_preload_{mpi}.so"),
                "RANKTREE_TRACE": str(scratch / "bench.npz"),
            },
        ),
    }
    if mpi == "openmpi":
        known["monitoring"] = (["--mca", "pml_monitoring_enable", "1"], {})
    return known


def measure(mpi: str, build: Path, options: list[str], variables: dict[str, str], windows: int) -> dict[str, float]:
    """Nanoseconds a message, by case, of one process."""
    program = ["env", *(f"{name}={value}" for name, value in variables.items()), build / f"bin/bench_trace_{mpi}"]
    words = [f"mpiexec.{mpi}", *options, "-n", "1", *program, str(windows)]
    as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    result = subprocess.run(
        words, env=os.environ | as_root, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: exit code {result.returncode}: {result.stderr.strip()}")
    lines = (line.split() for line in result.stdout.splitlines())
    return {words[0]: float(words[1]) for words in lines if len(words) == 2 and words[0] in CASES}


def least(mpi: str, build: Path, rounds: int, windows: int) -> dict[str, dict[str, float]]:
    """The minimum of each variant and case over all rounds."""
    best: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds):
            for name, (options, variables) in variants(mpi, build, Path(folder)).items():
                found = measure(mpi, build, options, variables, windows)
                if "RANKTREE_TRACE" in variables and not Path(variables["RANKTREE_TRACE"]).exists():
                    sys.exit(f"{mpi}: {name} recorded nothing")
                before = best.setdefault(name, found)
                best[name] = {case: min(before[case], found[case]) for case in found}
    return best


def show(mpi: str, best: dict[str, dict[str, float]]) -> bool:
    """Prints the table of one MPI; true when Ranktree stays within the limits."""
    print(f"\n{mpi}: ns a message (added to native)")
    print(f"  {'':<14}" + "".join(f"{text:>26}" for text in CASES.values()))
    for name, found in best.items():
        cells = [f"{found[case]:.1f} ({found[case] - best['native'][case]:+.1f})" for case in CASES]
        print(f"  {name:<14}" + "".join(f"{cell:>26}" for cell in cells))
    within = True
    for case, limit in LIMITS.items():
        added = best["ranktree"][case] - best["empty wrapper"][case]
        within = within and added <= limit
        word = "within" if added <= limit else "ABOVE"
        print(f"  ranktree, {CASES[case]}: {added:+.1f} ns, {word} the limit of {limit:.0f} ns")
    return within


def main() -> int:
    """Measures every MPI of this build."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True, help="the build folder")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--windows", type=int, default=150, help="windows of 5000 messages in each process")
    parser.add_argument("--check", action="store_true", help="exit code 1 when a limit is passed")
    options = parser.parse_args()
    build = options.build.resolve()
    found = [mpi for mpi in ("openmpi", "mpich") if (build / f"bin/bench_trace_{mpi}").exists()]
    if not found:
        sys.exit(f"{build}/bin/bench_trace_<mpi>: not built")
    within = True
    for mpi in found:
        if shutil.which(f"mpiexec.{mpi}") is None:
            print(f"\n{mpi}: skipped: mpiexec.{mpi} is not installed")
            continue
        within = show(mpi, least(mpi, build, options.rounds, options.windows)) and within
    return 0 if within or not options.check else 1


if __name__ == "__main__":
    sys.exit(main())
