"""The papers' figures: a complete registry, pages as the results have it, simulations that give the committed times."""

import csv
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.scripts import load
from tests.simulate.conftest import simgrid  # noqa: F401

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "bench" / "papers"
claims, pages, rows, run, targets = load("bench/papers", "claims", "pages", "rows", "run", "targets")


def results() -> dict:
    """The committed ones."""
    return rows.load()


def test_every_target_has_a_paper_a_time_sweeps_and_machines() -> None:
    names = [target.name for target in targets.TARGETS]
    assert len(set(names)) == len(names)
    for target in targets.TARGETS:
        assert target.paper in {paper.name for paper in targets.PAPERS}
        assert target.seconds > 0
        assert target.sweeps
        for sweep in target.sweeps:
            assert (ROOT / "machines" / f"{sweep.machine}.json").is_file()
            assert 1 in sweep.groups
            assert all(sweep.ranks % groups == 0 for groups in sweep.groups)


def test_every_claim_and_its_alternative_belong_to_rows_of_a_target() -> None:
    for claim in claims.load_claims():
        target = targets.target_named(claim.target)
        assert claims.sweeps_of(target, claim.algorithm), claim
        assert not claim.alternative or claims.sweeps_of(target, claim.alternative), claim


def test_every_committed_row_belongs_to_a_target_and_names_the_simulator() -> None:
    wanted = {
        rows.key(sweep, groups) for target in targets.TARGETS for sweep in target.sweeps for groups in sweep.groups
    }
    found = results()
    assert found
    assert set(found) <= wanted
    assert all(time.simgrid and time.seconds > 0 for time in found.values())


def test_generated_pages_and_pictures_are_the_committed_ones() -> None:
    assert pages.stale() == []
    generated = {path.name for path in pages.files()}
    assert {path.name for path in pages.FOLDER.iterdir()} == generated


def test_a_changed_result_changes_the_page() -> None:
    sweep = targets.target_named("hier-bcast-2014-figure-12").sweeps[0]
    changed = results()
    changed[rows.key(sweep, 1)] = rows.Time(1000.0, 0.0, "3.32")
    assert (
        pages.files(changed)[pages.FOLDER / "hier-bcast-2014.md"] != pages.files()[pages.FOLDER / "hier-bcast-2014.md"]
    )


def test_ratios_of_the_page_are_those_of_the_file() -> None:
    """Recomputed without the bench's code."""
    with rows.RESULTS.open(encoding="utf-8", newline="") as file:
        times = {
            int(row["groups"]): float(row["seconds"])
            for row in csv.DictReader(file)
            if (row["machine"], row["ranks"], row["bytes"], row["algorithm"])
            == ("graphene-gige", "128", "16777216", "chain")
        }
    gain = times[1] / min(times.values())
    page = (pages.FOLDER / "hier-bcast-2014.md").read_text(encoding="utf-8")
    assert f"| {gain:.2f}x | {gain / 3:.2f} |" in page


def test_splits_count_only_where_groups_need_them() -> None:
    sweep = targets.Sweep("m", 8, "reduce", 1024, "native", (1, 2))
    times = {rows.key(sweep, 1): rows.Time(4.0, 9.0, "x"), rows.key(sweep, 2): rows.Time(1.0, 3.5, "x")}
    assert rows.gain(sweep, times) == (4.0, 2)
    assert rows.gain(sweep, times, with_splits=True) == (1.0, 1)


@pytest.mark.simgrid
@pytest.mark.parametrize("name", ["hier-bcast-2014-figure-12", "hier-reduce-2016-figure-5-left"])
def test_a_figure_is_reproduced_within_a_thousandth(
    name: str,
    simgrid: None,  # noqa: F811
    build_folder: Path,
    tmp_path: Path,
) -> None:
    """Two numbers of groups are removed from the results, and simulated again. A later begin rounds differently."""
    target = targets.target_named(name)
    removed = {rows.key(target.sweeps[-1], groups) for groups in target.sweeps[-1].groups[-2:]}
    committed = results()
    path = tmp_path / "results.csv"
    rows.save({each: time for each, time in committed.items() if each not in removed}, path)
    words = [sys.executable, FOLDER / "run.py", "--build", build_folder, "--only", name, "--results", path]
    subprocess.run(list(map(str, words)), check=True, timeout=200)
    found = rows.load(path)
    assert found.keys() == committed.keys()
    for each in removed:
        assert found[each].seconds == pytest.approx(committed[each].seconds, rel=1e-3)
        assert found[each].splits == pytest.approx(committed[each].splits, rel=1e-3)


def test_an_allreduce_in_groups_has_the_form_of_the_paper() -> None:
    sweep = targets.Sweep("m", 8, "allreduce", 1024, "ring", (1, 2))
    assert run.choice(sweep, 2) == "messages:ring:form=same-index:groups=2"
    assert run.choice(sweep, 1) == "messages:ring:groups=1"
