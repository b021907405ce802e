"""Programs that do more than call MPI print and return the same under every library: every byte of a rank's output, and
of several ranks, whose lines come in any order, the same lines."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import known_bugs
from tests.helpers.mpis import Mpi, RunResult

HERE = Path(__file__).parent
WORLD = HERE.parent / "reorder" / "world"
RANKS = 3
RULES = "bcast=shared:binomial;barrier=shared:binomial;allreduce=messages:ring"
PAIRS = """%%MatrixMarket matrix coordinate integer general
3 3 2
1 3 1000
3 1 1000
"""


@pytest.fixture(params=["trace", "reorder", "collectives"])
def words(request: pytest.FixtureRequest, tmp_path: Path) -> list[object]:
    """What runs a launch under one of the libraries."""
    (tmp_path / "pairs.mtx").write_text(PAIRS, encoding="ascii")
    reorder = ["--reorder", tmp_path / "pairs.mtx"]
    collectives = ["--collectives", RULES, "--no-collectives-cache"]
    return {
        "trace": ["trace", "-q", "-o", tmp_path / "app.npz", "--"],
        "reorder": ["run", *reorder, "--"],
        "collectives": ["run", *collectives, "--"],
        "served": ["run", *reorder, *collectives, "--"],
    }[request.param]


@pytest.fixture
def under(words: list[object], ranktree: Callable) -> Callable[..., RunResult]:
    """Runs a launch under it."""
    return lambda launch: ranktree(*words, *launch)


@pytest.fixture
def the_same(under: Callable) -> Callable[..., list[str]]:
    """Compares a launch with the same under a library; the sorted lines of its output. `unseen`: no call reaches it."""

    def compare(launch: list[str], unseen: bool = False) -> list[str]:
        alone = subprocess.run(launch, capture_output=True, text=True, timeout=120, check=False)
        assert alone.returncode == 0, alone.stdout + alone.stderr
        result = under(launch)
        untraced = unseen and "no trace was made: no rank came through MPI_Init" in result.stderr
        assert result.returncode == int(untraced), result.stdout + result.stderr
        assert sorted(result.stdout.splitlines()) == sorted(alone.stdout.splitlines())
        ours = re.compile(r"^ranktree: .*\n", re.M)
        assert sorted(ours.sub("", result.stderr).splitlines()) == sorted(alone.stderr.splitlines())
        return sorted(alone.stdout.splitlines())

    return compare


def test_children_of_ranks(mpi: Mpi, compiled, the_same) -> None:
    """Ranks fork, and start programs that inherit the preloaded library."""
    lines = the_same(mpi.launch(RANKS, compiled(mpi.name, HERE / "stranger.c", "-pthread"), "fork"))
    assert [line for line in lines if line.startswith("2 ")][1:] == [
        *("2 before 2460", "2 forked 42", "2 spawned 6", "2 system 5")
    ]


def test_every_byte_of_the_output_stays(mpi: Mpi, compiled, command, words, tmp_path) -> None:
    launch = mpi.launch(RANKS, compiled(mpi.name, HERE / "all_bytes.c"))
    every = bytes(range(256)) * 300
    for before in ([], [command, *words]):
        arguments = [*map(str, before), *map(str, launch)]
        result = subprocess.run(arguments, capture_output=True, timeout=120, check=True, cwd=tmp_path)
        assert result.stdout == every
        assert result.stderr == every


def test_threads_that_call_at_a_time(mpi: Mpi, compiled, the_same) -> None:
    lines = the_same(mpi.launch(RANKS, compiled(mpi.name, HERE / "stranger.c", "-pthread"), "threads"))
    assert len(lines) == RANKS * 6


def test_spawned_processes(mpi: Mpi, compiled, the_same) -> None:
    known_bugs.skip(mpi, "no-spawn")
    assert the_same(mpi.launch(RANKS, compiled(mpi.name, WORLD / "spawn.c", "-O1")))


def test_sessions(mpi: Mpi, compiled, the_same) -> None:
    known_bugs.skip(mpi, "no-sessions")
    assert len(the_same(mpi.launch(RANKS, compiled(mpi.name, WORLD / "session.c", "-O1"), "alone"))) == RANKS * 6


def library_below(mpi: Mpi, build_folder: Path) -> Path:
    """The library of the MPI, as the loader finds it for ours."""
    words = ["ldd", build_folder / "lib" / f"libranktree_preload_{mpi.name}.so"]
    listing = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout
    return Path(re.search(r"libmpi(?:ch|_abi)?\.so\S* => (\S+)", listing)[1])


@pytest.mark.parametrize("how", ["local", "global"])
def test_an_mpi_that_the_program_opens(mpi: Mpi, compiled, the_same, build_folder, tmp_path, how) -> None:
    """Calls found in that library alone pass the libraries by; those found by name reach them."""
    program = compiled(mpi.name, HERE / "opened.c", "-Wl,--as-needed")
    assert b"MPI_Init" not in subprocess.run(["nm", "-D", program], capture_output=True, check=True, timeout=60).stdout
    lines = the_same(mpi.launch(RANKS, program, library_below(mpi, build_folder), how), unseen=how == "local")
    assert lines == [f"{rank} of an opened MPI" for rank in range(RANKS)]


def test_a_cpp_library_inside_the_program(mpi: Mpi, the_same, tmp_path) -> None:
    """Linked statically and seen by all others; ours use the system's."""
    program = tmp_path / "own_libstdcxx"
    words = [mpi.mpicc, HERE / "own_libstdcxx.cpp", "-o", program, "-rdynamic", "-static-libgcc"]
    words += ["-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"]  # C++ bindings that MPI 3 removed
    subprocess.run([*words, "-Wl,-Bstatic", "-lstdc++", "-Wl,-Bdynamic", "-lm"], check=True, timeout=120)
    listing = subprocess.run(["ldd", program], capture_output=True, text=True, check=True, timeout=60).stdout
    needed = subprocess.run(["readelf", "-d", program], capture_output=True, text=True, check=True, timeout=60).stdout
    assert "libmpi" in listing
    assert "libstdc++" not in needed
    lines = the_same(mpi.launch(RANKS, program))
    # Three ranks give 9 * (round + 1): odd in every second round.
    assert [line.split(" odd: ")[0] for line in lines] == [f"{rank}: 15" for rank in range(RANKS)]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_setuid_program_is_refused(mpi: Mpi, compiled, under, tmp_path) -> None:
    program = Path(shutil.copy(compiled(mpi.name, HERE / "program.c"), tmp_path / "setuid"))
    os.chown(program, 65534, 65534)
    program.chmod(0o4755)
    result = under(mpi.launch(RANKS, program))
    assert (result.returncode, result.stdout) == (1, "")
    assert f"{program}: a setuid or setgid program" in result.stderr


