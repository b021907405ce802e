"""What the placement benchmark is measured on, and how its table is made from the measurements."""

import sys
from pathlib import Path

import numpy as np
import pytest

from tests.helpers import scripts

instances, peers, report, run = scripts.load("bench/place", "instances", "peers", "report", "run")

SMALL = [
    name
    for name, case in instances.CASES.items()
    if instances.ranks_of(name) <= 1024 and case.kind not in ("mesh", "real")
]


def full(pattern: instances.Pattern) -> np.ndarray:
    """As a matrix."""
    if isinstance(pattern, instances.Matrix):
        return pattern.weights.astype(np.int64)
    starts, columns, weights = pattern.csr()
    matrix = np.zeros((pattern.ranks, pattern.ranks), np.int64)
    matrix[np.repeat(np.arange(pattern.ranks), np.diff(starts)), columns] = weights
    return matrix


@pytest.mark.parametrize("name", SMALL)
def test_an_instance_is_symmetric_has_no_diagonal_and_is_the_same_each_time(name: str) -> None:
    case = instances.CASES[name]
    pattern = case.make()
    matrix = full(pattern)
    assert pattern.ranks == instances.ranks_of(name) <= np.prod([int(word) for word in case.tree.split(":")])
    assert np.array_equal(matrix, matrix.T)
    assert not matrix.diagonal().any()
    assert (matrix >= 0).all()
    assert matrix.any()
    assert np.array_equal(matrix, full(case.make()))


def test_real_patterns_have_the_ranks_of_their_names() -> None:
    real = [name for name, case in instances.CASES.items() if case.kind == "real"]
    assert len(real) == 51 + 45  # six programs send nothing but in collectives
    assert instances.CASES["real-npb-cg.A-16"].make().ranks == 16


def test_a_grid_has_its_edges_and_a_halo_its_faces_edges_and_corners() -> None:
    # 3 x 4: 2 x 4 + 3 x 3 edges. A cube of 2: 12 faces' neighbours, 12 edges', 4 corners', each stored twice.
    assert instances.grid(3, 4).csr()[2].sum() == 2 * 17 * 10
    assert instances.halo(2, 2, 2).csr()[2].sum() == 2 * (12 * 100 + 12 * 10 + 4)


def test_equal_pairs_of_either_direction_add_up_and_loops_do_not_count() -> None:
    left, right, weight = np.array([0, 1, 0, 2]), np.array([1, 0, 1, 2]), np.array([1, 2, 4, 8])
    starts, columns, weights = instances.Edges(3, left, right, weight).csr()
    assert starts.tolist() == [0, 1, 2, 2]
    assert columns.tolist() == [1, 0]
    assert weights.tolist() == [7, 7]


def test_renumbering_keeps_the_sorted_sums_of_rows() -> None:
    for pattern in (instances.halo(3, 4, 5), instances.gravity(64, 1)):
        sums, others = (full(each).sum(axis=1) for each in (pattern, pattern.relabelled(7)))
        assert sums.tolist() != others.tolist()
        assert sorted(sums) == sorted(others)


@pytest.mark.parametrize("large", [False, True])
def test_what_is_written_is_read(tmp_path: Path, large: bool) -> None:
    grid = instances.grid(3, 5)
    edges = instances.Edges(grid.ranks, grid.left, grid.right, grid.weight * (2**33 if large else 1))
    for pattern in (edges, instances.gravity(30, 1)):
        instances.write(tmp_path / "a.cg", pattern)
        starts, columns, weights = instances.read(tmp_path / "a.cg")
        matrix = np.zeros((pattern.ranks, pattern.ranks), np.int64)
        matrix[np.repeat(np.arange(pattern.ranks), np.diff(starts)), columns] = weights
        assert np.array_equal(matrix, full(pattern))


def test_a_renumbered_file_has_the_form_of_the_other(tmp_path: Path) -> None:
    for pattern in (instances.halo(3, 4, 5), instances.gravity(40, 1)):
        path = tmp_path / "a.cg"
        instances.write(path, pattern)
        other = instances.relabel(path, 3)
        assert other.read_bytes()[:24] == path.read_bytes()[:24]
        assert other.read_bytes() != path.read_bytes()
        assert sorted(instances.read(other)[2]) == sorted(instances.read(path)[2])


