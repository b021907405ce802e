#!/usr/bin/env python3
"""Reads results.csv: prints which limits are missed, and the tables of docs/benchmarks/placement.md.

report.py [--csv results.csv] [--limits] [--tables]

Prints the limits that are missed (with --limits, or without --tables) and the tables (with --tables). Exit code 1: a
limit is missed; the rest is printed all the same.

Results of programs that no registry has were recorded before (recorded.csv); they count where the instance is the
same: ranks, pairs, sum of weights and the cost of the identity.
"""

import argparse
import csv
import math
import statistics
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from run import COSTS, HERE, PRESETS, Row, load

LIMITS = {"strong": 1.01, "default": 1.03}  # cost over the best of all peers, over the best of all
SECONDS = {4096: {"default": 0.06, "strong": 0.3}, 32768: {"default": 0.5, "strong": 3}}
DENSE_SECONDS = {2048: 0.1, 16384: 4}
SHORTEST = 0.01  # seconds: the clock of a process may stand still for some milliseconds
NOT_PEERS = (*PRESETS, "identity")
SIZES = {"up to 4,096 ranks": 4096, "8,640 to 16,384": 16384, "32,768": 32768, "more": 2**31}
Table = dict[tuple[str, str], dict[str, Row]]


def table_of(rows: Sequence[Row], recorded: Sequence[dict[str, str]]) -> Table:
    """By instance and costs: the row of each method."""
    table: Table = {}
    for row in rows:
        table.setdefault((row.instance, row.costs), {})[row.method] = row
    for each in recorded:
        own = table.get((each["instance"], COSTS[0]), {}).get("identity")
        if own is None or not same_instance(own, each):
            continue
        for costs in COSTS:
            if (each["instance"], costs) in table:
                table[each["instance"], costs][each["method"]] = recorded_row(own, each, costs)
    return table


def same_instance(own: Row, each: dict[str, str]) -> bool:
    """Whether a recorded result is of our instance."""
    about = (int(each["ranks"]), int(each["arcs"]), int(each["weight_sum"]), float(each["identity_cost"]))
    return about == (own.ranks, own.arcs, own.weight_sum, own.cost)


def recorded_row(own: Row, each: dict[str, str], costs: str) -> Row:
    """In our form."""
    text = each["cost_" + costs.replace(":", "_")]
    cost = float(text) if text else None
    seconds = float(each["cpu_seconds"]) if each["cpu_seconds"] else None
    about = (own.instance, own.kind, own.ranks, own.arcs, own.weight_sum, own.tree, costs, each["method"])
    return Row(*about, int(each["runs"]), cost, cost, cost, seconds, None, each["status"])


