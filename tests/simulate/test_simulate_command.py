"""`ranktree simulate` around the simulation: refusals, progress, memory, the machine files of the repository."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import packages

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(__file__).resolve().parent / "programs"
FAT_TREE = ROOT / "machines/fat-tree-128x64.json"
# Places for ranks, and the name of a level or network of each machine file.
MACHINES = {
    "bluegene-p-2048": (8192, "torus 8 x 16 x 16"),
    "bluegene-p-5000": (20000, "torus 10 x 20 x 25"),
    "dragonfly-16": (16384, "dragonfly of 16 groups"),
    "fat-tree-128x64": (8192, "Switch0 x4 s0 .. s3"),
    "graphene-gige": (576, "Switch"),
    "graphene-ib": (576, "Node x144"),
    "ntw10e5": (240, "NUMANode x2"),
    "ntw24e5": (576, "Switch0 switch4"),
    "plafrim": (512, "Node x64"),
    "smp12e5": (192, "Group x6"),
    "smp20e7": (160, "Group x10"),
}


def test_every_machine_file_is_listed() -> None:
    assert sorted(path.stem for path in (ROOT / "machines").glob("*.json")) == sorted(MACHINES)


@pytest.mark.parametrize("name", MACHINES)
def test_machine_files_describe_their_networks(name: str, ranktree: Callable) -> None:
    path = ROOT / "machines" / f"{name}.json"
    places, part = MACHINES[name]
    result = ranktree("topo", path)
    assert result.returncode == 0, result.stderr
    assert f"{places} places, {places} may be used" in result.stdout
    assert part in result.stdout
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["description"] and document["source"]


@pytest.mark.parametrize("name", ["bluegene-p-2048", "dragonfly-16", "fat-tree-128x64", "graphene-gige", "smp20e7"])
def test_machine_files_are_simulated(name: str, ranktree: Callable, simulated_program: Callable) -> None:
    program = simulated_program(PROGRAMS / "crossing.c")
    machine = ROOT / "machines" / f"{name}.json"
    result = ranktree(
        "simulate", "--machine", machine, "--np", 128, "--json", "--share-globals", "--", program, 100_000
    )
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout.partition("\n")[2])
    assert report["ranks"] == 128
    assert 20e6 < report["host_bytes"] < 2e9
    assert sum(level["bytes"] for level in report["levels"]) >= 64 * 100_000
    assert report["simulated_s"] > 0


@pytest.mark.parametrize("selector", ["ompi", "mpich", "mvapich2", "impi"])
def test_levels_of_selectors_take_no_messages_between_all_pairs(
    selector: str, ranktree: Callable, simulated_program: Callable
) -> None:
    """SMPI's own levels of 1,024 ranks take 2 million messages, and minutes."""
    ranks, calls = 1024, 3
    program = simulated_program(ROOT / "bench/scale/collectives.c")
    words = ["--machine", FAT_TREE, "--np", ranks, "--json", "--selector", selector]
    result = ranktree("simulate", *words, "--", program, 0, calls - 2, "bcast:8", "allreduce:8")
    assert result.returncode == 0, result.stderr
    report = json.loads("\n".join(result.stdout.splitlines()[2:]))
    messages = sum(level["messages"] for level in report["levels"])
    assert 2 * calls * (ranks - 1) < messages < ranks * ranks / 2


@pytest.mark.parametrize("selector", ["ompi", "mpich", "mvapich2"])
@pytest.mark.parametrize(
    ("machine", "ranks", "count"),
    [("node:3 core:4", 11, 33), ("switch:2 node:4 core:2", 11, 33), (FAT_TREE, 513, 1)],
    ids=["nodes", "switches", "many"],
)
def test_results_of_every_selector_are_right(  # noqa: PLR0913, PLR0917  parameters and fixtures
    selector: str, machine: str, ranks: int, count: int, ranktree: Callable, simulated_program: Callable
) -> None:
    """On the world and on its halves, which have levels of their own. The program checks every result.

    SimGrid 3.32's impi ends the program with mismatched datatypes, with SMPI's own levels, too.
    """
    program = simulated_program(PROGRAMS / "served.c")
    result = ranktree("simulate", "--machine", machine, "--np", ranks, "--selector", selector, "--", program, count, 4)
    assert result.returncode == 0, result.stdout + result.stderr


def test_many_messages_in_flight_take_no_power_of_their_number(ranktree: Callable, simulated_program: Callable) -> None:
    """SimGrid alone takes 27 and 4 times the processor time of few in flight; the program checks what it receives."""
    program = simulated_program(PROGRAMS / "in_flight.c")
    result = ranktree("simulate", "--machine", FAT_TREE, "--np", 1024, "--", program)
    assert result.returncode == 0, result.stderr
    for taken in map(json.loads, result.stdout.splitlines()[:2]):
        assert taken["together"] < 2.5 * taken["apart"]


