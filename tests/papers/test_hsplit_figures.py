"""hsplit-2018: committed times of levels, SUMMA and gathers beside what their messages must take."""

import csv

import pytest

from tests.helpers.placed_cells import PLACED, cells

# Table 1 and §7.4: parts on each level, the outermost first; of NTW24E5's switches that of rank 0.
PARTS = {"ntw10e5": (10, 2, 2, 6), "smp20e7": (10, 2, 8), "smp12e5": (6, 2, 8), "ntw24e5": (4, 12, 2, 2, 6)}
LONG_MESSAGE = (4 << 20) / 5e9  # seconds, inside machines whose files state no costs
LEVELS = {"ntw10e5": 4, "smp20e7": 3, "smp12e5": 3, "ntw24e5": 5}


@pytest.mark.parametrize("machine", list(PARTS))
def test_levels_are_those_of_the_machines(machine: str) -> None:
    with PLACED.open(encoding="utf-8", newline="") as file:
        rows_of = {row["machine"]: row for row in csv.DictReader(file) if row["kernel"] == "levels"}
    found = tuple(map(int, rows_of[machine]["answer"].split()))
    assert found == PARTS[machine]
    assert len(found) == LEVELS[machine]


@pytest.mark.parametrize(("machine", "ranks"), [("smp20e7", 160), ("smp12e5", 96)])
@pytest.mark.parametrize("collective", ["broadcast", "reduce"])
def test_linear_algorithms_cost_what_the_paper_derives(machine: str, ranks: int, collective: str) -> None:
    """hsplit-2018 §6: (p - 1)(alpha + m beta), and by levels the sum of (p_i - 1)(alpha_i + m beta_i)."""
    with PLACED.open(encoding="utf-8", newline="") as file:
        found = {
            row["placement"]: float(row["seconds"])
            for row in csv.DictReader(file)
            if (row["machine"], row["kernel"]) == (machine, f"{collective} linear.4M")
        }
    assert found["flat"] == pytest.approx((ranks - 1) * LONG_MESSAGE, rel=0.01)
    assert found["levels"] == pytest.approx(sum(parts - 1 for parts in PARTS[machine]) * LONG_MESSAGE, rel=0.01)


