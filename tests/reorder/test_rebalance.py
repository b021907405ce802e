"""ranktree_Comm_rebalance: what the preload library has seen becomes an order that pays, or none."""

from pathlib import Path

import pytest

from tests.helpers import known_bugs
from tests.helpers.faked_mpis import FakedMpi, Machine, RunResult, finish, needed_mpi
from tests.helpers.mpis import NAMES

TWO_PACKAGES = "pack:2 core:4 pu:1"


@pytest.fixture(params=NAMES)
def mpi(request: pytest.FixtureRequest, build_folder: Path) -> FakedMpi:
    """Each MPI in turn; skipped where the build has none of that name."""
    return needed_mpi(request.param, build_folder)


def preload_of(mpi: FakedMpi) -> Path:
    """The preload library of the same binary interface; skipped where there is none."""
    family = {"openmpi": "openmpi", "mpich": "mpich", "intel": "mpich"}[mpi.family]
    library = mpi.build / "lib" / f"libranktree_preload_{family}.so"
    if mpi.abi == "standard" or not library.exists():
        pytest.skip(f"{mpi.build} has no preload library for {mpi.name}")
    return library


def run(mpi: FakedMpi, ranks: int, word: str, recording: str | None) -> RunResult:
    """The program on two faked packages, with the preload library where something is recorded."""
    machine = Machine(TWO_PACKAGES, [[rank] for rank in range(ranks)])
    variables = mpi.variables(machine)
    words = []
    if recording:
        variables["RANKTREE_TRACE"] = recording
        words = ["env", f"LD_PRELOAD={mpi.fake}:{preload_of(mpi)}"]
    return finish([*mpi.launch(ranks), *words, str(mpi.program("rebalance")), word], variables, 60)


def expect(result: RunResult) -> None:
    """The program succeeded."""
    assert result.returncode == 0, f"exit {result.returncode}: {result.stdout}{result.stderr}"
    assert "rebalancing agrees" in result.stdout


@pytest.mark.parametrize("recording", ["memory", "file"])
def test_orders_pay_by_the_model(mpi: FakedMpi, recording: str, tmp_path: Path) -> None:
    """Eight ranks on two packages: gain, cost and order are what the bytes sent make of them."""
    known_bugs.skip(mpi, "waiting-ranks-spin")
    output = tmp_path / "app.npz"
    expect(run(mpi, 8, "recorded", "-" if recording == "memory" else str(output)))
    assert output.exists() == (recording == "file")
    assert [path for path in tmp_path.iterdir() if path != output] == []


def test_a_rank_that_cannot_be_found_leaves_the_order(mpi: FakedMpi) -> None:
    """No error: nothing moves, and the message has the reason."""
    known_bugs.skip(mpi, "waiting-ranks-spin")
    expect(run(mpi, 8, "broken", "-"))


@pytest.mark.parametrize("ranks", [1, 3])
def test_without_records_it_is_not_supported(mpi: FakedMpi, ranks: int) -> None:
    """Alike on all ranks, with a reason that names the command."""
    expect(run(mpi, ranks, "unrecorded", None))