def test_the_cost_is_that_of_the_lowest_level_that_a_pair_shares() -> None:
    # Ranks 0 and 1 talk on one pair of leaves, 0 and 2 over the next level, 0 and 4 over the outermost.
    edges = instances.Edges(5, np.array([0, 0, 0]), np.array([1, 2, 4]), np.array([3, 5, 7]))
    assert peers.cost(edges.csr(), "2:2:2", "1:10:100", np.arange(5)) == 3 + 50 + 700


def test_a_profile_counts_instances_without_an_answer_as_never_solved() -> None:
    assert report.profile([1.0, 1.5, None, 1.0]) == [(1.0, 0.5), (1.5, 0.75)]
    assert report.profile([None]) == []


def row(method: str, cost: float | None, seconds: float, costs: str = run.COSTS[0], ranks: int = 4096) -> run.Row:
    """Of one instance."""
    about = ("grid", ranks, 10, 100, "4:2:16:32", costs, method, 3, cost, cost, cost, seconds, 1)
    return run.Row("grid2d-4096", *about, "ok" if cost is not None else "unbalanced")


def test_the_best_is_that_of_a_valid_answer_and_ratios_are_to_it() -> None:
    table = report.table_of([row("strong", 110, 0.2), row("metis", 100, 0.1), row("scotch", None, 0.1)], [])
    methods = table["grid2d-4096", run.COSTS[0]]
    assert report.best(methods, peers_only=True) == 100
    assert report.ratio(methods["strong"].cost, 100) == pytest.approx(1.1)
    assert report.ratio(0, 0) == 1
    assert report.geometric_mean([1, 4]) == pytest.approx(2)


def test_limits_that_are_missed_are_named() -> None:
    rows = [row("fast", 105, 0.02), row("default", 104, 0.07), row("strong", 102, 0.2), row("metis", 100, 0.05)]
    lines = list(report.missed(report.table_of(rows, [])))
    assert [line.split(":")[0] for line in lines] == ["strong cost", "default cost", "default seconds", "fast cost"]


def test_a_limit_that_is_missed_is_the_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """After all is printed; tables alone check no limit."""
    for cost, lines in ((102, 1), (100, 0)):
        rows = [row("strong", cost, 0.2), row("metis", 100, 0.05)]
        run.save(tmp_path / "r.csv", [run.asdict(each) for each in rows])
        for words, gated in ((["--limits"], True), ([], True), (["--tables"], False), (["--limits", "--tables"], True)):
            monkeypatch.setattr(sys, "argv", ["report.py", "--csv", str(tmp_path / "r.csv"), *words])
            assert report.main() == (1 if gated and lines else 0)
            printed = capsys.readouterr().out
            assert printed.count("strong cost: grid2d-4096") == (lines if gated else 0)
            assert ("| placed by |" in printed) == ("--tables" in words)


def test_recorded_results_count_only_for_the_same_instance() -> None:
    about = {"instance": "grid2d-4096", "ranks": "4096", "arcs": "10", "weight_sum": "100", "identity_cost": "500"}
    found = {"method": "treematch", "runs": "1", "cost_1_10_100_1000": "90", "cost_1_2_3_4": "", "cpu_seconds": "1"}
    for identity, expected in ((500, True), (501, False)):
        table = report.table_of([row("identity", identity, 0)], [about | found | {"status": "ok"}])
        assert ("treematch" in table["grid2d-4096", run.COSTS[0]]) is expected


def test_rows_are_read_as_they_were_written(tmp_path: Path) -> None:
    rows = [row("strong", 102.5, 0.2), row("scotch", None, 0.1)]
    run.save(tmp_path / "r.csv", [run.asdict(each) for each in rows])
    assert run.load(tmp_path / "r.csv") == rows
    assert not (tmp_path / "r.part").exists()


@pytest.mark.parametrize("what", ["sleep 60", "while :; do :; done"])
def test_a_program_that_exceeds_its_time_leaves_what_it_printed_and_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """By the clock and by CPU seconds."""
    monkeypatch.setattr(run, "WALL_FACTOR", 2 if what.startswith("sleep") else 50)
    pid = tmp_path / "pid"
    lines, status = run.output_of(["sh", "-c", f"echo 7 ok; echo $$ > {pid}; printf unfinished; {what}"], 1)
    assert (lines, status) == ([["7", "ok"]], "timeout")
    assert not Path(f"/proc/{pid.read_text(encoding='ascii').strip()}").exists()
