#!/usr/bin/env python3
"""Runs every libFuzzer target of a build tree for some time from its seeds, and prints the result of each.

Usage: fuzz.py --build BUILD [--seconds 60] [--only READER]. A crash, leak or hang leaves its input in BUILD/findings
and makes the exit code 1. The new inputs a run finds stay in BUILD/corpus and are used by the next.
"""

import argparse
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SECONDS_AN_INPUT = 10
# Libraries that a reader passes its input to: a crash whose innermost frame is in the library is reported, with the
# input kept, but does not count as a failure here.
FOREIGN = {"hwloc_xml": "libhwloc.so", "synthetic": "libhwloc.so"}
MEMORY_MEGABYTES = 2048


def fuzz(target: Path, build: Path, seconds: int) -> tuple[bool, str]:
    """Runs one target; returns whether it passed, and a line about it."""
    reader = target.name.removeprefix("fuzz_")
    corpus, findings = build / "corpus" / reader, build / "findings" / reader
    corpus.mkdir(parents=True, exist_ok=True)
    findings.mkdir(parents=True, exist_ok=True)
    seeds = ROOT / "fuzz/seeds" / reader
    command = [
        *(str(target), str(corpus), *([str(seeds)] if seeds.is_dir() else [])),
        f"-max_total_time={seconds}",
        f"-timeout={SECONDS_AN_INPUT}",
        f"-rss_limit_mb={MEMORY_MEGABYTES}",
        f"-artifact_prefix={findings}/",
        "-print_final_stats=1",
        "-max_len=16384",
    ]
    result = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    runs = re.search(r"number_of_executed_units: (\d+)", result.stderr)
    innermost = re.search(r"^ *#0 .*$", result.stderr, re.MULTILINE)
    foreign = reader in FOREIGN and innermost is not None and FOREIGN[reader] in innermost[0]
    held = result.returncode == 0 or foreign
    verdict = f"ok except for a crash inside {FOREIGN[reader]}" if foreign else "ok" if held else "FAILED"
    line = f"{reader:18} {int(runs[1]) if runs else 0:>10} inputs  {verdict}"
    if not held:
        line += "\n" + "\n".join(result.stderr.splitlines()[-40:])
    return held, line


def main() -> int:
    """Two targets at a time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--only")
    options = parser.parse_args()
    targets = [
        path
        for path in sorted((options.build / "bin").glob("fuzz_*"))
        if options.only in (None, path.name.removeprefix("fuzz_"))
    ]
    if not targets:
        print(f"fuzz: no target in {options.build}/bin", file=sys.stderr)
        return 1
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda target: fuzz(target, options.build.resolve(), options.seconds), targets))
    print("\n".join(line for _, line in results))
    failed = sum(not held for held, _ in results)
    print(f"{len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
