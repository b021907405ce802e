"""The demo's picture: traffic by core as text for a terminal, and the report page of the fastest plan."""

import math
import sys
from collections.abc import Sequence

SHADES = " \u2591\u2592\u2593\u2588"
ASCII = " .:*#"


def shades() -> str:
    """Block characters where the terminal's encoding has them."""
    try:
        SHADES.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return ASCII
    return SHADES


def heat_map(pairs: Sequence[tuple[int, int, float]], hosts: Sequence[str]) -> list[str]:
    """One line for each rank in the order of the nodes, a cell for each partner; lines divide the nodes."""
    order = sorted(range(len(hosts)), key=lambda rank: (hosts[rank], rank))
    place = {rank: position for position, rank in enumerate(order)}
    cells = [[0.0] * len(hosts) for _ in hosts]
    for first, second, amount in pairs:
        cells[place[first]][place[second]] += amount
        cells[place[second]][place[first]] += amount
    most = max(max(row) for row in cells) or 1.0
    new_node = [position > 0 and hosts[rank] != hosts[order[position - 1]] for position, rank in enumerate(order)]
    lines = []
    for position, row in enumerate(cells):
        if new_node[position]:
            lines.append("-" * (2 * len(row) + sum(new_node)))
        shown = ["|" * new_node[column] + 2 * shade(value / most) for column, value in enumerate(row)]
        lines.append("".join(shown))
    return lines


def shade(share: float) -> str:
    """Darker for more, by the square root: small amounts stay visible."""
    steps = shades()
    return steps[math.ceil(math.sqrt(share) * (len(steps) - 1))]


def side_by_side(titles: tuple[str, str], left: Sequence[str], right: Sequence[str]) -> list[str]:
    """Two pictures with their titles."""
    width = max(map(len, left))
    lines = [f"{titles[0]:<{width}}    {titles[1]}"]
    return lines + [f"{one:<{width}}    {other}".rstrip() for one, other in zip(left, right, strict=True)]