@pytest.mark.parametrize(("machine", "ranks"), [("smp20e7", 160), ("smp12e5", 96)])
def test_chains_take_the_time_of_their_hops(machine: str, ranks: int) -> None:
    """The root sends four messages at once, over one link; then the longest of four chains passes its message on."""
    with PLACED.open(encoding="utf-8", newline="") as file:
        kernel = (machine, "broadcast chain.4M", "flat")
        found = [
            float(row["seconds"])
            for row in csv.DictReader(file)
            if (row["machine"], row["kernel"], row["placement"]) == kernel
        ]
    longest = -(-(ranks - 1) // 4)
    assert found == [pytest.approx((4 + longest - 1) * LONG_MESSAGE, rel=0.01)]


def first_of(count: int, parts: int, index: int) -> int:
    """The first of `count` rows in a part."""
    return count * index // parts


def owner_of(count: int, parts: int, row: int) -> int:
    """The part that has a row."""
    return next(part for part in range(parts) if row < first_of(count, parts, part + 1))


def least_time_of_summa(rows_of_grid: int, columns: int, width: int) -> float:
    """128 x 128 in panels of 8 by linear broadcasts; no link is shared, nodes have `width` ranks.

    A send and a receive take 0.3 us each; a message 0.5 us and 5 GB/s inside a node, 2 us and 10 GB/s between nodes.
    """
    clock = [0.0] * (rows_of_grid * columns)
    panel = 0
    while panel < 128:
        owners = owner_of(128, columns, panel), owner_of(128, rows_of_grid, panel)
        ends = first_of(128, columns, owners[0] + 1), first_of(128, rows_of_grid, owners[1] + 1)
        count = min(8, *(end - panel for end in ends))
        lines = [([columns * r + c for c in range(columns)], owners[0], r, rows_of_grid) for r in range(rows_of_grid)]
        lines += [([columns * r + c for r in range(rows_of_grid)], owners[1], c, columns) for c in range(columns)]
        for line, owner, index, parts in lines:
            size = 8 * count * (first_of(128, parts, index + 1) - first_of(128, parts, index)) + 16
            root = line[owner]
            for rank in line[:owner] + line[owner + 1 :]:
                clock[root] += 3e-7
                inside = rank // width == root // width
                arrival = clock[root] + (5e-7 + size / 5e9 if inside else 2e-6 + size / 10e9)
                clock[rank] = max(clock[rank], arrival) + 3e-7
        panel += count
    return max(clock)


@pytest.mark.parametrize(
    ("machine", "grid", "width"), [("ntw10e5", (15, 16), 24), ("smp20e7", (10, 16), 160), ("smp12e5", (8, 12), 96)]
)
def test_summa_takes_what_its_linear_broadcasts_take(machine: str, grid: tuple[int, int], width: int) -> None:
    """hsplit-2018, Figures 11 to 13: at least the time without shared links, which add up to 60 %."""
    found = cells("summa linear.128", grid[0] * grid[1], "seconds", machine)
    least = least_time_of_summa(*grid, width)
    assert least < found["simple"] < 1.6 * least
    # Each form's broadcasts by a tree have fewer steps one after the other than linear ones along whole lines.
    assert cells("summa.128", grid[0] * grid[1], "seconds", machine)["simple"] < found["simple"]


def time_of_gathers(parts: tuple[int, ...], nodes: int) -> float:
    """hsplit-2018, Algorithm 5 by linear gathers of 1,024 doubles; parts of consecutive ranks, dealt to nodes in turn.

    On a level, all messages into the busiest node share its link, as those of one root inside a node.
    """
    ranks, stride, total = nodes * 24, 1, 0.0
    for count in reversed(parts):
        into = [0] * nodes
        for root in range(0, ranks, stride * count):
            others = [root + i * stride for i in range(1, count)]
            into[root % nodes] += sum(rank % nodes != root % nodes for rank in others)
        across = max(into)
        size = 8 * 1024 + 16
        total += 2.5e-6 + across * size / 10e9 if across else 5e-7 + (count - 1) * size / 5e9
        total += (count - 1) * 2 * 3e-7  # a send and a receive each
        stride *= count
    return total


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("H_conf1", (3, 4, 2, 3, 8)),
        ("H_conf2", (6, 2, 2, 3, 8)),
        ("H_conf3", (3, 2, 2, 8, 6)),
        ("H_conf4", (3, 2, 4, 6, 4)),
    ],
)
def test_manual_hierarchies_gather_over_the_links_of_a_few_nodes(name: str, parts: tuple[int, ...]) -> None:
    """hsplit-2018, Figure 14, ranks dealt to 24 nodes in turn."""
    found = cells("vectors over nodes.1K", 576, "seconds", "ntw24e5")[name]
    assert found == pytest.approx(time_of_gathers(parts, 24), rel=0.06)


@pytest.mark.parametrize("kernel", ["vectors.1K", "vectors over nodes.1K"])
def test_the_machines_hierarchy_gathers_once_on_each_level(kernel: str) -> None:
    """hsplit-2018, Figure 14: the levels of §7.4, whatever the order of the ranks."""
    size = 8 * 1024 + 16
    inside, nodes, switches = (6, 2, 2), 12, 4
    time = sum(5e-7 + (count - 1) * (size / 5e9 + 6e-7) for count in inside)
    time += 2e-6 + (nodes - 1) * (size / 10e9 + 6e-7) + 2.5e-6 + (switches - 1) * (size / 10e9 + 6e-7)
    assert cells(kernel, 576, "seconds", "ntw24e5")["H_topo"] == pytest.approx(time, rel=0.05)


def test_binary_trees_of_a_line_are_as_deep_with_levels_as_without() -> None:
    """hsplit-2018, Figures 11 to 13: levels gain less than 10 %, and the linear algorithm is slower."""
    for machine, ranks in (("ntw10e5", 240), ("smp20e7", 160), ("smp12e5", 96)):
        found = cells("summa binary.128", ranks, "seconds", machine)
        assert found["simple"] == pytest.approx(found["topology"], rel=0.1)
        assert found["simple"] < cells("summa linear.128", ranks, "seconds", machine)["simple"]
