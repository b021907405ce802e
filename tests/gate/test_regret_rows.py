"""How the regret benchmark reads the programs of others."""

import pytest

from tests.helpers import scripts

(regret,) = scripts.load("bench/regret", "run")

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
