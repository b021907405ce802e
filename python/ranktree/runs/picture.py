"""Runs as a picture: a dot a run, the median and its interval, a row a command."""

from html import escape
from typing import Any

from ranktree.model import digits_text

WIDTH, LEFT, RIGHT, ROW = 780, 190, 750, 48
RUN, MEDIAN, TEXT, AXIS = "#6b7280", "#0a6ab5", "#16191f", "#7c8592"


def svg(runs: dict[str, Any]) -> str:
    """The picture, which needs nothing else."""
    series, unit = runs["series"], runs["unit"]
    if not series:
        raise ValueError("plot: expected at least one series, found none")
    values = [value for each in series for value in [*each["values"], *each["interval"]]]
    low, high = min(values), max(values)
    span = high - low or 1.0
    bottom = 30 + ROW * len(series)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + 60}" font-family="sans-serif" '
        f'font-size="13" role="img"><title>{escape(title(runs))}</title>',
        f'<rect width="{WIDTH}" height="{bottom + 60}" fill="#ffffff"/>',
    ]
    for index, each in enumerate(series):
        parts += row(each, 30 + ROW * index, lambda value: LEFT + (value - low) / span * (RIGHT - LEFT))
    parts.append(f'<line x1="{LEFT}" x2="{RIGHT}" y1="{bottom}" y2="{bottom}" stroke="{AXIS}"/>')
    for place, value in ((LEFT, low), (RIGHT, high)):
        text = f"{digits_text(value, 4)} {escape(unit)}"
        parts.append(f'<text x="{place}" y="{bottom + 18}" text-anchor="middle" fill="{TEXT}">{text}</text>')
    parts.append(f'<text x="8" y="{bottom + 46}" fill="{TEXT}">{escape(title(runs))}</text>')
    return "\n".join([*parts, "</svg>", ""])


def title(runs: dict[str, Any]) -> str:
    """The comparison, else what was measured."""
    return str(runs["comparison"]["sentence"] if runs["comparison"] else runs["what"])


def row(each: dict[str, Any], y: int, place: Any) -> list[str]:
    """One series."""
    first, last = (place(value) for value in each["interval"])
    dots = [f'<circle cx="{place(v):.1f}" cy="{y}" r="5" fill="{RUN}" fill-opacity="0.55"/>' for v in each["values"]]
    return [
        f'<text x="8" y="{y + 5}" fill="{TEXT}">{escape(each["name"])}</text>',
        *dots,
        f'<line x1="{first:.1f}" x2="{last:.1f}" y1="{y + 15}" y2="{y + 15}" stroke="{MEDIAN}" stroke-width="4"/>',
        f'<circle cx="{place(each["median"]):.1f}" cy="{y + 15}" r="6" fill="{MEDIAN}"/>',
    ]