def test_address_sanitizer(mpi: Mpi, compiled, the_same, monkeypatch) -> None:
    """Its runtime must come before all preloaded libraries."""
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0")  # MPIs leak
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    the_same(mpi.launch(RANKS, compiled(mpi.name, HERE / "program.c", "-g", "-fsanitize=address")))


@pytest.mark.slow
@pytest.mark.parametrize("words", ["trace", "served"], indirect=True)
def test_valgrind(mpi: Mpi, compiled, under, tmp_path) -> None:
    """It finds no error in our libraries; the program prints nothing and succeeds, as alone."""
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not installed")
    log = tmp_path / "valgrind.%p"
    program = compiled(mpi.name, HERE / "program.c", "-g")
    words = ["valgrind", "--quiet", "--leak-check=no", f"--log-file={log}", program]
    result = under(mpi.launch(RANKS, *words))
    assert (result.returncode, result.stdout) == (0, ""), result.stderr
    logs = [path.read_text(encoding="utf-8") for path in tmp_path.glob("valgrind.*")]
    assert len(logs) >= RANKS
    # The function with the error, and its caller: an error in memcpy() is its caller's.
    frames = re.compile(r"==\s+at 0x\w+: (.*)\n(?:==\d+==\s+by 0x\w+: (.*))?")
    found = [" ".join(pair) for text in logs for pair in frames.findall(text)]
    assert not [names for names in found if "ranktree" in names]


def test_two_mpis_in_one_program_are_refused(mpi: Mpi, under, tmp_path) -> None:
    """The loader would mix their calls."""
    sonames = ("libmpi.so.40", "libmpich.so.12")
    for soname in sonames:
        words = ["cc", "-shared", "-fPIC", "-xc", "-", f"-Wl,-soname,{soname}", "-o", tmp_path / soname]
        call = f"int call_{soname.split('.')[0]}(void) {{ return 0; }}"
        subprocess.run(words, input=call, text=True, check=True, timeout=60)
    program = tmp_path / "both"
    words = ["cc", "-xc", "-", "-Wl,--no-as-needed", f"-Wl,-rpath,{tmp_path}", "-o", program]
    libraries = ["-xnone", *(tmp_path / soname for soname in sonames)]
    subprocess.run([*words, *libraries], input="int main(void) { return 0; }", text=True, check=True, timeout=60)
    result = under(mpi.launch(RANKS, program))
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == f"ranktree: {program}: linked with more than one MPI: {', '.join(sonames)}\n"


@pytest.mark.slow
def test_memory_is_flat(mpi: Mpi, compiled, under) -> None:
    """Communicators are made and freed: what a library keeps of each would grow by more than 256 KiB in 400 rounds."""
    result = under(mpi.launch(RANKS, compiled(mpi.name, HERE / "lasting.c", "-O1"), 500))
    assert result.returncode == 0, result.stdout + result.stderr
    grown, checksum = map(int, re.fullmatch(r"grown (-?\d+) KiB, checksum (\d+)\n", result.stdout).groups())
    assert grown < 256
    # Rank 0 sums rounds and ranks over all three ranks twice, and over ranks 0 and 2 once.
    assert checksum == sum(2 * (3 * i + 3) + 2 * i + 2 for i in range(500))
