#!/usr/bin/env python3
"""The two pictures of docs/benchmarks/placement.md, from results.csv: plot.py [--csv FILE] [--folder FOLDER].

place-scaling.svg: seconds, as in treematch-2013 Figure 8, and cost over the best, by the number of ranks, for dense
patterns and for sparse ones. place-profile.svg: the share of instances within a factor of the best.
"""

import argparse
from pathlib import Path

import matplotlib as mpl
from matplotlib import pyplot as plt
from report import HERE, PRESETS, Row, Table, best, load, profile, ratio, read_recorded, table_of
from run import COSTS

LINES = (*PRESETS, "metis", "scotch", "scotch-quality", "kahip-viem", "treematch", "sharedmap-eco")
NAMES = {
    "fast": "Ranktree fast",
    "default": "Ranktree default",
    "strong": "Ranktree strong",
    "metis": "METIS along the tree",
    "scotch": "Scotch",
    "scotch-quality": "Scotch, quality",
    "kahip-viem": "KaHIP VieM (recorded)",
    "treematch": "TreeMatch (recorded)",
    "sharedmap-eco": "SharedMap eco (recorded)",
}
COLOURS = dict(zip(LINES, mpl.color_sequences["tab10"], strict=False))
FAMILIES = {
    "dense-grid": "all pairs talk, neighbours in a 3D grid most",
    "grid3d": "only neighbours in a 3D grid talk",
}
SHORTEST = 1e-3  # seconds shown: the clock of a process may stand still for some milliseconds


def style(method: str) -> dict[str, object]:
    """Ours solid, peers dashed."""
    mine = method in PRESETS
    return {
        "color": COLOURS[method],
        "linestyle": "-" if mine else "--",
        "linewidth": 2 if mine else 1.2,
        "marker": ".",
    }


def by_ranks(table: Table, family: str, method: str) -> list[tuple[Row, float | None]]:
    """The rows of the instances family-N, with cost over the best; fewest ranks first."""
    rows = [
        (methods[method], ratio(methods[method].cost, best(methods, peers_only=False)))
        for (name, costs), methods in table.items()
        if costs == COSTS[0] and name.rpartition("-")[0] == family and method in methods
        if methods[method].kind != "spare places"
    ]
    return sorted((pair for pair in rows if pair[0].cpu_seconds is not None), key=lambda pair: pair[0].ranks)


def scaling(table: Table, path: Path) -> None:
    """Two columns of families; time above, cost below."""
    figure, axes = plt.subplots(2, 2, figsize=(10, 7), sharex="col")
    for column, (family, title) in enumerate(FAMILIES.items()):
        above, below = axes[0][column], axes[1][column]
        for method in LINES:
            points = by_ranks(table, family, method)
            seconds = [max(row.cpu_seconds, SHORTEST) for row, _ in points]
            above.plot([row.ranks for row, _ in points], seconds, label=NAMES[method], **style(method))
            failed = [(row.ranks, time) for (row, cost), time in zip(points, seconds, strict=True) if cost is None]
            above.plot(*zip(*failed, strict=True) if failed else ([], []), "x", color=COLOURS[method], markersize=9)
            solved = [(row.ranks, cost) for row, cost in points if cost is not None]
            below.plot(*zip(*solved, strict=True) if solved else ([], []), **style(method))
        above.set(title=title, yscale="log", ylabel="CPU seconds (x: not balanced)")
        below.set(xlabel="ranks", ylabel="cost / best", ylim=(0.98, 1.5))
        below.set_xscale("log", base=2)
        for panel in (above, below):
            panel.grid(alpha=0.3)
    axes[0][1].legend(fontsize="x-small", loc="upper left")
    finish(figure, path)


def profiles(table: Table, path: Path) -> None:
    """One panel for each set of costs."""
    figure, axes = plt.subplots(1, len(COSTS), figsize=(10, 4), sharey=True)
    for panel, costs in zip(axes, COSTS, strict=True):
        instances = [methods for (_, each), methods in table.items() if each == costs]
        for method in LINES:
            has = [methods for methods in instances if method in methods]
            ratios = [ratio(methods[method].cost, best(methods, peers_only=False)) for methods in has]
            steps = profile(ratios)
            if steps:
                factors, shares = zip(*steps, strict=True)
                label = f"{NAMES[method]}, {len(has)}"
                panel.step([1, *factors, 10], [0, *shares, shares[-1]], where="post", label=label, **unmarked(method))
        panel.set(title=f"costs {costs}", xlim=(1, 1.5), ylim=(0, 1.02), xlabel="factor of the best cost")
        panel.grid(alpha=0.3)
        panel.legend(fontsize="x-small", loc="lower right", title="instances", title_fontsize="x-small")
    axes[0].set_ylabel("share of instances within the factor")
    finish(figure, path)


def unmarked(method: str) -> dict[str, object]:
    """Lines alone."""
    return style(method) | {"marker": ""}


def finish(figure: plt.Figure, path: Path) -> None:
    """The same bytes for the same numbers."""
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def main() -> None:
    """Both pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--csv", type=Path, nargs="+", default=[HERE / "results.csv"])
    parser.add_argument("--folder", type=Path, default=HERE.parents[1] / "docs/benchmarks")
    arguments = parser.parse_args()
    plt.rcParams.update({"svg.hashsalt": "ranktree", "svg.fonttype": "none", "font.family": "sans-serif"})
    table = table_of([row for path in arguments.csv for row in load(path)], read_recorded())
    scaling(table, arguments.folder / "place-scaling.svg")
    profiles(table, arguments.folder / "place-profile.svg")


if __name__ == "__main__":
    main()
