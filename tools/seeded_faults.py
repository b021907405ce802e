#!/usr/bin/env python3
"""Seeds one fault at a time into a copy of the repository and shows that the tests which should catch it fail.

seeded_faults.py [--tree FOLDER] [--report FILE] [NAME]...    all faults of seeded_faults.toml when none is named

Each fault is a text of a source file and what replaces it, the targets to build, and a command that must then fail,
by a program of bin/ or by pytest. The command must pass without the fault, which is tried first. Results are `caught`,
`missed` (the command passed), `stale` (the text is not in the file exactly once) and `broken` (the build failed, or the
command fails without the fault). The exit code is 1 unless all are caught. The copy is a worktree of HEAD in
build/seeded-faults, kept for the next time; it is built with ccache where that is set.
"""

import argparse
import os
import shlex
import subprocess
import sys
import time
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FAULTS = Path(__file__).with_name("seeded_faults.toml")
BUILD_SECONDS = 1200
TEST_SECONDS = 300


@dataclass(frozen=True)
class Fault:
    """One change of the source that tests must notice."""

    name: str
    stage: str
    what: str  # what goes wrong, in words
    file: str
    old: str
    new: str
    program: str = ""  # a program of bin/ with its arguments, or ...
    pytest: str = ""  # ... arguments of pytest
    targets: list[str] = field(default_factory=list)

    def seeded(self, text: str) -> str | None:
        """The source with the fault; None when the old text is not there exactly once."""
        return text.replace(self.old, self.new) if text.count(self.old) == 1 else None


@dataclass(frozen=True)
class Copy:
    """A worktree with a build of its own."""

    tree: Path

    @property
    def build(self) -> Path:
        """The build tree."""
        return self.tree / "build" / "dev"

    def prepare(self) -> None:
        """Makes the worktree or moves it to HEAD, and configures it with the tools of this one."""
        head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True)
        if self.tree.exists():
            need(["git", "checkout", "-q", "--force", "--detach", head.stdout.strip()], self.tree, 60)
        else:
            need(["git", "worktree", "add", "-q", "--detach", str(self.tree), head.stdout.strip()], ROOT, 60)
        need(
            [
                *("cmake", "--preset", "dev", "-DRANKTREE_PYTHON=ON", f"-DPython_EXECUTABLE={sys.executable}"),
                "-DRANKTREE_MPIS_EXTRA=",
            ],
            self.tree,
            BUILD_SECONDS,
        )

    def make(self, targets: Sequence[str]) -> bool:
        """Builds targets; whether that worked."""
        words = ["cmake", "--build", str(self.build), "--parallel", str(os.cpu_count()), "--target", *targets]
        return not targets or run(words, self.tree, BUILD_SECONDS)

    def passes(self, fault: Fault) -> bool:
        """Whether the fault's command succeeds."""
        if fault.program:
            name, *words = shlex.split(fault.program)
            return run([str(self.build / "bin" / name), *words], self.tree, TEST_SECONDS)
        words = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *shlex.split(fault.pytest)]
        return run(words, self.tree, TEST_SECONDS, RANKTREE_COMMAND=str(self.build / "bin" / "ranktree"))

    def result(self, fault: Fault) -> str:
        """What the tests make of a fault; the source is as before afterwards."""
        path = self.tree / fault.file
        text = path.read_text(encoding="utf-8")
        seeded = fault.seeded(text)
        if seeded is None:
            return "stale"
        if not self.make(fault.targets) or not self.passes(fault):
            return "broken"
        path.write_text(seeded, encoding="utf-8")
        try:
            if not self.make(fault.targets):
                return "broken"
            return "missed" if self.passes(fault) else "caught"
        finally:
            path.write_text(text, encoding="utf-8")


def run(words: Sequence[str], folder: Path, seconds: float, **variables: str) -> bool:
    """Whether a command succeeds in its time; what it prints is of no interest."""
    environment = {**os.environ, **variables}
    try:
        done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def need(words: Sequence[str], folder: Path, seconds: float) -> None:
    """Runs a command that must succeed."""
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=seconds, check=False)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(words)}: exit {done.returncode}\n{done.stdout}{done.stderr}")


def read(path: Path = FAULTS) -> list[Fault]:
    """All faults of the file."""
    with path.open("rb") as file:
        return [Fault(**entry) for entry in tomllib.load(file)["fault"]]


def table(results: Sequence[tuple[Fault, str]]) -> str:
    """Markdown."""
    lines = ["| stage | fault | tests that catch it | result |", "|---|---|---|---|"]
    for fault, result in results:
        command = (fault.program or f"pytest {fault.pytest}").replace("|", "\\|")
        lines.append(f"| {fault.stage} | {fault.what} (`{fault.file}`) | `{command}` | {result} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tree", type=Path, default=ROOT / "build" / "seeded-faults")
    parser.add_argument("--report", type=Path, help="write the table into this file")
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    faults = [fault for fault in read() if not arguments.names or fault.name in arguments.names]
    copy = Copy(arguments.tree.resolve())
    copy.prepare()
    results = []
    for fault in faults:
        start = time.monotonic()
        results.append((fault, copy.result(fault)))
        print(f"{results[-1][1]:7} {fault.stage:9} {fault.name} ({time.monotonic() - start:.0f} s)", flush=True)
    if arguments.report:
        arguments.report.write_text(table(results), encoding="utf-8")
    caught = sum(result == "caught" for _, result in results)
    print(f"{caught} of {len(results)} caught")
    return 0 if caught == len(results) else 1


if __name__ == "__main__":
    sys.exit(main())
