#!/usr/bin/env python3
"""Draws docs/images/{pipeline,heat-maps,machine-tree}.svg: PYTHONPATH=build/dev/python pictures.py

The heat maps and the tree show LAMMPS' Lennard-Jones benchmark on 16 ranks, traced (docs/images/lammps-lj.csv), on 4
nodes of 4 cores: ranks dealt round robin to the nodes, and Ranktree's plan.
"""

import csv
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import ranktree

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"
NODES, CORES = 4, 4
RANKS = NODES * CORES
FONT = 'font-family="Helvetica, Arial, sans-serif"'
BLUE, GREY, LINE, DARK = "#1f5fa8", "#f2f5f9", "#9aa7b5", "#1c2733"
NODE_COLOURS = ("#cfe3f7", "#fbe0c3", "#d5eecf", "#ead8f3")
STEPS = (
    ("trace", "run the program once,", "record who talks to whom", "app.npz"),
    ("map", "place the ranks on the", "tree of the machine", "plan.json"),
    ("emit or run", "the launcher's own files:", "rankfile, hostfile, wrapper", "rankfile"),
    ("rerun", "unchanged program,", "less traffic between nodes", ""),
)


def svg(width: int, height: int, title: str, parts: Sequence[str]) -> str:
    """A picture on a white ground."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    ground = f'<rect width="{width}" height="{height}" fill="white"/>'
    return "\n".join([f'{head} role="img">', f"<title>{title}</title>", ground, *parts, "</svg>\n"])


def text(x: float, y: float, words: str, size: int = 13, **settings: str) -> str:
    """Words, by default dark and centred."""
    colour, anchor, weight = (
        settings.get(k, d) for k, d in (("fill", DARK), ("anchor", "middle"), ("weight", "normal"))
    )
    place = f'x="{x:g}" y="{y:g}" font-size="{size}" fill="{colour}" text-anchor="{anchor}" font-weight="{weight}"'
    return f"<text {place} {FONT}>{words}</text>"


def box(x: float, y: float, width: float, height: float, fill: str, stroke: str = "none") -> str:
    """A rectangle."""
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{fill}" stroke="{stroke}"/>'


def line(x: float, y: float, to_x: float, to_y: float, colour: str = LINE) -> str:
    """A line."""
    return f'<path d="M{x:g} {y:g}L{to_x:g} {to_y:g}" stroke="{colour}" stroke-width="1.5" fill="none"/>'


def pipeline() -> str:
    """Four boxes, with the file that each passes on."""
    parts = []
    for step, (name, first, second, file) in enumerate(STEPS):
        x = 10 + 220 * step
        parts += [box(x, 30, 170, 84, GREY, BLUE), text(x + 85, 54, name, 16, fill=BLUE, weight="bold")]
        parts += [text(x + 85, 78, first, 12), text(x + 85, 96, second, 12)]
        if file:
            arrow = f'<path d="M{x + 174:g} 72h38m-8 -6l8 6l-8 6" stroke="{DARK}" stroke-width="1.5" fill="none"/>'
            parts += [arrow, text(x + 195, 132, file, 12)]
    parts += [text(195 + 220, 20, "machine: hwloc, Slurm, a JSON file", 12), line(360, 24, 330, 30)]
    parts.append(
        text(
            10,
            158,
            "`ranktree optimize` does all of it, measures before and after, and reports a verdict.".replace("`", ""),
            12,
            anchor="start",
        )
    )
    return svg(850, 170, "trace, map, emit or run, rerun", parts)


def traffic() -> np.ndarray:
    """Bytes from rank to rank, of both directions."""
    matrix = np.zeros((RANKS, RANKS))
    with (IMAGES / "lammps-lj.csv").open(encoding="utf-8") as lines:
        for row in csv.DictReader(each for each in lines if not each.startswith("#")):
            if row["src"].isdigit():
                matrix[int(row["src"]), int(row["dst"])] += float(row["bytes"])
    return matrix + matrix.T


def between_nodes(matrix: np.ndarray, slot_of: Sequence[int]) -> float:
    """Bytes whose ends are on two nodes, each direction once."""
    node = np.asarray(slot_of) // CORES
    return float(matrix[node[:, None] != node[None, :]].sum() / 2)


def heat_map(x: float, y: float, matrix: np.ndarray, slot_of: Sequence[int], title: str) -> Iterator[str]:
    """Slots by slots: darker is more; the frames are nodes."""
    cell, most = 17, matrix.max()
    rank_at = np.argsort(slot_of)
    yield text(x + 8 * cell, y - 26, title, 15, weight="bold")
    inside = f"{between_nodes(matrix, slot_of) / 1e6:.1f} MB between nodes"
    yield text(x + 8 * cell, y - 9, inside, 13)
    yield box(x, y, 16 * cell, 16 * cell, GREY)
    for row, column in np.argwhere(matrix[np.ix_(rank_at, rank_at)] > 0):
        share = math.sqrt(matrix[rank_at[row], rank_at[column]] / most)
        crosses = row // CORES != column // CORES
        colour = "200,60,20" if crosses else "31,95,168"
        yield box(x + column * cell, y + row * cell, cell, cell, f"rgba({colour},{0.15 + 0.85 * share:.2f})")
    for node in range(NODES):
        yield box(x + node * 4 * cell, y + node * 4 * cell, 4 * cell, 4 * cell, "none", DARK)
        yield text(x + (node * 4 + 2) * cell, y + 16 * cell + 15, f"node {node}", 11)


def heat_maps(matrix: np.ndarray, orders: dict[str, Sequence[int]]) -> str:
    """Before and after, side by side."""
    parts = []
    for number, (name, slot_of) in enumerate(orders.items()):
        parts += heat_map(20 + 330 * number, 60, matrix, slot_of, name)
    legend = "A cell is the traffic of two ranks, in the order of their cores. Blue: within a node; red: between nodes."
    return svg(642, 386, "traffic of LAMMPS by core, round robin and by the plan", [*parts, text(321, 374, legend, 12)])


def tree(orders: dict[str, Sequence[int]]) -> str:
    """The machine, and below each core the rank that it runs."""
    parts = [box(330, 12, 140, 28, GREY, BLUE), text(400, 31, "Cluster")]
    rank_at = {name: np.argsort(slot_of) for name, slot_of in orders.items()}
    for node in range(NODES):
        x = 40 + node * 190
        parts += [line(400, 40, x + 75, 72), box(x + 15, 72, 120, 28, NODE_COLOURS[node], BLUE)]
        parts.append(text(x + 75, 91, f"Node {node}"))
        for core in range(CORES):
            centre = x + 12 + core * 42
            parts += [
                line(x + 75, 100, centre, 126),
                box(centre - 17, 126, 34, 26, GREY, LINE),
                text(centre, 143, "Core", 11),
            ]
            for number, ranks in enumerate(rank_at.values()):
                rank = int(ranks[node * CORES + core])
                fill = NODE_COLOURS[rank // CORES]
                parts += [
                    box(centre - 17, 176 + 50 * number, 34, 24, fill),
                    text(centre, 193 + 50 * number, str(rank), 12),
                ]
    for number, name in enumerate(orders):
        parts.append(text(35, 170 + 50 * number, name, 12, anchor="start", weight="bold"))
    parts.append(text(400, 268, "Numbers are ranks; equal colours: ranks that exchange the most (4k to 4k + 3).", 12))
    return svg(800, 280, "the machine's tree with the rank of each core", parts)


def main() -> None:
    """Writes the three files."""
    matrix = traffic()
    plan = ranktree.place(matrix, f"node:{NODES} core:{CORES}")
    robin = [rank % NODES * CORES + rank // NODES for rank in range(RANKS)]
    orders = {"ranks round robin": robin, "ranks by the plan": list(plan.permutation)}
    pictures = {"pipeline": pipeline(), "heat-maps": heat_maps(matrix, orders), "machine-tree": tree(orders)}
    for name, picture in pictures.items():
        (IMAGES / f"{name}.svg").write_text(picture, encoding="utf-8")
    for name, slot_of in orders.items():
        print(f"{name}: {between_nodes(matrix, slot_of):,.0f} bytes between nodes")


if __name__ == "__main__":
    main()
