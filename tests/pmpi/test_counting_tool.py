"""A PMPI tool of the user's sees the program's calls and no others, in front of ranktree's libraries or behind them."""

import itertools
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.mpis import DEBIAN, WHEELS, Mpi, RunResult
from tests.pmpi.counting_tool import write_calls

HERE = Path(__file__).parent
PROGRAM = HERE / "program.c"
WORLD = HERE.parent / "reorder" / "world"
RANKS = 3
# Of program.c, on each rank. Tools behind the libraries that serve calls never see those.
SERVED = dict.fromkeys(["MPI_Bcast", "MPI_Allreduce", "MPI_Barrier"], 60)
TWICE = dict.fromkeys(["MPI_Irecv", "MPI_Send", "MPI_Wait", "MPI_Comm_size", "MPI_Comm_free"], 2)
PROGRAMS = RANKS * [SERVED | TWICE | dict.fromkeys(["MPI_Comm_rank", "MPI_Comm_dup", "MPI_Cart_create"], 1)]
RULES = "bcast=shared:binomial;barrier=shared:binomial;allreduce=messages:ring"
PAIRS = "%%MatrixMarket matrix coordinate integer general\n3 3 2\n1 3 1000\n3 1 1000\n"
# Ranks 0 and 1 on one node, rank 2 on another, as far as the reordering knows: two of them move.
NODES = 'RANKTREE_NODE_ID=$((${OMPI_COMM_WORLD_RANK:-$PMI_RANK} / 2)) exec "$0"'
# MPICH's mpi.h declares calls that are in its library for Fortran, and for the standard ABI in none.
SOME_UNDEFINED = "-Wl,--allow-shlib-undefined"
ORDERS = ("front", "behind")
Counts = list[dict[str, int]]


def cases(*options: str) -> pytest.MarkDecorator:
    """Debian's MPIs with every option, the tool in front and behind; the wheels' with the last, the tool in front."""
    debian = itertools.product(DEBIAN, ORDERS, options)
    wheels = itertools.product(WHEELS, ["front"], options[-1:])
    return pytest.mark.parametrize(("mpi", "order", "option"), [*debian, *wheels], indirect=["mpi"])


@pytest.fixture(scope="module")
def tool(compiled: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Callable[[Mpi], Path]:
    """The tool, made once for each MPI."""
    known: dict[str, Path] = {}

    def make(mpi: Mpi) -> Path:
        if mpi.name not in known:
            folder = tmp_path_factory.mktemp("calls")
            write_calls(mpi, folder / "calls.h")
            options = ("-shared", "-fPIC", "-Wno-deprecated-declarations", "-Wl,-z,lazy", "-I", folder)
            known[mpi.name] = compiled(mpi.name, HERE / "counting_tool.c", *options)
        return known[mpi.name]

    return make


@pytest.fixture
def launch(mpi: Mpi, compiled, tool: Callable[[Mpi], Path], tmp_path, monkeypatch) -> Callable[..., list[str]]:
    """The words that start a program with the tool: preloaded, in front, or linked, behind."""
    library = tool(mpi)
    monkeypatch.setenv("COUNTS", str(tmp_path / "counts"))
    option = ["-x", f"LD_PRELOAD={library}"] if mpi.family == "openmpi" else ["-env", "LD_PRELOAD", str(library)]

    def words(order: str, source: Path = PROGRAM) -> list[str]:
        if order == "behind":
            options = (library, f"-Wl,-rpath,{library.parent}", SOME_UNDEFINED)
            return mpi.launch(RANKS, compiled(mpi.name, source, *options))
        *launcher, program = mpi.launch(RANKS, compiled(mpi.name, source))
        return [*launcher, *option, program]

    return words


def counts(folder: Path) -> Counts:
    """The calls that the tool saw on each rank; the files are removed."""
    found = []
    for rank in range(RANKS):
        path = folder / f"counts.{rank}"
        lines = [line.split() for line in path.read_text(encoding="ascii").splitlines()]
        path.unlink()
        found.append({name: int(count) for count, name in lines})
    return found


@pytest.fixture
def reordered(mpi: Mpi, launch, ranktree: Callable[..., RunResult], tmp_path, monkeypatch) -> Callable[..., Counts]:
    """What the tool sees when ranks have moved."""
    pairs = tmp_path / "pairs.mtx"
    pairs.write_text(PAIRS, encoding="ascii")
    monkeypatch.setenv("RANKTREE_VERBOSE", "1")
    options = ("--mpi", mpi.name, "--reorder", pairs, "--reorder-info", "ranktree_node_id=env")

    def run(order: str, *more: str, source: Path = PROGRAM) -> Counts:
        *launcher, program = launch(order, source)
        result = ranktree("run", *options, *more, "--", *launcher, "sh", "-c", NODES, program)
        assert result.returncode == 0, result.stderr
        assert "2 of 3 ranks move" in result.stderr
        return counts(tmp_path)

    return run


@pytest.mark.parametrize("order", ORDERS)
def test_under_trace(launch, ranktree, tmp_path, order) -> None:
    result = ranktree("trace", "-o", tmp_path / "again.npz", "--", *launch(order))
    assert result.returncode == 0, result.stderr
    assert counts(tmp_path) == PROGRAMS


@cases("--cart", "--split", "")
def test_under_reorder(reordered, order, option) -> None:
    found = reordered(order, *option.split())
    if option == "--cart" and order == "behind":
        found = [{**one, "MPI_Cart_create": 1} for one in found]  # ranktree makes the grid: not passed on
    assert found == PROGRAMS


@cases("auto", RULES)
def test_under_collectives(launch, ranktree, tmp_path, order, option) -> None:
    """Behind, the tool misses the calls that are served; it sees no call of the libraries."""
    result = ranktree("run", "--collectives", option, "--no-collectives-cache", "--", *launch(order))
    assert result.returncode == 0, result.stderr
    found = counts(tmp_path)
    if order == "behind":
        assert all(one.get(name, 0) <= count for one in found for name, count in SERVED.items())
        found = [{**one, **SERVED} for one in found]
    assert found == PROGRAMS


@pytest.fixture
def alone(launch, tmp_path: Path) -> Callable[[Path], Counts]:
    """What the tool sees of another program without ranktree."""

    def run(source: Path) -> Counts:
        subprocess.run(launch("behind", source), check=True, timeout=60, stdout=subprocess.DEVNULL)
        found = counts(tmp_path)
        assert all(len(one) > 10 for one in found)
        return found

    return run


@pytest.mark.parametrize("program", ["topologies", "communicators"])
def test_communicators_under_reorder(reordered, alone, program) -> None:
    source = WORLD / f"{program}.c"
    assert reordered("front", source=source) == alone(source)


@pytest.mark.parametrize(
    ("program", "words"),
    [("windows", ["trace", "-o", "again.npz"]), ("collectives", ["run", "--collectives", "messages:binomial"])],
    ids=["trace", "collectives"],
)
def test_calls_of_every_kind(launch, ranktree, alone, tmp_path, monkeypatch, program, words) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("RANKTREE_COLL_NONBLOCKING", "thread")
    source = WORLD / f"{program}.c"
    result = ranktree(*words, "--", *launch("front", source), cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert counts(tmp_path) == alone(source)
