"""A PMPI tool of the user's sees the program's calls and no others, in front of ranktree's libraries or behind them."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.mpis import Mpi

HERE = Path(__file__).parent
RANKS = 3
SERVED = {"Bcast", "Allreduce", "Barrier"}  # of the program; the libraries behind those that serve them never see them
Counts = list[dict[str, int]]


@pytest.fixture
def launch(mpi: Mpi, compiled: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable:
    """The words that start the program with the tool: preloaded, in front, or linked, behind."""
    tool = compiled(mpi.name, HERE / "counting_tool.c", "-shared", "-fPIC")
    plain = compiled(mpi.name, HERE / "program.c")
    linked = compiled(mpi.name, HERE / "program.c", tool, f"-Wl,-rpath,{tool.parent}")
    monkeypatch.setenv("COUNTS", str(tmp_path / "counts"))

    def words(order: str) -> list[str]:
        if order == "none":
            return mpi.launch(RANKS, plain)
        if order == "behind":
            return mpi.launch(RANKS, linked)
        option = ["-x", f"LD_PRELOAD={tool}"] if mpi.family == "openmpi" else ["-env", "LD_PRELOAD", str(tool)]
        *launcher, program = mpi.launch(RANKS, plain)
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


@pytest.fixture(scope="module")
def known() -> dict[str, Counts]:
    """What the tool sees without ranktree, by MPI."""
    return {}


@pytest.fixture
def alone(mpi: Mpi, launch: Callable, known: dict[str, Counts], tmp_path: Path) -> Counts:
    """What the tool sees without ranktree: found out once."""
    if mpi.name not in known:
        subprocess.run(launch("behind"), check=True, timeout=60)
        found = counts(tmp_path)
        assert all(one["Bcast"] == 60 and one["Cart_create"] == 1 for one in found)
        known[mpi.name] = found
    return known[mpi.name]


@pytest.fixture(scope="module")
def patterns(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the traces."""
    return tmp_path_factory.mktemp("patterns")


@pytest.fixture
def pattern(mpi: Mpi, launch: Callable, ranktree: Callable, patterns: Path) -> Path:
    """The traced program: traced once."""
    path = patterns / f"{mpi.name}.npz"
    if not path.exists():
        result = ranktree("trace", "-o", path, "--", *launch("none"))
        assert result.returncode == 0, result.stderr
    return path


ORDERS = pytest.mark.parametrize("order", ["front", "behind"])


@ORDERS
def test_under_trace(launch, ranktree, alone, tmp_path, order) -> None:
    result = ranktree("trace", "-o", tmp_path / "again.npz", "--", *launch(order))
    assert result.returncode == 0, result.stderr
    assert counts(tmp_path) == alone


@ORDERS
@pytest.mark.parametrize("more", [[], ["--cart"], ["--split"]], ids=["world", "cart", "split"])
def test_under_reorder(launch, ranktree, alone, pattern, tmp_path, order, more) -> None:
    result = ranktree("run", "--reorder", pattern, *more, "--", *launch(order))
    assert result.returncode == 0, result.stderr
    found = counts(tmp_path)
    if more == ["--cart"] and order == "behind":
        found = [{**one, "Cart_create": 1} for one in found]  # ranktree makes the grid: not passed on
    assert found == alone


@ORDERS
@pytest.mark.parametrize("rules", ["auto", "bcast=shared:binomial;barrier=shared:binomial;allreduce=messages:ring"])
def test_under_collectives(launch, ranktree, alone, tmp_path, order, rules) -> None:
    """Behind, the tool misses the calls that are served; it sees no call of the libraries."""
    result = ranktree("run", "--collectives", rules, "--no-collectives-cache", "--", *launch(order))
    assert result.returncode == 0, result.stderr
    found = counts(tmp_path)
    if order == "behind":
        for one, all_calls in zip(found, alone, strict=True):
            for name in SERVED:
                assert one[name] <= all_calls[name]
                one[name] = all_calls[name]
    assert found == alone
