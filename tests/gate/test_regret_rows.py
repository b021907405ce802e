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
    assert regret.osu(sizes) == pytest.approx({"1": 2.5e-6, "1024": 1e-5})
    assert regret.osu("# Avg Latency(us)\n               4.00\n") == pytest.approx({"0": 4e-6})
