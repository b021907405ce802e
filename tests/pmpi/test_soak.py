"""Random launches under every library, in turn sound, with a killed rank, a killed launcher, a full disk and a full
/dev/shm: results are right, promised traces are there, nothing is left. SOAK_SECONDS (30) for each MPI; `make soak`
takes ten minutes (docs/explanation/what-it-survives.md)."""

import os
import random
import re
import shlex
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.helpers.mpis import Mpi
from tests.helpers.trace_files import read_trace

HERE = Path(__file__).parent
SECONDS = float(os.environ.get("SOAK_SECONDS", "30"))
END_SECONDS = 300  # for a run on a loaded machine, or one that lost a rank or its launcher
KINDS = ("sound", "killed rank", "killed launcher", "full disk", "full /dev/shm")
RULES = "bcast=shared:binomial;barrier=shared:binomial;allreduce=messages:ring"
LIBRARIES = {
    "trace": ["trace", "-q", "-o", "app.npz"],
    "reorder": ["run", "--reorder", "pairs.mtx"],
    "collectives": ["run", "--no-collectives-cache", "--collectives", RULES],
    "auto": ["run", "--no-collectives-cache", "--collectives", "auto"],
    "cached": ["run", "--collectives-cache", "cache", "--collectives", "auto"],
    "all": ["run", "--reorder", "pairs.mtx", "--cart", "--no-collectives-cache", "--collectives", "auto"],
}
WRITERS = ("cached", "trace")
PAIRS = "%%MatrixMarket matrix coordinate integer general\n{0} {0} 1\n1 2 9\n"
SHM_KILOBYTES = {"full /dev/shm": 16}
pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="a full disk needs root"),
]