def read_recorded(path: Path = HERE / "recorded.csv") -> list[dict[str, str]]:
    """As they stand in the file."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def best(methods: dict[str, Row], peers_only: bool) -> float | None:
    """The lowest median cost; None where there is none."""
    costs = [
        row.cost for name, row in methods.items() if not (peers_only and name in NOT_PEERS) and row.cost is not None
    ]
    return min(costs, default=None)


def ratio(cost: float | None, reference: float | None) -> float | None:
    """Cost over a reference; nothing to exchange is 1."""
    if cost is None or reference is None:
        return None
    return cost / reference if reference > 0 else (1.0 if cost == 0 else math.inf)


def geometric_mean(values: Sequence[float]) -> float:
    """Of none, not a number."""
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def profile(ratios: Sequence[float | None]) -> list[tuple[float, float]]:
    """Performance profile (E. D. Dolan, J. J. More, 2002): factor, share of instances solved within that factor.

    None: no valid answer, so within no factor. Ascending; each factor once, with the highest share.
    """
    found = sorted(each for each in ratios if each is not None)
    return [(each, (i + 1) / len(ratios)) for i, each in enumerate(found) if i + 1 == len(found) or found[i + 1] > each]


def missed(table: Table) -> Iterator[str]:
    """A line for each limit that is missed."""
    for (name, costs), methods in table.items():
        for preset, limit in LIMITS.items():
            reference = best(methods, peers_only=preset == "strong")
            found = ratio(methods[preset].cost, reference) if preset in methods else None
            if found is not None and found > limit:
                first = min((row.cost, method) for method, row in methods.items() if row.cost is not None)[1]
                yield f"{preset} cost: {name} {costs}: {found:.4f} x the best, at most {limit} (cheapest: {first})"
        yield from missed_seconds(name, costs, methods)
        yield from missed_by_fast(name, costs, methods)


def missed_seconds(name: str, costs: str, methods: dict[str, Row]) -> Iterator[str]:
    """Of sparse and dense instances."""
    dense = any(row.kind == "dense" for row in methods.values())
    for preset in PRESETS:
        row = methods.get(preset)
        if row is None or row.cpu_seconds is None:
            continue
        limit = DENSE_SECONDS.get(row.ranks) if dense else SECONDS.get(row.ranks, {}).get(preset)
        if limit is not None and row.cpu_seconds > limit:
            yield f"{preset} seconds: {name} {costs}: {row.cpu_seconds:.3f}, at most {limit}"


def missed_by_fast(name: str, costs: str, methods: dict[str, Row]) -> Iterator[str]:
    """METIS's cost in half its time."""
    fast, metis = methods.get("fast"), methods.get("metis")
    if fast is None or metis is None or fast.cost is None or metis.cost is None:
        return
    if fast.cost > metis.cost * (1 + 1e-9):
        yield f"fast cost: {name} {costs}: {fast.cost / metis.cost:.4f} x METIS's"
    if fast.cpu_seconds > metis.cpu_seconds / 2 and fast.cpu_seconds > SHORTEST:
        yield f"fast seconds: {name} {costs}: {fast.cpu_seconds:.4f}, METIS {metis.cpu_seconds:.4f}"


def methods_of(table: Table) -> list[str]:
    """In the order in which they appear: ours, then the peers."""
    return list(dict.fromkeys(method for methods in table.values() for method in methods))


def cells(group: list[dict[str, Row]], method: str, peers_only: bool = False) -> tuple[list[float], int]:
    """Ratios to the best where there is a cost, and how often there is none."""
    rows = [(methods[method], best(methods, peers_only)) for methods in group if method in methods]
    found = [ratio(row.cost, reference) for row, reference in rows]
    return [each for each in found if each is not None], sum(each is None for each in found)


def summary(table: Table) -> Iterator[str]:
    """One row for each method: all instances together, with both sets of costs; recorded ones have fewer."""
    heads = ("placed by", "results", "no valid answer", "cost / best: mean", "worst", "within 1 %")
    yield f"| {' | '.join((*heads, 'cost / that of strong: mean', 'lowest'))} |"
    yield "|---" * 8 + "|"
    for method in methods_of(table):
        found, without = cells(list(table.values()), method)
        if not found:
            yield f"| {method} | {without} | {without} | | | | | |"
            continue
        pairs = [(rows.get(method), rows.get("strong")) for rows in table.values()]
        beside = [ratio(row.cost, strong.cost) for row, strong in pairs if row and strong and row.cost is not None]
        share = sum(each <= 1.01 for each in found) / (len(found) + without)
        about = f"{geometric_mean(found):.3f} | {max(found):.3f} | {100 * share:.0f} %"
        about += f" | {geometric_mean(beside):.3f} | {min(beside, default=math.nan):.3f}"
        yield f"| {method} | {len(found) + without} | {without or ''} | {about} |"


def by_kind(table: Table, methods: Sequence[str]) -> Iterator[str]:
    """Geometric means of cost over the best / CPU seconds for each kind and size."""
    yield "| kind, ranks | instances | " + " | ".join(methods) + " |"
    yield "|---" * (len(methods) + 2) + "|"
    groups: dict[tuple[int, str], list[dict[str, Row]]] = {}
    for rows in table.values():
        about = next(iter(rows.values()))
        groups.setdefault((size_class(about), about.kind), []).append(rows)
    for (size, kind), group in sorted(groups.items()):
        line = [f"{kind}, {list(SIZES)[size]}", str(len({next(iter(rows.values())).instance for rows in group}))]
        for method in methods:
            found, without = cells(group, method)
            solved = [rows[method] for rows in group if method in rows and rows[method].cost is not None]
            seconds = [max(row.cpu_seconds, SHORTEST / 10) for row in solved]
            text = f"{geometric_mean(found):.3f} / {clock(geometric_mean(seconds))}" if found else "-"
            line.append(text + (f" ({without} none)" if without and found else ""))
        yield "| " + " | ".join(line) + " |"


