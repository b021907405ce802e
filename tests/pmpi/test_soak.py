"""Random programs under every library, in turn sound, with a killed rank, a killed launcher, a full disk and a full
/dev/shm: results are right, promised traces are there, nothing is left. SOAK_SECONDS (20) for each MPI; `make soak`
takes ten minutes (docs/explanation/what-it-survives.md)."""

import json
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

import numpy
import pytest

from tests.helpers.mpis import Mpi
from tests.helpers.trace_files import read_trace

HERE = Path(__file__).parent
RANDOM = HERE / "random_program"
SECONDS = float(os.environ.get("SOAK_SECONDS", "20"))
END_SECONDS = 300  # for a run on a loaded machine, or one that lost a rank or its launcher
KINDS = ("sound", "killed rank", "killed launcher", "full disk", "full /dev/shm")
RULES = "bcast=shared:binomial;barrier=shared:binomial;allreduce=messages:ring"
LIBRARIES = {
    "trace": ["trace", "-q", "-o", "app.npz"],
    "reorder": ["run", "--reorder", "pairs.mtx"],
    "collectives": ["run", "--no-collectives-cache", "--collectives", RULES],
    "auto": ["run", "--no-collectives-cache", "--collectives", "auto"],
    "cached": ["run", "--collectives-cache", "cache", "--collectives", "auto"],
    "split": ["run", "--split"],
    "all": ["run", "--reorder", "pairs.mtx", "--cart", "--split", "--no-collectives-cache", "--collectives", "auto"],
}
WRITERS = ("cached", "trace")
RIGHT = re.compile(r"^grown (-?\d+) KiB, (\d+) results are right, program (\w+)$", re.M)
PAIRS = "%%MatrixMarket matrix coordinate integer general\n{0} {0} 1\n1 2 9\n"
THREADS = 3  # of random_program
SHM_KILOBYTES = {"full /dev/shm": 16}
pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="a full disk needs root"),
]


@pytest.fixture
def programs(mpi: Mpi, compiled: Callable) -> list[Path]:
    """The random programs: in C, and in each binding of Fortran that the MPI has."""
    others = [path for path in sorted(RANDOM.glob("*.c")) if path.name != "main.c"]
    fortran = [
        compiled(mpi.name, RANDOM / "random_fortran.F90", f"-DBINDING={binding}", "-w", "-fallow-argument-mismatch")
        for binding in (1, 2, 3)
    ]
    return [compiled(mpi.name, RANDOM / "main.c", "-O1", "-pthread", *others), *fortran]