def checksum(ranks: int, rounds: int, calls: int = 1) -> int:
    """What `lasting` prints on rank 0: over all ranks twice, and over those of even number."""
    even = range(0, ranks, 2)
    sums = 2 * sum(range(ranks)) + sum(even)
    return calls * (rounds * sums + (2 * ranks + len(even)) * (rounds * (rounds - 1) // 2))


@dataclass
class Soak:
    """One MPI and its program, and what was found."""

    mpi: Mpi
    program: Path
    command: str
    folder: Path
    dice: random.Random
    left_in_shm: int = 0

    def one(self, kind: str, number: int) -> str:
        """Runs a launch; what is wrong with it, or nothing."""
        library = self.dice.choice(WRITERS if kind == "full disk" else sorted(LIBRARIES))
        ranks = self.dice.randint(2, 4)
        place = self.folder / str(number)
        place.mkdir()
        (place / "pairs.mtx").write_text(PAIRS.format(ranks))
        rounds = 10**7 if kind.startswith("killed") else self.dice.randint(5, 60)
        words = [self.command, *LIBRARIES[library], "--", *self.mpi.launch(ranks, self.program, rounds)]
        process = self.start(kind, place, words)
        if kind.startswith("killed"):
            wrong = self.kill(kind, process, place)
        else:
            process.wait(timeout=END_SECONDS)
            may_fail = kind == "full disk" and library == "trace"
            wrong = self.judge(may_fail, process.returncode, place, checksum(ranks, rounds))
        wrong = wrong or self.left(kind, place) or (self.trace(kind, place) if library == "trace" else "")
        return wrong and f"{number}: {kind}, {library}, {ranks} ranks: {wrong}: {(place / 'errors').read_text()[-900:]}"

    def start(self, kind: str, place: Path, words: list) -> subprocess.Popen:
        """The launch in a mount namespace with a /dev/shm of its own, and on a full disk."""
        size = SHM_KILOBYTES.get(kind, 1 << 18)
        script = f"mount -t tmpfs -o size={size}k none /dev/shm && "
        if kind == "full disk":
            script += "mkdir disk && mount -t tmpfs -o size=40k none disk && cp pairs.mtx disk && cd disk && "
            script += f"head -c {self.dice.choice((8, 16, 32))}k /dev/zero >fill && "
        script += f"{shlex.join(map(str, words))}; code=$?; ls -A /dev/shm >{place}/shm; ls -A >{place}/kept; "
        script += "exit $code"
        with (place / "output").open("w") as output, (place / "errors").open("w") as errors:
            return subprocess.Popen(
                ["unshare", "-m", "sh", "-c", script],
                cwd=place,
                env=os.environ | {"SOAK_RUN": str(place)},
                stdout=output,
                stderr=errors,
            )

    def kill(self, kind: str, process: subprocess.Popen, place: Path) -> str:
        """Waits until the ranks run, and kills one of them or their launcher."""
        deadline = time.monotonic() + END_SECONDS
        while "running" not in (place / "errors").read_text():
            if process.poll() is not None or time.monotonic() > deadline:
                return "the ranks do not run"
            time.sleep(0.05)
        time.sleep(self.dice.random() / 2)
        rank = kind == "killed rank"
        names = {self.program.name} if rank else {Path(self.mpi.mpiexec).name, "orterun", "mpiexec.hydra"}
        found = [pid for pid in self.processes(place) if command_of(pid) in names]
        if not found:
            return f"no process of {names}"
        os.kill(self.dice.choice(found) if rank else found[0], signal.SIGKILL)
        process.wait(timeout=END_SECONDS)
        return "" if process.returncode != 0 else "exit code 0"

    def judge(self, may_fail: bool, code: int, place: Path, expected: int) -> str:
        """Result and exit code of a run without kills; a trace without space fails with a reason."""
        printed = re.search(r"checksum (\d+)", (place / "output").read_text())
        if may_fail and code == 1:
            lines = (place / "errors").read_text().splitlines()
            reason = any(re.match("ranktree: .*(No space left|disk is full)", line) for line in lines)
            return "" if reason and (printed is None or int(printed[1]) == expected) else "no reason given"
        if code != 0:
            return f"exit code {code}"
        return "" if printed and int(printed[1]) == expected else "another checksum"

    def left(self, kind: str, place: Path) -> str:
        """Processes, files beside the program, and in /dev/shm."""
        deadline = time.monotonic() + END_SECONDS
        while (alive := self.processes(place)) and time.monotonic() < deadline:
            time.sleep(0.1)
        kept = set((place / "kept").read_text().split()) - {"pairs.mtx", "app.npz", "fill", "cache"}
        kept -= {"output", "errors", "shm", "kept", "disk"}
        if kind == "full disk":
            kept -= {"app.npz.parts"}  # the records that fitted, as the line of the error states
        shm = [name for name in (place / "shm").read_text().split() if name.startswith("ranktree-")]
        if kind.startswith("killed"):  # may be: docs/explanation/shared-memory-collectives.md
            self.left_in_shm += len(shm)
            shm = []
        return f"left: {alive} {sorted(kept)} {shm}" if alive or kept or shm else ""

    def trace(self, kind: str, place: Path) -> str:
        """A trace is whole; that of a killed run is partial."""
        path = place / "app.npz"
        if kind == "full disk":
            return ""  # on the disk that is gone
        complete = read_trace(path).metadata["complete"]
        return "" if complete is (not kind.startswith("killed")) else f"complete is {complete}"

    @staticmethod
    def processes(place: Path) -> list[int]:
        """Those of a run but the shell around it."""
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            try:
                mine = f"SOAK_RUN={place}\0".encode() in path.read_bytes()
            except OSError:
                continue
            if mine and command_of(int(path.parent.name)) not in {"sh", "unshare", ""}:
                found.append(int(path.parent.name))
        return sorted(found)


def command_of(pid: int) -> str:
    """The name of a process's program; empty of one that has exited."""
    try:
        return Path(f"/proc/{pid}/exe").resolve(strict=True).name
    except OSError:
        return ""


@pytest.mark.timeout(SECONDS + 1800)
def test_soak(mpi: Mpi, compiled: Callable, command: str, tmp_path: Path, capsys) -> None:
    seed = int(os.environ.get("SOAK_SEED", "1"))
    soak = Soak(mpi, compiled(mpi.name, HERE / "lasting.c", "-O1"), command, tmp_path, random.Random(seed))
    kinds = [kind for kind in KINDS if kind != "full /dev/shm" or mpi.family == "openmpi"]  # MPICH needs it itself
    done: Counter[str] = Counter()
    end = time.monotonic() + SECONDS
    while time.monotonic() < end or len(done) < len(kinds):
        kind = kinds[sum(done.values()) % len(kinds)]
        wrong = soak.one(kind, sum(done.values()))
        assert not wrong, wrong
        done[kind] += 1
    with capsys.disabled():
        counts = ", ".join(f"{count} {kind}" for kind, count in done.items())
        print(f"\nsoak: {mpi.name}, seed {seed}: {counts}; files left in /dev/shm by killed runs: {soak.left_in_shm}")


@pytest.mark.slow
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.timeout(4000)
@pytest.mark.skipif(SECONDS < 600, reason="part of make soak")
def test_many_calls(mpi: Mpi, compiled, ranktree, tmp_path, capsys, library) -> None:
    """10,000 splits, grids, graphs and communicators that are freed, and 1,080,000 collectives, in flat memory."""
    ranks, rounds, calls = 2, 10_000, 12
    (tmp_path / "pairs.mtx").write_text(PAIRS.format(ranks))
    launch = mpi.launch(ranks, compiled(mpi.name, HERE / "lasting.c", "-O1"), rounds, calls)
    result = ranktree(*LIBRARIES[library], "--", *launch, cwd=tmp_path, timeout=3600)
    assert result.returncode == 0, result.stderr
    grown, found = map(int, re.search(r"grown (-?\d+) KiB, checksum (\d+)", result.stdout).groups())
    assert found == checksum(ranks, rounds, calls)
    assert grown < 256
    with capsys.disabled():
        print(f"\nsoak: {mpi.name}, {library}: {rounds} rounds, {9 * calls * rounds} collectives, grown {grown} KiB")
