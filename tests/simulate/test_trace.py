"""`ranktree trace --simulate`: the same file as a trace of a real run."""

import json
import re
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.faked_mpis import Machine, for_described_machines
from tests.helpers.trace_files import OPERATIONS

ROOT = Path(__file__).resolve().parents[2]
TRACED = ROOT / "tests/trace/programs"
# Source, arguments, ranks: examples that need no library, kernels, and programs that call all there is of a class.
PROGRAMS = {
    "rings": (ROOT / "examples/rings.c", ["--rings", 3, "--bytes", 5000], 8),
    "stencil": (ROOT / "examples/stencil.c", ["--dimensions", 3, "--cells", 8, "--periodic"], 8),
    "cg": (ROOT / "bench/scale/kernels.c", ["cg", "--bytes", 70000], 16),
    "rows": (ROOT / "bench/scale/kernels.c", ["rows", "--bytes", 300], 16),
    "p2p": (TRACED / "p2p.c", ["expected"], 5),
    "collectives": (TRACED / "collectives.c", ["expected"], 5),
    "vectors": (TRACED / "vectors.c", ["expected"], 8),
    "rma": (TRACED / "rma.c", ["expected"], 4),
}
# Examples that are linked with the library: arguments, for 8 ranks.
LIBRARY_PROGRAMS = {
    "phases": ["--rows", 2, "--bytes", 5000, "--iterations", 2, "--intervals", 2, "--fixed"],
    "levels": [],
    "vectors": ["--values", 100, "--iterations", 1, "--levels", "3,2"],
    "summa": ["--size", 37, "--block", 8, "--grid", "2x4", "--groups", 2, "--iterations", 1, "--check"],
}
# Collectives of the library: it agrees on names of the machine's parts, and on memory that a simulation is without.
LIBRARYS_OWN = {"Barrier", "Allreduce"}
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def real_trace(
    command: str, program: Path, arguments: list, ranks: int, output: Path, variables: Mapping[str, str] | None = None
) -> None:
    """With Open MPI, on this machine, or one that `variables` fake."""
    launch = [
        "mpirun.openmpi",
        "--oversubscribe",
        "--bind-to",
        "none",
        "--mca",
        "mpi_yield_when_idle",
        "1",
        "-n",
        ranks,
    ]
    words = [command, "trace", "-q", "-o", output, "--", *launch, program, *arguments]
    environment = {**for_described_machines(), **AS_ROOT, **(variables or {})}
    subprocess.run(
        list(map(str, words)), check=True, timeout=120, env=environment, cwd=output.parent, capture_output=True
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_simulated_trace_is_that_of_a_real_run(  # noqa: PLR0913  what it runs, and with what
    name: str,
    command: str,
    ranktree: Callable,
    compiled: Callable,
    mpi_builds: dict,
    simulated_program: Callable,
    tmp_path: Path,
) -> None:
    if "openmpi" not in mpi_builds:
        pytest.skip("Open MPI is not installed: no real run to compare with")
    source, arguments, ranks = PROGRAMS[name]
    real, simulated = tmp_path / "real.npz", tmp_path / "simulated.npz"
    real_trace(command, compiled("openmpi", source), arguments, ranks, real)
    program = simulated_program(source)
    result = ranktree(
        "trace", "-q", "--simulate", "--np", ranks, "-o", simulated, "--", program, *arguments, cwd=tmp_path
    )
    assert result.returncode == 0, result.stderr
    with np.load(real) as expected, np.load(simulated) as found:
        assert sorted(found.files) == sorted(expected.files)
        for array in expected.files:
            if array != "metadata":
                assert np.array_equal(found[array], expected[array]), array
        metadata = [json.loads(bytes(file["metadata"])) for file in (found, expected)]
    assert metadata[0]["unattributed"] == metadata[1]["unattributed"]
    assert metadata[0]["complete"] is True
    assert metadata[0]["program"] == shlex.join([str(program), *map(str, arguments)])
    assert metadata[0]["mpi"].startswith("SMPI")


def blas_options(build_folder: Path) -> list[str]:
    """What links a program with the BLAS that the build found."""
    cache = (build_folder / "CMakeCache.txt").read_text(encoding="utf-8")
    return ["-I", *re.findall(r"RANKTREE_BLAS_INCLUDE:PATH=(.*)", cache), *re.findall(r"RANKTREE_BLAS:\w+=(.*)", cache)]


def own_calls(trace: Mapping[str, np.ndarray]) -> set[tuple]:
    """The collectives that are the program's: members of the communicator, operation, root, number and bytes."""
    members = np.split(trace["communicator_members"], trace["communicator_indptr"][1:-1])
    columns = (trace[f"call_{name}"].tolist() for name in ("communicator", "operation", "root", "count", "bytes"))
    return {
        (tuple(members[communicator]), *rest)
        for communicator, *rest in zip(*columns, strict=True)
        if OPERATIONS[rest[0]] not in LIBRARYS_OWN
    }


@pytest.mark.parametrize("name", LIBRARY_PROGRAMS)
def test_examples_with_the_library_send_what_they_do_on_the_simulated_node(
    name: str, command: str, ranktree: Callable, build_folder: Path, simulated_program: Callable, tmp_path: Path
) -> None:
    """The real run is on a faked node as the simulated one: a core a rank."""
    built = build_folder / f"bin/{name}_openmpi"
    if not built.exists():
        pytest.skip(f"{built.name} is not built: no real run to compare with")
    machine = Machine("core:8 pu:1", [[rank] for rank in range(8)])
    real, simulated = tmp_path / "real.npz", tmp_path / "simulated.npz"
    fake = machine.variables(build_folder / "lib/libsplit_fake_affinity.so")
    real_trace(command, built, LIBRARY_PROGRAMS[name], 8, real, fake)
    library = build_folder / "lib"
    options = ["-I", ROOT / "include", "-L", library, "-lranktree_mpi_smpi", f"-Wl,-rpath,{library}"]
    options += blas_options(build_folder) if name == "summa" else []
    program = simulated_program(ROOT / f"examples/{name}.c", *options)
    words = ["trace", "-q", "--simulate", "--np", 8, "-o", simulated, "--", program, *LIBRARY_PROGRAMS[name]]
    result = ranktree(*words, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    with np.load(real) as expected, np.load(simulated) as found:
        pairs = {"indptr", "indices", "messages", "p2p_messages", "bytes", "p2p_bytes"} & set(expected.files)
        assert len(pairs) >= 4
        for array in pairs:
            assert np.array_equal(found[array], expected[array]), array
        assert own_calls(expected) == own_calls(found)
        assert own_calls(found) or found["messages"].size > 0


def test_both_options_or_neither(ranktree: Callable, tmp_path: Path) -> None:
    for options in (["--simulate"], ["--np", 4]):
        result = ranktree("trace", *options, "-o", tmp_path / "app.npz", "--", "./app")
        assert result.returncode == 2
        assert "--simulate and --np" in result.stderr


def test_a_program_that_aborts_leaves_what_it_did(
    ranktree: Callable, simulated_program: Callable, tmp_path: Path
) -> None:
    program = simulated_program(ROOT / "examples/rings.c")
    result = ranktree("trace", "--simulate", "--np", 4, "-o", tmp_path / "app.npz", "--", program, "--bytes", "x")
    assert result.returncode != 0
    assert "of 4 ranks were ended by MPI_Abort or by a deadlock" in result.stderr
    assert "partial" in result.stderr
    assert json.loads(bytes(np.load(tmp_path / "app.npz")["metadata"]))["complete"] is False
    assert not (tmp_path / "app.npz.parts").exists()


def test_interrupted_it_keeps_no_other_run_from_running(
    command: str, simulated_program: Callable, tmp_path: Path
) -> None:
    program = simulated_program(TRACED / "ends.c", "-I", TRACED)
    words = [command, "trace", "--simulate", "--np", "3", "-o", tmp_path / "app.npz", "--", program, "wait"]
    parts = tmp_path / "app.npz.parts"
    for _ in range(2):
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            deadline = time.monotonic() + 60
            while not parts.exists() or len(list(parts.iterdir())) < 3:
                assert process.poll() is None and time.monotonic() < deadline
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            _, text = process.communicate(timeout=60)
        assert process.returncode == -signal.SIGINT
        assert "partial" in text
        assert not parts.exists()
