#!/usr/bin/env python3
"""Writes docs/gallery.md and its pictures: a row an application, from patterns/*.csv and results.csv.

gallery.py --build BUILD [--check]        --check writes nothing, and fails where a committed file differs
"""

import csv
import json
import statistics
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
from application import HERE
from calls import PATTERNS
from report import RESULTS, times_packed

sys.path.append(str(HERE.parents[1] / "tools"))
from generated_files import parser_of, write_or_compare  # noqa: E402

DOCS = HERE.parents[1] / "docs"
MACHINE = "node:4 core:4"
CELL, SHADES = 5, 4
HEAD = """# Gallery of unchanged applications

Each application runs unchanged from its package or source; its traffic is traced once. In a picture, row and column
are ranks and darker is more bytes; collective calls count as Open MPI's messages. `ranktree report` gives the verdict
for ranks packed on 4 nodes of 4 cores, by the modelled time with [usual links](explanation/models.md#usual-links).
The last columns are bytes counted on the wire of such an [emulated cluster](how-to/emulate-a-cluster.md): ranks
packed, round robin, and round robin with `--reorder`; and the time of a whole run by the plan of `map --objective
time`, packed = 1, with its 95 % interval from five rounds on.

    bench/applications/gallery.py --build build/dev

[Runs, reference values and tolerances](benchmarks/applications.md); worked examples: [CP2K](how-to/speed-up-cp2k.md),
[ABINIT](how-to/speed-up-abinit.md), [LAMMPS](how-to/speed-up-lammps.md),
[Quantum ESPRESSO](how-to/speed-up-quantum-espresso.md), [ScaLAPACK](how-to/speed-up-scalapack.md).

| application | ranks | traffic | verdict for packed ranks | right runs | MB packed | MB round robin | MB reordered \
| time by the plan |
|---|---|---|---|---|---|---|---|---|
"""


def picture(ranks: int, heat: Any, title: str) -> str:
    """An SVG of the matrix: a path for each shade, on a logarithmic scale of three decades."""
    from ranktree.report.arrays import unpacked  # noqa: PLC0415

    cells = heat["maps"][0]
    starts, columns, sizes = (unpacked(cells[name]) for name in ("starts", "columns", "bytes"))
    rows = np.repeat(np.arange(ranks), np.diff(starts))
    most = max(sizes.max(initial=0), 1.0)
    shade = np.clip(SHADES + np.floor(SHADES / 3 * np.log10(np.maximum(sizes, 1e-3) / most)), 0, SHADES - 1)
    side = ranks * CELL
    parts = [f'<rect width="{side}" height="{side}" fill="#f2f5f9"/>']
    for step in range(SHADES):
        chosen = zip(rows[shade == step], columns[shade == step], strict=True)
        squares = "".join(f"M{column * CELL} {row * CELL}h{CELL}v{CELL}h-{CELL}z" for row, column in chosen)
        if squares:
            parts.append(f'<path fill="#1f5fa8" fill-opacity="{(step + 1) / SHADES:g}" d="{squares}"/>')
    size = f'viewBox="0 0 {side} {side}" width="{side}" height="{side}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">'
    return "\n".join([head, f"<title>{title}</title>", *parts, "</svg>\n"])


def megabytes(rows: list[dict[str, str]], variant: str) -> str:
    """The median of the counted runs, or nothing."""
    counted = [int(row["bytes"]) for row in rows if row["variant"] == variant and row["bytes"]]
    return f"{statistics.median(counted) / 1e6:.1f}" if counted else ""


def row_of(name: str, report: Any, rows: list[dict[str, str]]) -> str:
    """A line of the table."""
    on_cluster = [row for row in rows if row["machine"] == "4x4"]
    right = f"{sum(row['right'] == 'True' for row in rows)} of {len(rows)}"
    traffic = [megabytes(on_cluster, variant) for variant in ("packed", "round robin", "reordered round robin")]
    image = f"![traffic of {name}](gallery/{name}.svg)"
    packed, planned = ([row for row in on_cluster if row["variant"] == variant] for variant in ("packed", "plan"))
    time = times_packed(packed, planned)
    cells = (name, report["program"]["ranks"], image, report["verdict"]["sentence"], right, *traffic, time)
    return "| " + " | ".join(map(str, cells)) + " |"


def files(build: Path) -> dict[Path, str]:
    """All that is generated."""
    with RESULTS.open(encoding="utf-8") as lines:
        results = list(csv.DictReader(lines))
    found, table = {}, []
    for pattern in sorted(PATTERNS.glob("*.csv")):
        name = pattern.stem
        words = [build / "bin/ranktree", "report", pattern, "--machine", MACHINE, "--json"]
        report = json.loads(subprocess.run(words, capture_output=True, text=True, timeout=60, check=True).stdout)
        with (HERE / name / "application.toml").open("rb") as file:
            package = tomllib.load(file).get("package", "")
        title = f"traffic of {name}" + (f" ({package})" if package else "")
        found[DOCS / "gallery" / f"{name}.svg"] = picture(report["program"]["ranks"], report["heat_map"], title)
        table.append(row_of(name, report, [row for row in results if row["application"] == name]))
    return found | {DOCS / "gallery.md": HEAD + "\n".join(table) + "\n"}


def main() -> int:
    """Writes or compares the files."""
    parser = parser_of(__doc__)
    parser.add_argument("--build", type=Path, required=True)
    options = parser.parse_args()
    sys.path.insert(0, str(options.build / "python"))
    return write_or_compare(files(options.build), options.check, "bench/applications/gallery.py")


if __name__ == "__main__":
    sys.exit(main())
