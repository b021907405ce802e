"""The papers' figures: a complete registry, pages as the results have it, simulations that give the committed times."""

import csv
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.scripts import load

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "bench" / "papers"
claims, pages, placed, placed_claims, rows, run, targets = load(
    "bench/papers", "claims", "pages", "placed", "placed_claims", "rows", "run", "targets"
)


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


def test_every_placed_target_has_a_name_of_its_own_and_a_time() -> None:
    names = [target.name for target in (*targets.TARGETS, *placed.PLACED_TARGETS)]
    assert len(set(names)) == len(names)
    for target in placed.PLACED_TARGETS:
        assert target.seconds > 0
        assert len(set(target.keys)) == len(target.keys) > 0


def test_every_claim_on_placements_belongs_to_rows_of_its_target() -> None:
    rows_of = dict.fromkeys((key for target in placed.PLACED_TARGETS for key in target.keys), placed.Result(1, 1, 1))
    for claim in placed_claims.load_placed_claims():
        target = placed_claims.placed_target(claim.target)
        assert claim.quotient.value(target, rows_of) == pytest.approx(1)
        assert claim.other is None or claim.other.value(target, rows_of) == pytest.approx(1)


def test_every_placed_row_belongs_to_a_target_and_has_a_result() -> None:
    wanted = {key for target in placed.PLACED_TARGETS for key in target.keys}
    found = placed.load()
    assert found
    assert set(found) <= wanted
    assert all(each.answer or (each.seconds and each.version) for each in found.values())


def test_placed_rows_survive_saving(tmp_path: Path) -> None:
    placed.save(placed.load(), tmp_path / "placed.csv")
    assert (tmp_path / "placed.csv").read_text(encoding="utf-8") == placed.PLACED.read_text(encoding="utf-8")


def test_a_quotient_is_the_geometric_mean_of_its_cases() -> None:
    keys = (("m", "a", 8, "s"), ("m", "a", 8, "f"), ("m", "b", 8, "s"), ("m", "b", 8, "f"))
    target = placed.PlacedTarget("t", "t", 1, keys)
    times = dict(zip(keys, (placed.Result(seconds=each) for each in (8.0, 1.0, 2.0, 1.0)), strict=True))
    assert placed_claims.Quotient("a|b", "8", "s", "f").value(target, times) == pytest.approx(4)
    assert placed_claims.Quotient("a/b", "8", "s", "f").value(target, times) == pytest.approx(4)
    assert placed_claims.Quotient("a", "8", "f", "s@m").value(target, times) == pytest.approx(1 / 8)
    with pytest.raises(ValueError, match="no row"):
        placed_claims.Quotient("a", "16", "s", "f").value(target, times)


def test_ratios_of_the_placed_page_are_those_of_the_file() -> None:
    """Recomputed without the bench's code: ZEUS-MP/2 at 64 ranks, round robin / TreeMatch by messages."""
    with placed.PLACED.open(encoding="utf-8", newline="") as file:
        times = {
            row["placement"]: float(row["seconds"])
            for row in csv.DictReader(file)
            if (row["kernel"], row["ranks"]) == ("zeus.16", "64") and row["seconds"]
        }
    ours = times["round robin"] / times["TreeMatch msg"]
    page = (pages.FOLDER / "treematch-2013.md").read_text(encoding="utf-8")
    assert f"| {ours:.2f}x | {ours / 1.14:.2f} |" in page


@pytest.mark.simgrid
def test_placed_rows_are_reproduced(
    simgrid: None,  # noqa: F811
    build_folder: Path,
    tmp_path: Path,
) -> None:
    """The worked example, a division, and a simulation of each kind of placement of ours."""
    removed = [
        *placed.PLACED_TARGETS[0].keys,
        (placed.ONE_SWITCH, placed.ZEUS, 64, "TreeMatch msg"),
        (placed.ONE_SWITCH, placed.ZEUS, 64, "TreeMatch by node, size"),
    ]
    committed = placed.load()
    path = tmp_path / "placed.csv"
    placed.save({key: each for key, each in committed.items() if key not in removed}, path)
    words = [sys.executable, FOLDER / "run.py", "--build", build_folder, "--placed", path]
    words += ["--only", placed.PLACED_TARGETS[0].name, "--only", placed.PLACED_TARGETS[-1].name]
    subprocess.run(list(map(str, words)), check=True, timeout=280)
    found = placed.load(path)
    for key in removed:
        assert found[key].answer == committed[key].answer
        assert found[key].hop_bytes == pytest.approx(committed[key].hop_bytes)
        assert (found[key].seconds or 0) == pytest.approx(committed[key].seconds or 0, rel=1e-3)
