"""Lines over two logarithmic axes as one SVG picture that needs nothing else."""

import math
from collections.abc import Callable, Mapping, Sequence
from html import escape

WIDTH, HEIGHT = 900, 520
LEFT, RIGHT, TOP, BOTTOM = 80, 270, 40, 60
COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb", "#000000")
FONT = 'font-family="sans-serif" font-size="12"'
DASHES = ("", "7 4", "2 3")

Line = Sequence[tuple[float, float]]


def svg(title: str, lines: Mapping[str, Line], x_text: Callable[[float], str], y_text: Callable[[float], str]) -> str:
    """Each line by its name; numbers above 0. Marks on the axes are powers of 4 and of 10."""
    points = [point for line in lines.values() for point in line]
    if not points:
        raise ValueError("plot: expected at least one point, found none")
    x_place = scale([x for x, _ in points], LEFT, WIDTH - RIGHT)
    y_place = scale([y for _, y in points], HEIGHT - BOTTOM, TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" {FONT}>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="24" font-size="15">{escape(title)}</text>',
    ]
    parts += grid([x for x, _ in points], 4, lambda x: mark(x_place(x), x_text(x), upright=True))
    parts += grid([y for _, y in points], 10, lambda y: mark(y_place(y), y_text(y), upright=False))
    for number, (name, line) in enumerate(lines.items()):
        parts += drawn(number, name, [(x_place(x), y_place(y)) for x, y in line])
    return "\n".join([*parts, "</svg>", ""])


def page(title: str, picture: str) -> str:
    """The picture as a web page."""
    head = f'<meta charset="utf-8"><title>{escape(title)}</title>'
    return f"<!DOCTYPE html>\n<html><head>{head}</head><body>\n{picture}</body></html>\n"


def scale(values: Sequence[float], begin: float, end: float) -> Callable[[float], float]:
    """From a value to its place."""
    low, high = math.log(min(values)), math.log(max(values))
    span = high - low or 1.0
    return lambda value: begin + (math.log(value) - low) / span * (end - begin)


def grid(values: Sequence[float], base: int, draw: Callable[[float], str]) -> list[str]:
    """A mark for each power of the base within the values."""
    first = math.ceil(math.log(min(values), base) - 1e-9)
    last = math.floor(math.log(max(values), base) + 1e-9)
    return [draw(float(base) ** power) for power in range(first, last + 1)]


def mark(place: float, text: str, upright: bool) -> str:
    """A thin line across the picture and its text."""
    if upright:
        line = f'x1="{place:.1f}" x2="{place:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"'
        label = f'x="{place:.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle"'
    else:
        line = f'y1="{place:.1f}" y2="{place:.1f}" x1="{LEFT}" x2="{WIDTH - RIGHT}"'
        label = f'x="{LEFT - 8}" y="{place + 4:.1f}" text-anchor="end"'
    return f'<line {line} stroke="#dddddd"/><text {label}>{escape(text)}</text>'


def drawn(number: int, name: str, places: Line) -> list[str]:
    """A line, and its name at the right."""
    colour = COLOURS[number % len(COLOURS)]
    dash = DASHES[number // len(COLOURS) % len(DASHES)]
    style = f'stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"'
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    height = TOP + 10 + 20 * number
    legend = WIDTH - RIGHT + 15
    return [
        f'<polyline points="{path}" fill="none" {style}/>',
        f'<line x1="{legend}" x2="{legend + 25}" y1="{height}" y2="{height}" {style}/>',
        f'<text x="{legend + 32}" y="{height + 4}">{escape(name)}</text>',
    ]
