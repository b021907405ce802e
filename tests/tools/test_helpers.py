"""The helpers of tests: the table of known bugs, and modules of scripts."""

import sys
from pathlib import Path

import pytest

from tests.helpers import known_bugs, scripts
from tests.helpers.mpis import Mpi

TESTS = Path(__file__).resolve().parents[1]


def mpi(family: str, *version: int) -> Mpi:
    """An MPI that is not installed."""
    return Mpi(family, family, family, version, "", "", "", Path())


@pytest.mark.parametrize(
    ("family", "version", "known"),
    [
        ("mpich", (4, 0, 2), True),
        ("mpich", (4, 0), True),
        ("mpich", (4, 0, 3), False),
        ("mpich", (3, 4, 1), False),
        ("mpich", (5, 0, 2), False),
        ("openmpi", (4, 0, 2), False),
    ],
)
def test_a_bug_is_known_within_its_versions(family: str, version: tuple[int, ...], known: bool) -> None:
    assert known_bugs.has(mpi(family, *version), "no-spawn") == known


def test_a_test_runs_where_the_bug_is_gone_and_is_skipped_where_it_is() -> None:
    known_bugs.skip(mpi("mpich", 4, 1), "finalize-hangs-across-nodes")
    with pytest.raises(pytest.skip.Exception, match="mpich 4.0.2, finalize-hangs-across-nodes: MPI_Finalize hangs"):
        known_bugs.skip(mpi("mpich", 4, 0, 2), "finalize-hangs-across-nodes")
    known_bugs.need(mpi("openmpi", 4, 1, 4), "l3-parts-overlap")
    with pytest.raises(pytest.skip.Exception, match="not known to have l3-parts-overlap"):
        known_bugs.need(mpi("openmpi", 4, 1, 5), "l3-parts-overlap")


def test_a_last_version_covers_all_that_begin_with_it() -> None:
    assert known_bugs.has(mpi("openmpi", 4, 1, 99), "no-sessions")
    assert not known_bugs.has(mpi("openmpi", 5, 0, 0), "no-sessions")


def test_a_name_without_a_row_is_an_error() -> None:
    with pytest.raises(AssertionError, match="has no nonsense"):
        known_bugs.has(mpi("mpich", 4, 0, 2), "nonsense")


def test_every_row_is_complete_and_used_by_a_test() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in TESTS.rglob("*.py") if path != Path(__file__))
    for row in known_bugs.KNOWN:
        assert row.first <= row.last or row.first[: len(row.last)] == row.last, row
        assert row.symptom, row
        assert row.reference, row
        assert f'"{row.name}"' in text, f"{row.name} is used nowhere"


def test_modules_of_scripts_leave_no_name_and_no_path_behind() -> None:
    before = list(sys.path)
    (place,) = scripts.load("bench/place", "run")
    (collect,) = scripts.load("bench/collect", "run")
    assert Path(place.__file__).parent.name == "place"
    assert Path(collect.__file__).parent.name == "collect"
    assert "run" not in sys.modules
    assert sys.path == before