def checksum(ranks: int, rounds: int, calls: int = 1) -> int:
    """What `lasting` prints on rank 0: over all ranks twice, and over those of even number."""
    even = range(0, ranks, 2)
    sums = 2 * sum(range(ranks)) + sum(even)
    return calls * (rounds * sums + (2 * ranks + len(even)) * (rounds * (rounds - 1) // 2))


@dataclass
class Soak:
    """One MPI and the programs for it, and what was found."""

    mpi: Mpi
    programs: list[Path]
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
        words = [self.command, *LIBRARIES[library], "--", *self.mpi.launch(ranks, *self.program(kind, library))]
        process = self.start(kind, place, words)
        if kind.startswith("killed"):
            wrong = self.kill(kind, process, place)
        else:
            process.wait(timeout=END_SECONDS)
            may_fail = kind == "full disk" and library == "trace"
            wrong = self.judge(may_fail, process.returncode, place)
        wrong = wrong or self.left(kind, place) or (self.trace(kind, place) if library == "trace" else "")
        errors = (place / "errors").read_text()[-900:]
        return wrong and f"{number}: {kind}: {shlex.join(map(str, words))}: {wrong}: {errors}"

    def program(self, kind: str, library: str) -> list:
        """One with a seed of its own. Open MPI 4.1 needs /dev/shm for windows, and Ranktree for splits by hardware."""
        program, seed = self.dice.choice(self.programs[:1] * 6 + self.programs[1:]), self.dice.randrange(1 << 30)
        steps = 10**7 if kind.startswith("killed") else self.dice.randint(20, 400)
        options = "t" * (self.dice.random() < 0.2) + "w" * (kind != "full /dev/shm")
        hardware = "h" * (self.mpi.family != "openmpi" or "--split" in LIBRARIES[library])
        return [program, seed, steps, options + hardware]

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
        launchers = {Path(self.mpi.mpiexec).name, "orterun", "mpiexec.hydra"}
        names = {program.name for program in self.programs} if rank else launchers
        found = [pid for pid in self.processes(place) if command_of(pid) in names]
        if not found:
            return f"no process of {names}"
        os.kill(self.dice.choice(found) if rank else found[0], signal.SIGKILL)
        process.wait(timeout=END_SECONDS)
        return "" if process.returncode != 0 else "exit code 0"

    def judge(self, may_fail: bool, code: int, place: Path) -> str:
        """Result and exit code of a run without kills; a trace without space fails with a reason.

        A program that receives anything wrong prints no line.
        """
        printed = RIGHT.search((place / "output").read_text())
        if may_fail and code == 1:
            lines = (place / "errors").read_text().splitlines()
            reason = any(re.match("ranktree: .*(No space left|disk is full)", line) for line in lines)
            return "" if reason and printed else "no reason given, or no results"
        if code != 0:
            return f"exit code {code}"
        return "" if printed and int(printed[2]) > 0 else "no results"

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
        if not kind.startswith("killed"):
            return "" if read_trace(path).metadata["complete"] else "the trace is partial"
        with numpy.load(path) as file:
            by_pair, by_size = (file[name].sum() if name in file else 0 for name in ("p2p_messages", "sent_messages"))
            complete = json.loads(bytes(file["metadata"]))["complete"]
        # Each thread of 4 ranks may have been killed after it counted a message by pair, before it did so by size.
        counted = 0 <= by_pair - by_size <= 4 * THREADS
        return "" if counted and not complete else f"complete is {complete}, messages {by_pair} and {by_size}"

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
def test_soak(mpi: Mpi, programs: list[Path], command: str, tmp_path: Path, capsys) -> None:
    seed = int(os.environ.get("SOAK_SEED", "1"))
    soak = Soak(mpi, programs, command, tmp_path, random.Random(seed))
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


def test_a_seed_is_one_program(mpi: Mpi, programs: list[Path], command: str, tmp_path: Path) -> None:
    """Alone and under every library at once the same numbers are drawn; of another seed, others."""
    (tmp_path / "pairs.mtx").write_text(PAIRS.format(3))

    def number_of(seed: int, *before: str) -> str:
        words = [*before, *mpi.launch(3, programs[0], seed, 200, "w")]
        run = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path)
        assert run.returncode == 0, run.stderr
        return RIGHT.search(run.stdout)[3]

    assert number_of(7) == number_of(7, command, *LIBRARIES["all"], "--") != number_of(8)


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


@pytest.mark.slow
@pytest.mark.parametrize("library", ["trace", "all"])
@pytest.mark.timeout(4000)
@pytest.mark.skipif(SECONDS < 600, reason="part of make soak")
def test_many_steps(mpi: Mpi, programs: list[Path], ranktree, tmp_path, capsys, library) -> None:
    """One random program of 50,000 steps, in flat memory: 50 bytes lost in each step would be 2 MiB."""
    (tmp_path / "pairs.mtx").write_text(PAIRS.format(2))
    # With windows Open MPI 4.1.4 grows by 8 MiB, without a library as well.
    options = "w" * (mpi.family != "openmpi") + "h" * (mpi.family != "openmpi" or library == "all")
    launch = mpi.launch(2, programs[0], 5, 50_000, options)
    result = ranktree(*LIBRARIES[library], "--", *launch, cwd=tmp_path, timeout=3600)
    assert result.returncode == 0, result.stderr
    grown, results = map(int, RIGHT.search(result.stdout).groups()[:2])
    assert grown < 2048
    with capsys.disabled():
        print(f"\nsoak: {mpi.name}, {library}: 50,000 random steps, {results} results on rank 0, grown {grown} KiB")
