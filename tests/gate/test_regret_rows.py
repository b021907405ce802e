"""How the regret benchmark reads the programs of others."""

import pytest

from tests.helpers import scripts

regret, tables = scripts.load("bench/regret", "run", "tables")

NAS = """\
 Time in seconds =                 0.024518
 Mop/s total     =                   344.35
 Verification    =               SUCCESSFUL
"""


def test_the_timed_part_of_a_nas_benchmark() -> None:
    assert regret.nas(NAS) == {"": 0.024518}


@pytest.mark.parametrize(
    ("found", "instead", "reason"),
    [
        ("SUCCESSFUL", "UNSUCCESSFUL", "no 'Verification = SUCCESSFUL'"),
        ("0.024518", "0.00", "print more digits"),
        ("Time", "Date", "no 'Time in seconds'"),
    ],
)
def test_wrong_results_and_times_without_digits_are_refused(found: str, instead: str, reason: str) -> None:
    with pytest.raises(regret.BenchError, match=reason):
        regret.nas(NAS.replace(found, instead))


def test_the_cells_of_an_osu_benchmark() -> None:
    sizes = "# OSU MPI Broadcast Latency Test v5.3\n# Size       Avg Latency(us)\n1      2.50\n1024        10.00\n"
    assert regret.cells(sizes) == pytest.approx({"1": 2.5e-6, "1024": 1e-5})
    assert regret.cells("# Avg Latency(us)\n               4.00\n") == pytest.approx({"0": 4e-6})


def test_the_cells_of_intels_benchmarks() -> None:
    """The mean of all ranks; not the call without bytes."""
    sizes = """\
# #processes = 4
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            0           50         0.31         0.49         0.37
            8           50       404.67      4555.73      3316.92
           64           50       564.04      4351.06      3064.54
"""
    assert regret.cells(sizes) == pytest.approx({"8": 3316.92e-6, "64": 3064.54e-6})
    barrier = " #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n    50    4080.45   4160.55   4120.40\n"
    assert regret.cells(barrier) == pytest.approx({"0": 4120.40e-6})


def times(**seconds: list[float]) -> dict[str, list[dict[str, float]]]:
    """The runs of each kind."""
    return {kind: [{"": second} for second in of_kind] for kind, of_kind in seconds.items()}


def test_a_row_is_judged_by_the_median_of_its_pairs(tmp_path) -> None:
    """The goal of a whole run is 1.02, or 1 ms more; rows of the same program are replaced."""
    row = regret.Row("loop", 4, [], regret.whole)
    native = [0.1, 0.2, 0.4]
    measured = times(native=native, again=native, first=[0.11, 0.2, 0.1], cached=[0.09, 0.1, 0.8])
    (found,) = regret.judged(row, measured)
    assert (found["native"], found["first_ratio"], found["cached_ratio"], found["goal"]) == (200.0, 1.0, 0.9, 1.025)
    path = tmp_path / "results.csv"
    about = {"mpi": "openmpi 4.1.4", "load": 0}
    found |= {"pairs": 3, "date": "d"}
    assert regret.report([found], about, path)
    assert not regret.report([found | {"first_ratio": 1.03}], about, path)
    assert regret.report([found], about | {"load": 2}, path)
    rows = tables.read_rows(path, tables.FIELDS)
    assert [(row["load"], row["first_ratio"]) for row in rows] == [("0", "1.03"), ("2", "1.0")]
    text = tables.tables(rows)
    assert "### openmpi 4.1.4, no load beside" in text
    assert "| loop | 200.0 | 1.00 | 1.03 | 0.90 | 1.02 | missed |" in text
    assert "| loop | 200.0 | 1.00 | 1.00 | 0.90 | 1.02 |  |" in text


def test_cells_are_one_line_a_benchmark() -> None:
    row = {
        "mpi": "m",
        "load": 0,
        "row": "OSU bcast",
        "native": 1,
        "goal": 1.0526,
        "date": "d",
        "pairs": 9,
        "again_ratio": 1.0,
    }
    parts = [
        {"part": "1", "first_ratio": 2.0, "cached_ratio": 0.5},
        {"part": "2", "first_ratio": 0.5, "cached_ratio": 0.5},
    ]
    text = tables.tables([row | part for part in parts])
    assert text.splitlines()[-1] == (
        "| OSU bcast | 2 | 1.00 | 1.00 (1 B) | 1.00 | 0.50 (1 B) | 2.00 | 2.00 (1 B) | 1 |"
    )