def clock(seconds: float) -> str:
    """No more digits than the clock has."""
    return f"{seconds:.2f}" if seconds >= SHORTEST else f"< {SHORTEST}"


def one_by_one(table: Table, methods: Sequence[str]) -> Iterator[str]:
    """Cost over the best / CPU seconds of each large instance, costs that grow tenfold."""
    yield "| instance | " + " | ".join(methods) + " | MB |"
    yield "|---" * (len(methods) + 2) + "|"
    for (name, costs), rows in table.items():
        about = next(iter(rows.values()))
        if costs != COSTS[0] or about.ranks < (2048 if about.kind == "dense" else 32768):
            continue
        line = [name]
        for method in methods:
            row = rows.get(method)
            found = None if row is None else ratio(row.cost, best(rows, peers_only=False))
            missing = "" if row is None else row.status.split(":")[0]
            line.append(missing if found is None else f"{found:.3f} / {row.cpu_seconds:.2f}")
        memory = max((rows[preset].peak_mb or 0 for preset in PRESETS if preset in rows), default=0)
        yield f"| {' | '.join(line)} | {memory:,} |"


def renumbered(path: Path) -> Iterator[str]:
    """How far random renumberings move the cost, a line for each preset."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    yield "| preset | instances | spread below 1 % | median | largest spread |"
    yield "|---|---|---|---|---|"
    for preset in PRESETS:
        spreads = {row["instance"]: float(row["spread_percent"]) for row in rows if row["preset"] == preset}
        worst = max(spreads, key=spreads.get)
        held = sum(spread < 1 for spread in spreads.values())
        middle = statistics.median(spreads.values())
        yield f"| {preset} | {len(spreads)} | {held} | {middle:.2f} % | {spreads[worst]:.2f} % ({worst}) |"


def threaded(path: Path) -> Iterator[str]:
    """Seconds by the clock on one thread, and how many times faster more are, a line for each instance."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    yield "| instance | " + " | ".join(PRESETS) + " |"
    yield "|---" * (len(PRESETS) + 1) + "|"
    for name in dict.fromkeys(row["instance"] for row in rows):
        mine = {row["preset"]: row for row in rows if row["instance"] == name}
        line = [f"{float(mine[each]['seconds_one']):.2f} s, {float(mine[each]['speed_up']):.2f}" for each in PRESETS]
        line = [
            text + (" other!" if mine[each]["same"] != "True" else "") for text, each in zip(line, PRESETS, strict=True)
        ]
        yield f"| {name} | {' | '.join(line)} |"


def size_class(row: Row) -> int:
    """Which of SIZES."""
    return next(i for i, limit in enumerate(SIZES.values()) if row.ranks <= limit)


def main() -> int:
    """Prints what the options select; 1 where a limit is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--csv", type=Path, nargs="+", default=[HERE / "results.csv"])
    parser.add_argument(
        "--limits", action="store_true", help="the limits that are missed, a line each; exit code 1 if any is"
    )
    parser.add_argument("--tables", action="store_true", help="the tables, in Markdown")
    arguments = parser.parse_args()
    table = table_of([row for path in arguments.csv for row in load(path)], read_recorded())
    misses = list(missed(table)) if arguments.limits or not arguments.tables else []
    for line in misses:
        print(line)
    if arguments.tables:
        methods = (*PRESETS, "metis", "scotch-quality", "sharedmap-eco")
        large = (*PRESETS, "metis", "scotch-quality", "treematch")
        real = {key: rows for key, rows in table.items() if key[0].startswith("real-")}
        made = {key: rows for key, rows in table.items() if key not in real}
        for lines in (summary(made), summary(real), by_kind(table, methods), one_by_one(table, large)):
            print(*lines, "", sep="\n")
        for name, lines in (("relabel.csv", renumbered), ("threads.csv", threaded)):
            if arguments.csv[0].with_name(name).exists():
                print(*lines(arguments.csv[0].with_name(name)), "", sep="\n")
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
