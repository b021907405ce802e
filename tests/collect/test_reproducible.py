"""Reproducible reductions: the bits of one tree, wherever the ranks are placed."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.collect_programs import SECONDS
from tests.helpers.emulated_cluster import MiniCluster, cluster_up
from tests.helpers.mpis import needed_mpi

Mpi = Any  # of tests/conftest.py
RATE, LATENCY = 1000, 50


def outcome(words: list[str], **options: Any) -> tuple[int, str]:
    """How many elements have other bits than the tree gives, and the digest of all."""
    result = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False, **options)
    assert result.returncode == 0, result.stdout + result.stderr
    found = re.search(r"other bits: (\d+), digest (\w+)", result.stdout)
    assert found, result.stdout
    return int(found[1]), found[2]


@pytest.mark.parametrize("ranks", range(1, 10))
def test_the_bits_are_those_of_the_tree(mpi: Mpi, ranks: int) -> None:
    others, _ = outcome(mpi.launch(ranks, mpi.program("collect_sums"), "flag"))
    assert others == 0


def test_the_environment_variable_sets_it_too(mpi: Mpi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANKTREE_REPRODUCIBLE", "1")
    found = outcome(mpi.launch(5, mpi.program("collect_sums"), "environment"))
    assert found == outcome(mpi.launch(5, mpi.program("collect_sums"), "flag"))
    assert found[0] == 0


def test_unmodified_programs_are_reproducible_from_their_first_call_on(mpi: Mpi, ranktree, monkeypatch) -> None:
    monkeypatch.setenv("RANKTREE_REPRODUCIBLE", "1")
    command = mpi.launch(5, mpi.program("collect_sums"), "unmodified")
    result = ranktree("run", "--collectives", "native", "--", *command, timeout=SECONDS)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "other bits: 0," in result.stdout


RULES = [
    "native",
    "auto",
    "shared:binomial",
    "messages:ring:groups=2",
    "levels:groups=2",
    "bcast=messages:binomial;allreduce=shared:ring;reduce=messages:pipeline/binomial:segment=1K:groups=2;reduce_scatter=messages:pairwise:groups=1",
]


def rounds_for(rule: str) -> int:
    """Enough calls of each kind for auto to try others."""
    return 12 if rule == "auto" else 2


@pytest.mark.parametrize("how", ["flag", "environment", "unmodified"])
def test_no_rule_changes_a_bit(mpi: Mpi, command: str, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever RANKTREE_COLL is."""
    if how != "flag":
        monkeypatch.setenv("RANKTREE_REPRODUCIBLE", "1")
    found = set()
    for rule in RULES:
        monkeypatch.setenv("RANKTREE_COLL", rule)
        words = mpi.launch(5, mpi.program("collect_sums"), how, rounds_for(rule))
        found.add(outcome([command, "run", "--collectives", rule, "--", *words] if how == "unmodified" else words))
    assert len(found) == 1
    assert found.pop()[0] == 0


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule != "native"])
def test_without_it_rules_change_bits(mpi: Mpi, rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the test above could not fail. auto may find that the native calls are fastest."""
    found = []
    for each in ("native", rule):
        monkeypatch.setenv("RANKTREE_COLL", each)
        found.append(outcome(mpi.launch(5, mpi.program("collect_sums"), "nothing", rounds_for(rule))))
    assert found[1][0] > 0
    assert rule == "auto" or found[0] != found[1]


# Else the tests above could not fail.
def test_without_it_the_bits_are_others(mpi: Mpi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANKTREE_COLL", "native")
    others, _ = outcome(mpi.launch(5, mpi.program("collect_sums"), "nothing"))
    assert others > 0


@pytest.fixture(scope="module")
def cluster(build_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MiniCluster]:
    """Three nodes."""
    options = ("--nodes", 3, "--per-switch", 3, "--rate", RATE, "--latency", LATENCY, "--cpus", 3)
    with cluster_up(build_folder, tmp_path_factory.mktemp("cluster"), *options) as made:
        yield made


def placed(build_folder: Path, cluster: MiniCluster, nodes: list[int], folder: Path) -> tuple[int, str]:
    """The outcome with each rank on a node of its own choice."""
    slots: dict[int, int] = {}
    lines = []
    for rank, node in enumerate(nodes):
        lines.append(f"rank {rank}=n{node} slot={slots.setdefault(node, 0)}\n")
        slots[node] += 1
    path = folder / "rankfile"
    path.write_text("".join(lines), encoding="ascii")
    options = ["-np", len(nodes), "--rankfile", path, "-x", "RANKTREE_COLL"]
    words = [cluster.program, "mpirun", cluster.state, *options]
    return outcome([*map(str, words), str(build_folder / "bin" / "collect_sums_openmpi"), "flag"])


def test_places_change_no_bit(
    build_folder: Path, cluster: MiniCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under another rule in each."""
    if not (build_folder / "bin" / "collect_sums_openmpi").exists():
        pytest.skip("Open MPI is not part of the build")
    nodes_of = {
        "native": [0, 0, 0, 1, 1, 1, 2],
        "auto": [0, 1, 2, 0, 1, 2, 0],
        "shared:ring:segment=1K": [2, 0, 0, 1, 2, 1, 0],
        "messages:pipeline/binomial": [1, 0, 1, 2, 0, 0, 2],
    }
    found = set()
    for rule, nodes in nodes_of.items():
        monkeypatch.setenv("RANKTREE_COLL", rule)
        found.add(placed(build_folder, cluster, nodes, tmp_path))
    assert len(found) == 1
    assert found.pop()[0] == 0


def test_both_mpis_give_the_same_bits(build_folder: Path, mpi_builds: dict, monkeypatch) -> None:
    names = ["openmpi", "mpich"]
    if any(not (build_folder / "bin" / f"collect_sums_{name}").exists() for name in names):
        pytest.skip("one MPI only")
    others = [needed_mpi(name, mpi_builds, build_folder, monkeypatch) for name in names]
    assert len({outcome(each.launch(3, each.program("collect_sums"), "flag")) for each in others}) == 1
