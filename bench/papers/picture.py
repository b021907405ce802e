"""Lines over two logarithmic axes with marks at powers of two."""

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path

# By its path: the package around it needs the compiled extension.
SOURCE = Path(__file__).resolve().parents[2] / "python" / "ranktree" / "line_plot.py"
specification = importlib.util.spec_from_file_location("ranktree_line_plot", SOURCE)
assert specification is not None
assert specification.loader is not None
plot = importlib.util.module_from_spec(specification)
specification.loader.exec_module(plot)


def level_line(along: Sequence[float], y: float) -> list[tuple[float, float]]:
    """From the first to the last of some places."""
    return [(min(along), y), (max(along), y)]


def draw(title: str, lines: Mapping[str, list[tuple[float, float]]], x_text: Callable[[int], str]) -> str:
    """An SVG picture."""
    across = [x for line in lines.values() for x, _ in line]
    up = [y for line in lines.values() for _, y in line]
    x_place = plot.scale(across, plot.LEFT, plot.WIDTH - plot.RIGHT)
    y_place = plot.scale([*up, 1.0, 2.0], plot.HEIGHT - plot.BOTTOM, plot.TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {plot.WIDTH} {plot.HEIGHT}" {plot.FONT}>',
        f'<rect width="{plot.WIDTH}" height="{plot.HEIGHT}" fill="white"/>',
        f'<text x="{plot.LEFT}" y="24" font-size="15">{escape(title)}</text>',
    ]
    parts += plot.grid(across, 2, lambda x: plot.mark(x_place(x), x_text(int(x)), upright=True))
    parts += plot.grid([*up, 1.0, 2.0], 2, lambda y: plot.mark(y_place(y), f"{y:g}x", upright=False))
    for number, (name, line) in enumerate(lines.items()):
        parts += plot.drawn(number, name, [(x_place(x), y_place(y)) for x, y in line])
    return "\n".join([*parts, "</svg>", ""])
