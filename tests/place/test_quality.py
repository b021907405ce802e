"""The engine's costs beside those that METIS and Scotch reached, recorded with their versions.

data/peers.tsv has the best of each peer's strategies in bench/place/results.csv, medians over three seeds. KaHIP is not
in it: its process mapping put one rank on each leaf on none of the instances. A preset may cost more than the best peer
by its margin; an engine that places worse exceeds it.
"""

import csv
import statistics
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import scripts

(instances,) = scripts.load("bench/place", "instances")

RECORDED = Path(__file__).resolve().parent / "data" / "peers.tsv"
MARGINS = {"fast": 1.025, "default": 1.01, "strong": 1.005}
SEEDS = ("1", "2", "3")


def recorded() -> dict[tuple[str, str], dict[str, float]]:
    """(instance, costs) -> peer with version -> its cost."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    with RECORDED.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            found.setdefault((row["instance"], row["costs"]), {})[row["version"]] = float(row["cost"])
    return found


PEERS = recorded()


@pytest.fixture(scope="module")
def engine_costs(build_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., list[float]]:
    """Costs of the engine on an instance, one for each seed."""
    program = build_folder / "bin" / "bench_place"
    if not program.exists():
        pytest.skip(f"{program} is not built")
    folder = tmp_path_factory.mktemp("instances")

    def run(instance: str, costs: str, preset: str) -> list[float]:
        tree = instances.CASES[instance].tree
        levels = ":".join(costs.split(":")[: tree.count(":") + 1])
        words = [program, instances.made(folder, instance), tree, levels, preset, *SEEDS]
        result = subprocess.run(words, capture_output=True, text=True, timeout=120, check=True)
        return [float(line.split()[0]) for line in result.stdout.splitlines()]

    return run


@pytest.mark.parametrize("preset", MARGINS)
@pytest.mark.parametrize(("instance", "costs"), PEERS, ids=[f"{name}-{costs}" for name, costs in PEERS])
def test_no_peer_found_a_placement_that_costs_much_less(
    engine_costs: Callable, instance: str, costs: str, preset: str
) -> None:
    peers = PEERS[instance, costs]
    best = min(peers, key=peers.__getitem__)
    found = engine_costs(instance, costs, preset)
    assert len(found) == len(SEEDS)
    assert statistics.median(found) <= MARGINS[preset] * peers[best], f"{best} reached {peers[best]}"


def test_each_peer_is_recorded_with_one_version() -> None:
    versions = {version for peers in PEERS.values() for version in peers}
    assert sorted(version.split()[0] for version in versions) == ["METIS", "Scotch"]