def test_waits_take_the_simulated_time_of_simgrids_own(command: str, simulated_program: Callable) -> None:
    """The program checks its data and prints times; without the preload SimGrid's own functions are called."""
    package = Path(command).resolve().parents[1] / "python"
    program = simulated_program(PROGRAMS / "waits.c")
    printed = []
    for environment in ("variables", "{**variables, 'LD_PRELOAD': ''}"):
        first = "from ranktree.simulate import run; own = run.run_watched; "
        first += f"run.run_watched = lambda words, variables, limit: own(words, {environment}, limit)"
        result = packages.run(package, "simulate", "--machine", "node:3 core:4", "--np", 11, "--", program, first=first)
        assert result.returncode == 0, result.stderr
        printed.append([line for line in result.stdout.splitlines() if " end:" in line])
    assert len(printed[0]) == 4
    assert printed[0] == printed[1]


@pytest.mark.parametrize("shared", [True, False])
def test_a_program_that_checks_its_data_fails_with_shared_buffers(
    shared: bool, ranktree: Callable, simulated_program: Callable
) -> None:
    """Its ranks have one memory for all large buffers. The error names the option."""
    program = simulated_program(ROOT / "examples/stencil.c")
    words = ["--machine", "node:2 core:4", "--np", 8, *(["--share-buffers"] if shared else [])]
    result = ranktree("simulate", *words, "--", program, "--cells", 64)
    named = "--share-buffers gives large buffers wrong contents" in result.stderr
    assert (result.returncode, named) == (shared, shared)


def test_an_exit_code_under_shared_buffers_names_them(ranktree: Callable, simgrid: None, tmp_path: Path) -> None:
    source = tmp_path / "one.c"
    source.write_text("#include <mpi.h>\nint main(int c, char** v) { MPI_Init(&c, &v); MPI_Finalize(); return 1; }\n")
    program = tmp_path / "one"
    compiled = ranktree("simulate", "--compile", "--", "cc", source, "-o", program)
    assert compiled.returncode == 0, compiled.stderr
    result = ranktree("simulate", "--machine", "node:1 core:2", "--np", 2, "--share-buffers", "--", program)
    assert result.returncode == 1
    assert "exit code 1; --share-buffers gives large buffers wrong contents" in result.stderr


ARGUMENTS = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int count, char** words) {
  int rank;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 1; rank == 0 && i < count; ++i) puts(words[i]);
  MPI_Finalize();
  exit(atoi(words[1]));
}
"""


@pytest.fixture
def printing_program(simgrid: None, ranktree: Callable, tmp_path: Path) -> Path:
    """Prints its arguments, and calls exit() with the first."""
    source, program = tmp_path / "arguments.c", tmp_path / "arguments"
    source.write_text(ARGUMENTS, encoding="ascii")
    compiled = ranktree("simulate", "--compile", "--", "cc", source, "-o", program)
    assert compiled.returncode == 0, compiled.stderr
    return program


@pytest.mark.parametrize("code", [0, 3])
def test_programs_may_call_exit_and_have_any_arguments(code: int, ranktree: Callable, printing_program: Path) -> None:
    """SimGrid looks for its own options, such as --help and --cfg, only before the program's."""
    given = [str(code), "--help", "--version", "--cfg=x", "--log=x", "-np"]
    result = ranktree("simulate", "--machine", "node:2 core:2", "--np", 4, "--quiet", "--", printing_program, *given)
    assert result.returncode == code, result.stderr
    assert result.stdout.splitlines()[: len(given)] == given
    assert "Simulated time:" in result.stdout
    refused = ranktree("simulate", "--machine", "node:2 core:2", "--np", 4, "--", printing_program, "0", "--", "x")
    assert refused.returncode == 1
    assert "expected no argument '--', which SimGrid would remove" in refused.stderr


def test_folders_of_any_name_hold_the_files_of_a_simulation(
    ranktree: Callable, printing_program: Path, tmp_path: Path
) -> None:
    (tmp_path / "my dir").mkdir()
    variables = {"TMPDIR": str(tmp_path / "my dir")}
    words = ["simulate", "--machine", "node:2 core:2", "--np", 4, "--", printing_program, "0"]
    result = ranktree(*words, env={**os.environ, **variables})
    assert result.returncode == 0, result.stderr


