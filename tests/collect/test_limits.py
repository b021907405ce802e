"""The limits of the collectives' benchmark: results beyond them are named, others are not."""

from collections.abc import Iterable
from dataclasses import replace

from tests.helpers import scripts

limits, rows_of = scripts.load("bench/collect", "limits", "rows")
PARTS, missed, Row = limits.PARTS, limits.missed, rows_of.Row

MIB = 1 << 20


def pair(about: tuple[str, str], collective: str, size: int, ratio: float, **more: float) -> Iterable[Row]:
    """Native's row, which takes a second, and auto's."""
    part, machine = about
    yield Row(part, "openmpi", machine, "", collective, size, "native", mean=1, cpu=1, ratio=1)
    yield Row(part, "openmpi", machine, "", collective, size, "auto", ratio=ratio, **more)


def missed_by(rows: Iterable[Row]) -> list[str]:
    """Of what was measured."""
    return [line for line in missed(list(rows)) if not line.endswith(": not measured")]


def test_results_within_their_limits_are_not_named() -> None:
    rows = [
        *pair(("auto", "4 ranks"), "broadcast", 8, 1 / 1.1),
        *pair(("auto", "4 ranks"), "reduce", 8, 1.2),
        *pair(("mpich5-auto", "4 ranks"), "broadcast", 8, 0.971),
        *pair(("mpich5-large", "4x4 packed"), "broadcast", 8, 1.3),
        *pair(("cluster", "4x4 packed"), "broadcast", MIB, 1.7),
        *pair(("cluster", "4x4 packed"), "broadcast", 8, 0.5),
        *pair(("node", "2 ranks"), "barrier", 0, 2.0, cpu=0.5),
        *pair(("node", "4 ranks"), "barrier", 0, 1.4, cpu=0.4),
        *pair(("bytes", "4x4 packed"), "broadcast", MIB, 1, inter_node_bytes=1.08 * 3 * MIB),
    ]
    assert missed_by(rows) == []


def test_each_result_beyond_its_limit_is_named() -> None:
    rows = [
        *pair(("auto", "4 ranks"), "broadcast", 8, 0.8),
        *pair(("large", "4x4 packed"), "reduce", 8, 1 / 1.01),
        *pair(("mpich5-auto", "4 ranks"), "broadcast", 8, 0.96, mean=0.5),
        *pair(("cluster", "4x4 packed"), "broadcast", MIB, 1.6),
        *pair(("cluster", "4x4 round robin"), "reduce", MIB, 2.2),
        *pair(("node", "2 ranks"), "broadcast", 32768, 1.9, cpu=0.6),
        *pair(("node", "2 ranks"), "broadcast", 8, 0.1, cpu=9),
        *pair(("bytes", "4x4 packed"), "allreduce", MIB, 1, inter_node_bytes=1.2 * 6 * MIB),
        Row("fallthrough", "openmpi", "1 rank", "C", "MPI_Bcast", 0, "alone", least=5e-9),
        Row("fallthrough", "openmpi", "1 rank", "C", "MPI_Bcast", 0, "rules", least=26e-9),
    ]
    assert missed_by(rows) == [
        "bytes: 4x4 packed: allreduce: 1.20 of the bound, at most 1.08",
        "cluster: 4x4 packed: broadcast 1 MiB: native / auto 1.60, 1.7",
        "cluster: 4x4 round robin: reduce 1 MiB: native / auto 2.20, 2.3",
        "node: broadcast: native / auto 1.90, 2.0",
        "node: CPU, native / auto 1.67, 2.0",
        "auto: auto / native on the mean 1.124, at most 1.02",
        "auto: 4 ranks: broadcast 8 B: auto / native 1.25, at most 1.10",
        "mpich5-auto: auto / native on the mean 1.042, at most 1.02",
        "mpich5-auto: 4 ranks: broadcast 8 B: auto / native 1.04, by means 0.50, at most 1.03",
        "fallthrough: MPI_Bcast, C, 1 rank: 21.0 ns, at most 20",
    ]


def test_what_was_wrong_or_not_measured_is_named() -> None:
    native, auto = pair(("auto", "4 ranks"), "broadcast", 8, 0.5)
    cell = "auto: 4 ranks: broadcast 8 B: "
    assert {f"{part}: not measured" for part in PARTS} <= set(missed([]))
    assert "cluster: 4x4 packed: broadcast 1 MiB: not measured" in set(missed([]))
    assert missed_by([native, replace(auto, wrong="wrong result")]) == [f"{cell}wrong result"]
    assert f"{cell}not measured" in set(missed([native]))
    assert f"{cell}not measured" in set(missed([native, replace(auto, ratio=None)]))
    counted = list(pair(("bytes", "4x4 packed"), "broadcast", MIB, 1))
    assert "bytes: 4x4 packed: broadcast 1 MiB: not measured" in set(missed(counted))
    alone = Row("fallthrough", "openmpi", "1 rank", "C", "MPI_Bcast", 0, "alone", least=5e-9)
    assert "fallthrough: MPI_Bcast, C, 1 rank: not measured" in set(missed([alone]))
