"""The acceptance limits of the results: prints one line for each result that misses its limit."""

from collections.abc import Iterator, Sequence

from cases import (
    AUTO,
    BOUND,
    LARGE,
    NATIVE,
    NOT_SLOWER,
    Case,
    auto_cells,
    calls_left_alone,
    cases,
    full,
    machines,
    mean,
    over,
    processor_ratio,
    size_text,
)
from rows import Row

MIB = 1 << 20
BYTES = 1.08  # at most, relative to the lower bound
# At least: native time / auto time on the emulated cluster, Open MPI.
PACKED = {
    "broadcast": {MIB >> 2: 2.8, MIB: 1.7, MIB << 2: 1.8},
    "reduce": dict.fromkeys((MIB >> 2, MIB, MIB << 2), 1.0),
    "allreduce": dict.fromkeys((MIB >> 2, MIB, MIB << 2), 1.0),
}
ROUND_ROBIN = {"reduce": {MIB: 2.3}, "allreduce": {MIB: 2.1}}
# On one node, native time / auto time: mean over the sizes from 32 KiB on and all rank counts; and processor time.
NODE, NODE_CPU = {"broadcast": 2.0, "allreduce": 1.5, "barrier": 1.5}, 2.0
# At most: auto time / native time.
MEAN, WORST = 1.02, 1.10
ADDED_NANOSECONDS = 20
PARTS = ("bytes", "cluster", "node", "auto", "large", "mpich5-cluster", "mpich5-auto", "mpich5-large", "fallthrough")


def missed(rows: Sequence[Row]) -> Iterator[str]:
    """All missed limits. A result without figures counts as a miss."""
    yield from missing(rows)
    yield from missed_bytes(rows)
    yield from missed_on_cluster(rows)
    yield from missed_on_node(rows)
    yield from missed_by_auto(rows, "", WORST)
    yield from missed_by_auto(rows, "mpich5-", 1 / NOT_SLOWER)
    yield from missed_by_calls_left_alone(rows)


def missing(rows: Sequence[Row]) -> Iterator[str]:
    """Parts without rows, and cases of which native or auto has no figures."""
    for part in PARTS:
        found = machines(rows, part)
        if not found:
            yield f"{part}: not measured"
        for machine, own in found.items():
            wrong = {(row.collective, row.bytes): row.wrong for row in own if row.wrong and not row.setting}
            for (collective, size), case in cases(own).items():
                if part != "fallthrough" and not has_figures(part, case):
                    why = wrong.get((collective, size), "not measured")
                    yield f"{part}: {machine}: {collective} {size_text(size)}: {why}"


def has_figures(part: str, case: Case) -> bool:
    """Whether native and auto have the figures that the part's limits need."""
    if not full(case):
        return False
    native, auto = case["", NATIVE], case["", AUTO]
    if part == "bytes":
        return auto.inter_node_bytes is not None
    return auto.ratio is not None and (part != "node" or processor_ratio(native, auto) is not None)


def missed_bytes(rows: Sequence[Row]) -> Iterator[str]:
    """The limit on bytes between nodes, for auto."""
    for machine, own in machines(rows, "bytes").items():
        for (collective, size), case in cases(own).items():
            found = over(case.get(("", AUTO)), BOUND[collective] * size)
            if found is not None and found > BYTES:
                yield f"bytes: {machine}: {collective}: {found:.2f} of the bound, at most {BYTES}"


def missed_on_cluster(rows: Sequence[Row]) -> Iterator[str]:
    """The limits for large vectors on the cluster, Open MPI."""
    for machine, limits in (("4x4 packed", PACKED), ("4x4 round robin", ROUND_ROBIN)):
        found = cases(machines(rows, "cluster").get(machine, []))
        for collective, sizes in limits.items():
            for size, least in sizes.items():
                auto = found.get((collective, size), {}).get(("", AUTO))
                about = f"cluster: {machine}: {collective} {size_text(size)}"
                if auto is None:
                    yield f"{about}: not measured"
                elif auto.ratio and auto.ratio < least:
                    yield f"{about}: native / auto {auto.ratio:.2f}, {least}"


def missed_on_node(rows: Sequence[Row]) -> Iterator[str]:
    """Means over 2 to 16 ranks, and processor time over the three collectives, the real time where all ranks spin."""
    processors = []
    for collective, least in NODE.items():
        pairs = list(large_pairs(rows, collective))
        value = mean(auto.ratio or 0 for _, auto in pairs)
        if value is not None and value < least:
            yield f"node: {collective}: native / auto {value:.2f}, {least}"
        processors.append(mean(processor_ratio(native, auto) or 0 for native, auto in pairs))
    average = mean(value for value in processors if value)
    if average is not None and average < NODE_CPU:
        yield f"node: CPU, native / auto {average:.2f}, {NODE_CPU}"


def large_pairs(rows: Sequence[Row], collective: str) -> Iterator[tuple[Row, Row]]:
    """Native and auto on one node, for messages from 32 KiB on and for barriers."""
    for own in machines(rows, "node").values():
        for (each, size), case in cases(own).items():
            if each == collective and (size == 0 or size >= LARGE) and full(case):
                yield case["", NATIVE], case["", AUTO]


def missed_by_auto(rows: Sequence[Row], prefix: str, worst: float) -> Iterator[str]:
    """The limits for every collective and size, by medians."""
    found = [cell for _, cells in auto_cells(rows, prefix) for cell in cells]
    average = mean(cell.usual for cell in found)
    if average is not None and average > MEAN:
        yield f"{prefix}auto: auto / native on the mean {average:.3f}, at most {MEAN}"
    for cell in found:
        if cell.usual > worst:
            means = f", by means {cell.mean:.2f}" if cell.mean else ""
            figures = f"auto / native {cell.usual:.2f}{means}, at most {worst:.2f}"
            yield f"{prefix}auto: {cell.machine}: {cell.what}: {figures}"


def missed_by_calls_left_alone(rows: Sequence[Row]) -> Iterator[str]:
    """The limit on passed-through calls under the preload library."""
    for call, machine, least in calls_left_alone(rows):
        if not {"rules", "alone"} <= least.keys():
            yield f"fallthrough: {call}, {machine}: not measured"
        elif (added := least["rules"] - least["alone"]) > ADDED_NANOSECONDS:
            yield f"fallthrough: {call}, {machine}: {added:.1f} ns, at most {ADDED_NANOSECONDS}"