def test_text_names_usual_values_and_the_most_loaded_link(ranktree: Callable, simulated_program: Callable) -> None:
    program = simulated_program(PROGRAMS / "crossing.c")
    result = ranktree("simulate", "--machine", "node:2 core:2", "--np", 4, "--progress", "--", program)
    assert result.returncode == 0, result.stderr
    assert "usual value of an ordinary cluster" in result.stdout
    assert "Most loaded link: node n0 up" in result.stdout
    assert "Simulated time:" in result.stdout
    assert "ranktree: 4 of 4 ranks finished" in result.stderr


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        ([], 2, "or --replay"),
        (["--np", 3, "--", "./missing"], 1, "the machine has 2 cores"),
        (["--np", 2, "--", "./missing"], 1, "missing: no such program"),
        (["--", "./missing"], 2, "expected a number of ranks, or --plan"),
        (["--np", 2, "--selector", "odd", "--", "./missing"], 2, "expected ompi"),
        (["--compile"], 2, "expected -- cc|c++|f90"),
        (["--compile", "--", "cobol", "x"], 1, "--compile: expected cc"),
    ],
)
def test_refusals(words: list, code: int, text: str, simgrid: None, ranktree: Callable) -> None:
    result = ranktree("simulate", "--machine", "node:1 core:2", *words)
    assert result.returncode == code
    assert text in " ".join(result.stderr.replace("│", " ").split())


def test_memory_is_estimated_and_refused_with_the_figure(ranktree: Callable, simulated_program: Callable) -> None:
    program = simulated_program(PROGRAMS / "crossing.c")
    result = ranktree(
        "simulate", "--machine", "node:64 core:64", "--np", 4096, "--memory-per-rank", 10**12, "--", program
    )
    assert result.returncode == 1
    assert "a simulation of 4,096 ranks needs about 4.1e+03 TB" in result.stderr


def test_a_time_limit_ends_the_simulation(ranktree: Callable, simulated_program: Callable, tmp_path: Path) -> None:
    source = tmp_path / "endless.c"
    source.write_text(
        "#include <mpi.h>\n#include <signal.h>\n"
        "int main(int c, char** v) { MPI_Init(&c, &v); for (;;) raise(0); return 0; }\n",
        encoding="utf-8",
    )
    program = simulated_program(source)
    result = ranktree("simulate", "--machine", "core:1", "--np", 1, "--time-limit", 1, "--", program)
    assert result.returncode == 1
    assert "not done after 1 s" in result.stderr


def test_without_simgrid_the_package_is_named(ranktree: Callable, command: str, tmp_path: Path) -> None:
    python = Path(command).resolve()
    words = [str(python), "simulate", "--machine", "core:1", "--np", "1", "--", "/bin/true"]
    for name in ("env", "sh"):
        (tmp_path / name).symlink_to(f"/bin/{name}")
    result = subprocess.run(
        words, env={**os.environ, "PATH": str(tmp_path)}, capture_output=True, text=True, timeout=60, check=False
    )
    assert result.returncode == 1
    assert "apt-get install simgrid libsimgrid-dev" in result.stderr


def test_a_send_waits_for_its_receive_from_so_many_bytes_on(
    ranktree: Callable, simulated_program: Callable, tmp_path: Path
) -> None:
    """Both ranks of a pair send 8 bytes before they receive."""
    source = tmp_path / "both.c"
    source.write_text(
        """#include <mpi.h>
int main(int argc, char** argv) {
  int rank = 0;
  char own[8] = {0}, other[8];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Send(own, 8, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD);
  MPI_Recv(other, 8, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
}
""",
        encoding="ascii",
    )
    program = simulated_program(source)
    options = ("simulate", "--machine", "node:2 core:1", "--np", 2)
    assert ranktree(*options, "--eager", 9, "--", program).returncode == 0
    waiting = ranktree(*options, "--eager", 8, "--", program)
    assert waiting.returncode == 1
    assert "2 of 2 ranks were ended by MPI_Abort or by a deadlock" in waiting.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_ending_signal_leaves_no_folder(
    command: str, simulated_program: Callable, tmp_path: Path, number: signal.Signals
) -> None:
    """The simulation ends as well, and the command by the signal."""
    program = simulated_program(ROOT / "bench/scale/collectives.c")
    words = [command, "simulate", "--machine", "node:2 core:2", "--np", 4, "--", program, 0, 10**7, "bcast:8"]
    variables = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(list(map(str, words)), env=variables, stdout=subprocess.DEVNULL) as running:
        deadline = time.monotonic() + 60
        while not list(tmp_path.glob("ranktree-simulate-*/*")) and time.monotonic() < deadline:
            time.sleep(0.05)
        running.send_signal(number)
        assert running.wait(30) == -number
    assert not list(tmp_path.glob("ranktree-*"))


@pytest.mark.parametrize("measure", [False, True])
def test_computing_takes_as_long_as_here_where_it_is_measured(
    measure: bool, ranktree: Callable, simulated_program: Callable
) -> None:
    """Two ranks that compute for some tenths of a second each, at the same simulated time."""
    program = simulated_program(PROGRAMS / "computes.c")
    words = ["simulate", "--machine", FAT_TREE, "--np", 2, "--json", *(["--measure"] if measure else []), "--", program]
    result = ranktree(*words)
    assert result.returncode == 0, result.stderr
    seconds = json.loads(result.stdout)["simulated_s"]
    assert 0.05 < seconds < 5 if measure else seconds < 1e-3
